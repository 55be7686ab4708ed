#include "tier/evaluate/evaluation_text.h"

#include <utility>

#include "base/core/nearest_double.h"
#include "base/json/value.h"

namespace berth::tier {
namespace {

using json::Value;

Value calibration_json(const std::vector<CalibrationBin>& bins) {
  Value::List list;
  list.reserve(bins.size());
  for (const CalibrationBin& bin : bins) {
    list.emplace_back(
        Value::Object{{"from", bin.from}, {"cases", bin.case_count}, {"stated", bin.stated}, {"kept", bin.kept}});
  }
  return list;
}

Value figures_json(const PolicyFigures& figures, int measurements_max) {
  return Value::Object{{"policy", figures.policy},
                       {"measure", measurements_max},
                       {"ratio_mean", nearest_double(figures.ratio_mean)},
                       {"ratio_p50", nearest_double(figures.ratio_p50)},
                       {"ratio_p95", nearest_double(figures.ratio_p95)},
                       {"missed", nearest_double(figures.missed)},
                       {"measurements_mean", nearest_double(figures.measurements_mean)},
                       {"calibration", calibration_json(figures.calibration)}};
}

Value target_json(TierKind kind, const TierTarget& target) {
  const double rate = nearest_double(target.per_second);
  if (kind == TierKind::kJobs) return rate;
  return Value::Object{{"requests_per_second", rate}, {"latency_ms", nearest_double(target.latency_ms)}};
}

std::string log_line(const TierTable& table, const TierCase& of, const CaseTruth& truth, const TestRun& run) {
  const TierWorkload& workload = table.workloads[of.workload];
  Value::List measured;
  measured.reserve(run.measured.size());
  for (const std::size_t tier : run.measured) measured.emplace_back(table.tiers[tier].name);
  return Value(Value::Object{{"group", workload.group},
                             {"workload", workload.name},
                             {"target", target_json(table.kind, of.target)},
                             {"anchor", table.tiers[truth.anchor].name},
                             {"measured", std::move(measured)},
                             {"chosen", table.tiers[run.chosen].name},
                             {"probability", run.probability},
                             {"cost", nearest_double(truth.charged(run.chosen))},
                             {"best", table.tiers[truth.best].name},
                             {"best_cost", nearest_double(truth.charged(truth.best))},
                             {"kept", truth.keeps(run.chosen)}})
      .to_line();
}

}  // namespace

std::vector<PolicyFigures> all_figures(const Evaluation& evaluation) {
  std::vector<PolicyFigures> figures;
  figures.reserve(evaluation.policies.size());
  for (const PolicyRuns& policy : evaluation.policies) {
    figures.push_back(figures_of(policy.policy, evaluation.truths, policy.runs));
  }
  return figures;
}

std::string evaluation_json(std::string_view format, const Evaluation& evaluation, int measurements_max) {
  Value::List policies;
  for (const PolicyFigures& figures : all_figures(evaluation)) {
    policies.push_back(figures_json(figures, measurements_max));
  }
  return Value(Value::Object{{"berth", 1},
                             {"format", format},
                             {"cases", evaluation.cases.size()},
                             {"policies", std::move(policies)}})
      .to_line();
}

std::vector<std::string> evaluation_log(const TierTable& table, const Evaluation& evaluation) {
  std::vector<std::string> lines;
  const std::vector<TestRun>& runs = evaluation.policies.front().runs;
  lines.reserve(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    lines.push_back(log_line(table, evaluation.cases[i], evaluation.truths[i], runs[i]));
  }
  return lines;
}

}  // namespace berth::tier
