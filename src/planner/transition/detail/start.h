/// Starting plans: as much as possible stays in place, the rest is packed again.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "planner/transition/detail/search.h"
#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

/// The slices of each demand in a plan: by GPU, then in the order of its slices.
struct HeldAt {
  int gpu = 0;
  Held held;
};
[[nodiscard]] std::vector<std::vector<HeldAt>> by_demand(const TransitionView& view, const SlicesByGpu& plan);
[[nodiscard]] std::vector<SliceRates> rates_of(const TransitionView& view, const std::vector<HeldAt>& slices);
[[nodiscard]] SiteSet sites_of(const std::vector<Held>& gpu);

/// Packs a problem, or returns nothing if that fails.
using Packer = std::function<std::optional<Packing>(const PackingProblem&)>;

/// A plan that keeps as many slices as possible on the `count` GPUs that can keep most, fills their free room, and
/// packs the rest for the remaining GPUs; nothing if that exceeds the budget. With 0 GPUs it is `fewest`, placed where
/// it coincides with most existing slices, and always found.
class Starter {
 public:
  Starter(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, GpuRoom& room);

  [[nodiscard]] std::optional<SlicesByGpu> keep_gpus(std::size_t count, bool fills_room, const Packer& pack);
  /// Orders the existing GPUs that can keep something: by the slices that they can keep, or by these per compute slice
  /// that they waste, measured by the best use that each demand has for it.
  void rank_gpus(bool by_waste);
  [[nodiscard]] const std::vector<int>& keepers() const { return keepers_; }

 private:
  /// GPUs of a packing with the same partition.
  struct GpuPartition {
    int offer = 0;
    int tenant = kNone;      ///< kNone: any
    std::vector<int> kinds;  ///< the longest first
    friend auto operator<=>(const GpuPartition&, const GpuPartition&) = default;
  };
  /// The content of a packing: how often each partition occurs, and how many slices of a kind a demand has.
  struct PackedContent {
    std::map<GpuPartition, int> partitions;
    std::vector<std::vector<std::vector<int>>> quotas;  ///< by demand, offer, kind
    std::vector<int> gpu_tenants;                       ///< of the partitions that are placed
  };

  [[nodiscard]] double waste_of(int gpu) const;
  [[nodiscard]] SlicesByGpu keep_most(std::size_t count) const;
  void fill(SlicesByGpu& plan);
  bool fill_one(SlicesByGpu& plan, int demand, Rate shortfall);
  [[nodiscard]] std::vector<Rate> shortfalls(const SlicesByGpu& plan) const;
  [[nodiscard]] std::optional<Packing> pack_rest(const SlicesByGpu& plan, const Packer& pack) const;
  [[nodiscard]] PackedContent wanted_of(const Packing& packing) const;
  void place(PackedContent wanted, SlicesByGpu& plan) const;
  void place_best(PackedContent& wanted, SlicesByGpu& plan) const;
  [[nodiscard]] std::vector<Held> overlap(const PackedContent& wanted, const GpuPartition& partition, int gpu) const;
  void share_out(PackedContent& wanted, SlicesByGpu& plan) const;
  [[nodiscard]] std::optional<std::size_t> find_surplus(std::size_t demand, const std::vector<HeldAt>& slices) const;
  void drop_surplus(SlicesByGpu& plan) const;

  const TransitionView& view_;
  const PackingProblem& problem_;
  const Packing& fewest_;
  GpuRoom& room_;
  std::vector<int> keepers_;
};

/// Whether each demand's slices meet its need without surplus, and the plan stays within its budget.
[[nodiscard]] bool is_complete(const TransitionView& view, const SlicesByGpu& plan);

}  // namespace berth::transition::detail
