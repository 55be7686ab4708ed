#include "surface/cli/tier/tier_evaluate_table.h"

#include <fmt/format.h>

#include <vector>

#include "base/core/figure_text.h"
#include "surface/cli/shared/text_table.h"
#include "tier/evaluate/evaluation_text.h"

namespace berth::cli {
namespace {

using tier::PolicyFigures;

std::string cost_ratio_text(const Decimal& ratio) { return with_digits(ratio, 4); }

std::string policies_text(const std::vector<PolicyFigures>& policies, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {
      {"policy", "cost / best", "p50", "p95", "missed", "measurements per case"}};
  rows.reserve(policies.size() + 1);
  for (const PolicyFigures& policy : policies) {
    rows.push_back({policy.policy, cost_ratio_text(policy.ratio_mean), cost_ratio_text(policy.ratio_p50),
                    cost_ratio_text(policy.ratio_p95), percent(policy.missed.to_double()),
                    with_digits(policy.measurements_mean, 2)});
  }
  return styled_table(rows, has_colour);
}

std::string calibration_text(const PolicyFigures& ours, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {{"stated probability", "cases", "mean", "kept"}};
  rows.reserve(ours.calibration.size() + 1);
  for (std::size_t i = 0; i < ours.calibration.size(); ++i) {
    const tier::CalibrationBin& bin = ours.calibration[i];
    const bool is_last = i + 1 == ours.calibration.size();
    const double to = is_last ? 1 : ours.calibration[i + 1].from;
    const bool is_empty = bin.case_count == 0;
    rows.push_back({fmt::format("{} to {}", bin.from, to), with_separators(static_cast<std::int64_t>(bin.case_count)),
                    is_empty ? std::string(kAbsentText) : percent(bin.stated),
                    is_empty ? std::string(kAbsentText) : percent(bin.kept)});
  }
  return styled_table(rows, has_colour);
}

}  // namespace

std::string tier_evaluate_table(const tier::TierTable& table, const tier::Evaluation& evaluation, int measurements_max,
                                bool has_colour) {
  const std::vector<PolicyFigures> policies = tier::all_figures(evaluation);
  std::string text = wrapped(fmt::format("{} cases on {} tiers, at most {} measurement{} per case.",
                                         with_separators(static_cast<std::int64_t>(evaluation.cases.size())),
                                         table.tiers.size(), measurements_max, measurements_max == 1 ? "" : "s")) +
                     "\n";
  if (table.rows_left_out > 0) {
    text += wrapped(fmt::format("{} rows of other tiers were left out.", with_separators(table.rows_left_out))) + "\n";
  }
  text += "\n" + policies_text(policies, has_colour) + "\n" + calibration_text(policies.front(), has_colour);
  const PolicyFigures& ours = policies.front();
  return text + "\n" +
         wrapped(fmt::format("{} costs {} of the best tier in hindsight, and misses the target in {} of the cases.",
                             ours.policy, percent(ours.ratio_mean.to_double()), percent(ours.missed.to_double()))) +
         "\n";
}

}  // namespace berth::cli
