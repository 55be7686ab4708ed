/// From an existing plan to one that meets a new demand with the fewest GPUs: the changes, and their order.
///
/// Model: a slice is kept if GPU, start, profile, tenant and model stay; all other existing slices are destroyed, all
/// other slices of the new plan are created. Objective: fewest created + destroyed, among the plans that pass
/// packing/find_fault.h and need no more than the given packing (cost if offers have prices, otherwise GPUs). A kept
/// slice keeps its point if that is usable under the new rules and the rate allows, otherwise it is retuned; slices
/// that are created or retuned run at `best_point`. The method, the bound and the complexity:
/// docs/reference/packing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/values/packing.h"

namespace berth::packing {
struct PackOptions;
struct PackResult;
}  // namespace berth::packing

namespace berth::transition {

/// The existing plan: `packing.slices[..].demand` is an index into `demands`, `packing.gpu_offers` into the new
/// problem's offers (a model that is no longer available is an offer with `count_max` 0).
struct StandingPlan {
  std::vector<Demand> demands;
  Packing packing;
};

/// A GPU during the transition. With neither number it is a spare one, used temporarily.
struct TransitionGpu {
  std::uint32_t offer = 0;
  std::optional<std::uint32_t> standing;  ///< its number in the existing plan; absent: it is added
  std::optional<std::uint32_t> target;    ///< its number in the new plan; absent: it is released
  friend bool operator==(const TransitionGpu&, const TransitionGpu&) = default;
};

enum class StepKind { kCreate, kDestroy, kRetune };

/// "create", "destroy", "retune".
[[nodiscard]] std::string_view word_of(StepKind kind);

/// One step. A created slice serves after its step, a destroyed one not during it, a retuned one serves before and
/// after its step and not during it.
struct TransitionStep {
  StepKind kind = StepKind::kCreate;
  /// The slice after the step; for kDestroy, before it. Its GPU is an index into Transition::gpus; its demand into the
  /// new problem's demands followed by Transition::gone.
  PackedSlice slice;
  bool is_temporary = false;  ///< exists temporarily, to hold a rate while others move
  friend bool operator==(const TransitionStep&, const TransitionStep&) = default;
};

struct Transition {
  Packing target;
  std::vector<Demand> gone;         ///< demands of the existing plan that the new problem does not have, in their order
  std::vector<TransitionGpu> gpus;  ///< the existing ones by number, then the added ones, then spare ones
  std::vector<TransitionStep> steps;
  std::int64_t kept = 0;
  std::int64_t created = 0;    ///< without temporary ones
  std::int64_t destroyed = 0;  ///< without temporary ones
  std::int64_t retuned = 0;
  std::int64_t temporary = 0;      ///< temporary slices; each is created and destroyed
  std::int64_t spare_gpus = 0;     ///< GPUs that are needed only temporarily
  std::int64_t changes_bound = 0;  ///< no plan that needs no more has fewer created + destroyed
  bool is_fewest_proven = false;   ///< the plan reaches the bound
  std::int64_t nodes = 0;          ///< used

  [[nodiscard]] std::int64_t changes() const { return created + destroyed; }
};

/// The demand of a step's slice: one of the problem, or one of the old plan that the problem no longer has.
[[nodiscard]] const Demand& demand_of(const PackingProblem& problem, const Transition& transition,
                                      const TransitionStep& step);

/// Plans the transition. `fewest` is the answer of `pack` to the problem: the new plan may need as much as its plan,
/// which is also the fallback. The answer depends only on the arguments. `nodes_max` limits the search for fewer
/// changes; an answer is found with any budget. Errors (kInvalidInput): an existing plan that is illegal (says where),
/// numbers too long for exact work.
[[nodiscard]] Result<Transition> plan_transition(const PackingProblem& problem, const StandingPlan& standing,
                                                 const packing::PackResult& fewest,
                                                 const packing::PackOptions& options);

/// Replays the steps one by one and returns the first fault, or nothing: every created slice is legal together with the
/// slices that exist then (and with no other tenant's if tenants are kept apart), and at every time, even within steps,
/// each demand's slices in service have at least min(their rate before the first step, its new rate x headroom); at the
/// end the target is reached, and the counts are right. Independent of how the steps were found; a few dozen operations
/// per step.
[[nodiscard]] std::optional<std::string> find_step_fault(const PackingProblem& problem, const StandingPlan& standing,
                                                         const Transition& transition);

/// The rate of an existing slice, as `find_step_fault` counts it: by the new tables if they have its point, otherwise
/// by the plan.
[[nodiscard]] Decimal rate_in_force(const PackingProblem& problem, const GpuModel& model, const Demand& demand,
                                    const PackedSlice& slice);

}  // namespace berth::transition
