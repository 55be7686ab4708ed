/// From the bound and the beam to the best plan of one instance: price first, then GPUs, then the largest slice that
/// stays free, then the number of slices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/packing/detail/beam.h"
#include "planner/packing/detail/diving.h"
#include "planner/packing/detail/gpu_filler.h"
#include "planner/packing/detail/instance.h"

namespace berth::packing::detail {

struct FoundPlan {
  CoverChoice covers;
  std::int64_t price = 0;
  std::int64_t gpus = 0;
  std::int64_t slices = 0;
  std::int64_t sms = 0;    ///< of all slices
  std::int64_t bound = 0;  ///< no plan has a smaller price
  std::uint32_t free_pool = 0;
  std::optional<std::size_t> free = std::nullopt;  ///< the kind of slice for which a place is kept
  bool is_within_counts = true;                    ///< of the offers
  bool is_slice_count_proven = false;
};

/// Why there is no plan.
struct NoPlan {
  bool is_proven = false;  ///< otherwise the budget was used up
};

class PlanSearch {
 public:
  /// Requires: the instance outlives the search and has a demand. With `settled` slices, which must fit together
  /// with all covers, the instance has one pool.
  PlanSearch(const Instance& instance, Budget& budget, Counts settled = {});

  /// The cheapest plan; if some GPUs cost nothing, one with the fewest GPUs.
  [[nodiscard]] tl::expected<FoundPlan, NoPlan> cheapest();

  /// Among plans as good as this one, one in which a slice of this kind would still fit on a pool's GPUs. Nothing: none
  /// was found; `is_proven_none` says whether there is none.
  struct FreeAnswer {
    std::optional<FoundPlan> plan;
    bool is_proven_none = false;
  };
  [[nodiscard]] FreeAnswer with_free(const FoundPlan& plan, std::size_t kind, std::uint32_t pool);

  /// Removes slices while an equally good plan is found. Among plans with equally few slices it takes the one with the
  /// fewest SMs that a quick search finds.
  void lower_slices(FoundPlan& plan);

  /// How GPUs are partitioned for the plan: one filler per offer.
  [[nodiscard]] std::vector<GpuFiller>& fillers() { return fillers_; }

 private:
  /// A question: a plan within the limits whose objective, that of the relaxed problem, is at most the target.
  struct Question {
    const Instance* instance = nullptr;  ///< with the prices of the objective
    RelaxedProblem relaxed;
    PlanLimits limits;
    std::int64_t target = 0;
  };
  struct CountRange;

  [[nodiscard]] Beam beam_for(const PlanLimits& limits, const Relaxation& relaxation, std::int64_t target);
  [[nodiscard]] BeamAnswer look(const Question& question, const Relaxation& relaxation);
  [[nodiscard]] BeamAnswer look_by_counts(const Question& question);
  [[nodiscard]] CountRange all_counts(const PlanLimits& limits) const;
  [[nodiscard]] Relaxation relax_within(const CountRange& range);
  [[nodiscard]] BeamAnswer look_within(const std::vector<std::int64_t>& gpus_max, std::span<const std::size_t> widths,
                                       std::int64_t budget_divisor);
  struct MixAnswer {
    std::optional<FoundPlan> plan;
    std::int64_t bound = 0;
    bool is_proven_none = false;
  };
  [[nodiscard]] MixAnswer cheapest_mix(std::optional<FoundPlan> plan, const Relaxation& root);
  [[nodiscard]] Question about_price(std::int64_t target) const;
  [[nodiscard]] GpuLimit price_limit(std::int64_t price_max) const;
  [[nodiscard]] std::vector<GpuLimit> limits_of(const FoundPlan& plan) const;
  /// Fills in the usage of the covers.
  void measure(FoundPlan& plan);
  void lower_gpus(FoundPlan& plan);
  [[nodiscard]] std::optional<FoundPlan> on_unlimited(const Relaxation& relaxation);
  void search_rest(FoundPlan& plan, const Relaxation& relaxation);
  [[nodiscard]] std::optional<FoundPlan> rounded(const Relaxation& relaxation);
  [[nodiscard]] bool mix_of_pools(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation);
  [[nodiscard]] bool mix_offers(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation);
  void dive_for(Diver& diver, int near_dives_max, std::optional<FoundPlan>& plan, std::int64_t bound);
  void take_if_better(CoverChoice covers, std::optional<FoundPlan>& plan);
  void aim_between(std::optional<FoundPlan>& plan, std::int64_t& bound, const Relaxation& relaxation);
  void lower_price(FoundPlan& plan, const Relaxation& relaxation);
  [[nodiscard]] std::int64_t most_expensive() const;
  [[nodiscard]] bool has_free_gpus() const;
  [[nodiscard]] PlanLimits as_good_as(const FoundPlan& plan) const;
  /// The slices that must fit together with the covers: the settled ones, and perhaps one more.
  [[nodiscard]] Counts counts_with(std::optional<std::size_t> extra) const;

  const Instance& instance_;
  Budget& budget_;
  Counts settled_;
  std::vector<GpuFiller> fillers_;
};

}  // namespace berth::packing::detail
