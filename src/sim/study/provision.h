/// From demands to a plan that can be trusted: packed, checked by the verifiers, reached step by step from the existing
/// plan, replayed under random arrivals, and given more headroom where its capacity is too small.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "planner/transition/transition.h"
#include "sim/study/packing_cure.h"
#include "sim/study/packing_replay.h"

namespace berth::study {

struct ProvisionOptions {
  packing::PackOptions search;
  PackingReplayOptions replay;
  bool is_replayed = false;  ///< replay the plan
  bool is_cured = false;     ///< look for the headroom with which every demand is in time
  std::string inputs = {};   ///< what error messages call the problem, such as its files; empty: nothing
};

/// The existing plan, and the name that error messages use for it, such as its file.
struct Standing {
  transition::StandingPlan plan;
  std::string name;
};

struct Provision {
  packing::PackResult result;                        ///< with a standing plan, its packing is the transition's target
  std::optional<transition::Transition> transition;  ///< with a standing plan only
  std::optional<PackingReplay> replay;               ///< if requested
  std::optional<PackingCure> cure;                   ///< if requested and found
};

/// The same arguments give the same answer. Errors: kInvalidInput where the demand cannot be served or the standing
/// plan is illegal; kUnavailable where a verifier refuses a plan or steps that were found, which is a defect.
[[nodiscard]] Result<Provision> provision(const PackingProblem& problem, const std::optional<Standing>& standing,
                                          const ProvisionOptions& options);

}  // namespace berth::study
