/// From the plan that stands to one that meets a new demand with the fewest GPUs: what changes, and in which order.
///
/// Model: a slice is kept when GPU, start, profile, tenant and model stay; all other slices that stand are destroyed,
/// all other slices of the new plan are created. Objective: fewest created + destroyed, among the plans that pass the
/// rules of packing.h and take no more than the packing that is given (money where offers have prices, else GPUs). A
/// kept slice keeps its point where that is usable under the new rules and the rate allows, else it is retuned; slices
/// that are created or retuned run at `best_point`. The method, the bound and the complexity: docs/packing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capacity/pack.h"
#include "domain/packing.h"

namespace berth::capacity {

/// What stands: `packing.slices[..].demand` counts in `demands`, `packing.gpu_offers` in the new problem's offers (a
/// model that may not be taken any more is an offer with `count_max` 0).
struct StandingPlan {
  std::vector<Demand> demands;
  Packing packing;
};

/// A GPU of the time between the plans. With neither number it is a spare one, used for a while.
struct TransitionGpu {
  std::uint32_t offer = 0;
  std::optional<std::uint32_t> standing;  ///< its number in the plan that stands; absent: it is added
  std::optional<std::uint32_t> target;    ///< its number in the new plan; absent: it is released
  friend bool operator==(const TransitionGpu&, const TransitionGpu&) = default;
};

enum class StepKind { kCreate, kDestroy, kRetune };

/// One step. A created slice serves after its step, a destroyed one not during it, a retuned one serves before and
/// after its step and not during it.
struct Step {
  StepKind kind = StepKind::kCreate;
  /// As it stands after the step; of kDestroy before it. Its GPU counts in Transition::gpus; its demand in the new
  /// problem's demands and, from their end on, in Transition::gone.
  PackedSlice slice;
  bool is_temporary = false;  ///< stands for a while only, to hold a rate while others move
  friend bool operator==(const Step&, const Step&) = default;
};

struct Transition {
  Packing target;
  std::vector<Demand> gone;         ///< demands that stood and that the new problem does not have, in their order
  std::vector<TransitionGpu> gpus;  ///< those that stand by number, then the added ones, then spare ones
  std::vector<Step> steps;
  std::int64_t kept = 0;
  std::int64_t created = 0;    ///< temporary ones aside
  std::int64_t destroyed = 0;  ///< temporary ones aside
  std::int64_t retuned = 0;
  std::int64_t temporary = 0;      ///< slices that stand only for a while; each is created and destroyed
  std::int64_t spare_gpus = 0;     ///< GPUs that are needed only for a while
  std::int64_t changes_bound = 0;  ///< no plan that takes no more has fewer created + destroyed
  bool is_fewest_proven = false;   ///< the bound meets the plan
  std::int64_t nodes = 0;          ///< spent

  [[nodiscard]] std::int64_t changes() const { return created + destroyed; }
};

/// Plans the transition. `fewest` is what `pack` says of the problem: its plan takes as much as the new one may take,
/// and is the plan to fall back on. The answer depends on the arguments alone. `nodes_max` bounds the search for fewer
/// changes; an answer is found with any budget. Errors (kInvalidInput): a standing plan that is illegal (says where),
/// numbers too long for exact work.
[[nodiscard]] Result<Transition> plan_transition(const PackingProblem& problem, const StandingPlan& standing,
                                                 const PackResult& fewest, const PackOptions& options);

/// Replays the steps one by one and says what is wrong first, or nothing: every created slice fits legally beside what
/// stands then (and beside no other tenant's where tenants are kept apart), and at every moment, within steps too, each
/// demand's slices in service carry at least min(what they carried before the first step, its new rate x headroom); at
/// the end the target stands, and the counts are right. Independent of how the steps were found; a few dozen operations
/// a step.
[[nodiscard]] std::optional<std::string> find_step_fault(const PackingProblem& problem, const StandingPlan& standing,
                                                         const Transition& transition);

/// What a standing slice carries, counted as `find_step_fault` does: as the new tables say where they hold its point,
/// else as the plan says.
[[nodiscard]] Decimal rate_in_force(const PackingProblem& problem, const GpuModel& model, const Demand& demand,
                                    const PackedSlice& slice);

}  // namespace berth::capacity
