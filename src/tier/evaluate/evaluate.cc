#include "tier/evaluate/evaluate.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// The models that are left out together.
struct LeftOut {
  std::vector<std::string> models;
  std::vector<std::size_t> case_indices;
};

/// In the order of their first cases.
std::vector<LeftOut> left_out_sets(const EvaluateCall& call, const std::vector<TierCase>& cases) {
  const auto set_of = [&](const std::string& model) {
    const auto found = call.leave.find(model);
    // Sets that a file names and models that are alone cannot have the same key.
    return found == call.leave.end() ? std::pair(false, model) : std::pair(true, found->second);
  };
  std::map<std::pair<bool, std::string>, std::size_t> index_of;
  std::vector<LeftOut> sets;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto key = set_of(call.table->workloads[cases[i].workload].group);
    const auto [found, is_new] = index_of.try_emplace(key, sets.size());
    if (is_new) sets.emplace_back();
    sets[found->second].case_indices.push_back(i);
  }
  std::map<std::string, bool> seen;
  for (const TierWorkload& workload : call.table->workloads) {
    if (!seen.emplace(workload.group, true).second) continue;
    const auto found = index_of.find(set_of(workload.group));
    if (found != index_of.end()) sets[found->second].models.push_back(workload.group);
  }
  return sets;
}

class Evaluator {
 public:
  explicit Evaluator(const EvaluateCall& call) : call_(call) {}
  Result<Evaluation> run();

 private:
  Result<void> run_estimated(const EstimatedPolicy& policy, const std::vector<LeftOut>& sets);
  void run_rivals();
  Result<void> report_step();

  const EvaluateCall& call_;
  Evaluation evaluation_;
  std::size_t step_count_ = 1;
  std::size_t steps_done_ = 0;
};

Result<Evaluation> Evaluator::run() {
  ENSURE(!call_.estimated.empty());
  evaluation_.cases = cases_of(*call_.table, call_.reference, call_.cases);
  if (evaluation_.cases.empty()) {
    return invalid(call_.table->kind == TierKind::kJobs
                       ? "wanted a workload with rows on at least two of the tiers, found none"
                       : "wanted a workload with a row of batch 1 and one process on the tier " +
                             call_.table->tiers[call_.reference].name + ", found none");
  }
  evaluation_.truths.reserve(evaluation_.cases.size());
  for (const TierCase& of : evaluation_.cases) {
    evaluation_.truths.push_back(truth_of(*call_.table, call_.reference, of));
  }
  const std::vector<LeftOut> sets = left_out_sets(call_, evaluation_.cases);
  step_count_ = sets.size() * call_.estimated.size();
  for (const EstimatedPolicy& policy : call_.estimated) {
    if (auto done = run_estimated(policy, sets); !done) return pass_on(done.error());
  }
  run_rivals();
  return std::move(evaluation_);
}

Result<void> Evaluator::run_estimated(const EstimatedPolicy& policy, const std::vector<LeftOut>& sets) {
  PolicyRuns runs{.policy = policy.name, .runs = std::vector<TestRun>(evaluation_.cases.size())};
  for (const LeftOut& set : sets) {
    const auto estimate = policy.make(*call_.table, set.models);
    if (!estimate) return pass_on(estimate.error());
    for (const std::size_t i : set.case_indices) {
      runs.runs[i] = run_decision(*call_.table, evaluation_.cases[i], evaluation_.truths[i], *estimate, call_.decision);
    }
    if (auto reported = report_step(); !reported) return reported;
  }
  evaluation_.policies.push_back(std::move(runs));
  return {};
}

void Evaluator::run_rivals() {
  PolicyRuns cheapest{.policy = "cheapest", .runs = {}};
  PolicyRuns biggest{.policy = "biggest", .runs = {}};
  PolicyRuns step_up{.policy = "step-up", .runs = {}};
  for (PolicyRuns* runs : {&cheapest, &biggest, &step_up}) runs->runs.reserve(evaluation_.truths.size());
  for (const CaseTruth& truth : evaluation_.truths) {
    cheapest.runs.push_back(run_cheapest(truth));
    biggest.runs.push_back(run_biggest(truth));
    step_up.runs.push_back(run_step_up(truth, call_.decision.measurements_max));
  }
  for (PolicyRuns* runs : {&cheapest, &biggest, &step_up}) evaluation_.policies.push_back(std::move(*runs));
  std::rotate(evaluation_.policies.begin() + 1, evaluation_.policies.end() - 3, evaluation_.policies.end());
}

Result<void> Evaluator::report_step() {
  ++steps_done_;
  if (!call_.progress) return {};
  if (call_.progress(static_cast<double>(steps_done_) / static_cast<double>(step_count_))) return {};
  return fail(ErrorCode::kInterrupted, "interrupted");
}

}  // namespace

Result<Evaluation> evaluate(const EvaluateCall& call) { return Evaluator(call).run(); }

}  // namespace berth::tier
