/// Starting plans: as much as possible stays in its place, the rest is packed anew.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "transition/detail/search.h"
#include "transition/detail/view.h"

namespace berth::transition::detail {

/// The slices of each demand in a plan: site, then place in the order of the site.
struct HeldAt {
  int site = 0;
  Held held;
};
[[nodiscard]] std::vector<std::vector<HeldAt>> by_demand(const TransitionView& view, const SitePlan& plan);
[[nodiscard]] std::vector<SliceRates> rates_of(const TransitionView& view, const std::vector<HeldAt>& slices);
[[nodiscard]] Places places_of(const std::vector<Held>& site);

/// Packs a problem, or returns nothing if that fails.
using Packer = std::function<std::optional<Packing>(const PackingProblem&)>;

/// A plan that keeps what it can on the `count` sites that can keep most, fills their free room, and packs the rest
/// for the remaining sites; nothing if that needs more than allowed. With 0 sites it is `fewest`, placed where it
/// coincides with most existing slices, and always found.
class Starter {
 public:
  Starter(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, SiteRoom& room);

  [[nodiscard]] std::optional<SitePlan> keep_sites(std::size_t count, bool fills_room, const Packer& pack);
  /// Orders the existing sites that can keep something: by the slices that they can keep, or by these per compute slice
  /// that they waste, measured by the best use that each demand has for it.
  void rank_sites(bool by_waste);
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
    std::vector<int> site_tenants;                      ///< of the partitions that are placed
  };

  [[nodiscard]] double waste_of(int site) const;
  [[nodiscard]] SitePlan keep_most(std::size_t count) const;
  void fill(SitePlan& plan);
  bool fill_one(SitePlan& plan, int demand, Rate lacking);
  [[nodiscard]] std::vector<Rate> lacking(const SitePlan& plan) const;
  [[nodiscard]] std::optional<Packing> pack_rest(const SitePlan& plan, const Packer& pack) const;
  [[nodiscard]] PackedContent wanted_of(const Packing& packing) const;
  void place(PackedContent wanted, SitePlan& plan) const;
  void place_best(PackedContent& wanted, SitePlan& plan) const;
  [[nodiscard]] std::vector<Held> overlap(const PackedContent& wanted, const GpuPartition& partition, int site) const;
  void share_out(PackedContent& wanted, SitePlan& plan) const;
  [[nodiscard]] std::optional<std::size_t> find_surplus(std::size_t demand, const std::vector<HeldAt>& slices) const;
  void drop_surplus(SitePlan& plan) const;

  const TransitionView& view_;
  const PackingProblem& problem_;
  const Packing& fewest_;
  SiteRoom& room_;
  std::vector<int> keepers_;
};

/// Whether each demand's slices meet its need without surplus, and the plan stays within its budget.
[[nodiscard]] bool is_complete(const TransitionView& view, const SitePlan& plan);

}  // namespace berth::transition::detail
