#include "surface/cli/commit/commit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "purchase/commit/study.h"
#include "surface/cli/commit/commit_json.h"
#include "surface/cli/commit/commit_table.h"
#include "surface/cli/shared/option_words.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/pages/commit_report.h"

namespace berth::cli {
namespace {

using purchase::CommitPolicy;
using purchase::CommitScore;

Result<purchase::HourlyDemand> read_demand(const CommitRequest& request, const Files& files) {
  const auto text = files.read(request.demand_path);
  if (!text) return pass_on(text.error());
  auto demand = request.demand_format == DemandFormat::kCsv ? purchase::read_demand_csv(*text, request.demand_path)
                                                            : purchase::read_demand_pods(*text, request.demand_path);
  if (demand && request.is_reversed) std::ranges::reverse(*demand);
  return demand;
}

Result<purchase::PlanList> read_plan_file(const CommitRequest& request, const Files& files) {
  const auto text = files.read(request.plans_path);
  if (!text) return pass_on(text.error());
  return purchase::read_plans(*text, request.plans_path);
}

/// The requested policies; by default all that are possible.
Result<std::vector<CommitPolicy>> choose_policies(const CommitRequest& request, const purchase::PlanList& plans) {
  std::vector<CommitPolicy> possible;
  std::vector<std::string> known;
  for (const CommitPolicy policy : purchase::kCommitPolicies) {
    known.emplace_back(purchase::name_of(policy));
    if (purchase::is_possible(policy, plans)) possible.push_back(policy);
  }
  if (!request.policies) return possible;
  const auto names = parse_policies(*request.policies, known);
  if (!names) return pass_on(names.error());
  std::vector<CommitPolicy> policies;
  policies.reserve(names->size());
  for (const std::string& name : *names) {
    const auto index = static_cast<std::size_t>(std::ranges::find(known, name) - known.begin());
    policies.push_back(purchase::kCommitPolicies[index]);
    if (purchase::is_possible(policies.back(), plans)) continue;
    return invalid(fmt::format("--policies: wanted one committed plan for {}, found {} in {}", name,
                               plans.committed.size(), request.plans_path));
  }
  return policies;
}

/// The score of the optimum alone: from `scores`, or computed if it is not among them.
std::vector<CommitScore> optimum_beside(const std::vector<CommitScore>& scores, const purchase::HourlyDemand& demand,
                                        const purchase::PlanList& plans) {
  const auto known = std::ranges::find(scores, CommitPolicy::kOptimal, &CommitScore::policy);
  if (known != scores.end()) return {*known};
  return purchase::run_commit_study(demand, plans, std::vector{CommitPolicy::kOptimal});
}

}  // namespace

Result<std::string> run_commit(const CommitRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto plans = read_plan_file(request, *context.files);
  if (!plans) return pass_on(plans.error());
  const auto policies = choose_policies(request, *plans);
  if (!policies) return pass_on(policies.error());
  const auto demand = read_demand(request, *context.files);
  if (!demand) return pass_on(demand.error());
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto scores = purchase::run_commit_study(*demand, *plans, *policies);
  const std::vector<CommitScore> least = optimum_beside(scores, *demand, *plans);
  const purchase::CommitComparison comparison{.demand_name = request.demand_path,
                                              .is_reversed = request.is_reversed,
                                              .demand = *demand,
                                              .plans = *plans,
                                              .scores = scores,
                                              .optimal = least.front()};
  outputs.begin();
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? commit_json(comparison)
                                          : commit_table(comparison, context.has_colour());
                             },
                         .page = [&] { return report::render_commit_report(comparison); }});
}

}  // namespace berth::cli
