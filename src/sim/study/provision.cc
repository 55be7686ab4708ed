#include "sim/study/provision.h"

#include <fmt/format.h>

#include <string_view>

#include "planner/packing/find_fault.h"

namespace berth::study {
namespace {

tl::unexpected<Error> own_defect(std::string_view what, const std::string& fault) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("the verifier refuses {}, so it is not shown: {}. This is a defect of the program: please "
                          "report it with the files",
                          what, fault));
}

/// Finds a plan that the verifier accepts.
Result<packing::PackResult> verified_plan(const PackingProblem& problem, const ProvisionOptions& options) {
  auto result = packing::pack(problem, options.search);
  if (!result && !options.inputs.empty()) {
    return fail(result.error().code, options.inputs + ": " + result.error().message);
  }
  if (!result) return result;
  if (const auto fault = packing::find_fault(problem, result->packing)) {
    return own_defect("the plan that was found", *fault);
  }
  return result;
}

/// The transition from the standing plan. Its target replaces the plan in `result`.
Result<transition::Transition> verified_transition(const PackingProblem& problem, const Standing& standing,
                                                   const packing::PackOptions& search, packing::PackResult& result) {
  auto transition = transition::plan_transition(problem, standing.plan, result, search);
  if (!transition) return fail(transition.error().code, standing.name + ": " + transition.error().message);
  if (const auto fault = packing::find_fault(problem, transition->target)) {
    return own_defect("the plan that was found", *fault);
  }
  if (const auto fault = transition::find_step_fault(problem, standing.plan, *transition)) {
    return own_defect("the steps that were found", *fault);
  }
  result.packing = transition->target;
  result.score = packing::score_of(problem, result.packing);
  result.unused = packing::empty_places(problem, result.packing);
  // With a standing plan, few changes take precedence over the largest free slice.
  result.is_largest_free_proven = result.is_slice_count_proven = false;
  return transition;
}

}  // namespace

Result<Provision> provision(const PackingProblem& problem, const std::optional<Standing>& standing,
                            const ProvisionOptions& options) {
  Provision provision;
  auto result = verified_plan(problem, options);
  if (!result) return pass_on(result.error());
  provision.result = std::move(*result);
  if (standing) {
    auto transition = verified_transition(problem, *standing, options.search, provision.result);
    if (!transition) return pass_on(transition.error());
    provision.transition = std::move(*transition);
  }
  if (options.is_replayed) provision.replay = replay_packing(problem, provision.result.packing, options.replay);
  if (options.is_cured) provision.cure = find_packing_cure(problem, options.search, options.replay);
  return provision;
}

}  // namespace berth::study
