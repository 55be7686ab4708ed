/// Plans to start from: as much as possible stands where it stood, the rest is packed anew.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "capacity/detail/transition_search.h"
#include "capacity/detail/transition_view.h"

namespace berth::capacity::moving {

/// The slices of each demand in a plan: site, then place in the order of the site.
struct HeldAt {
  int site = 0;
  Held held;
};
[[nodiscard]] std::vector<std::vector<HeldAt>> by_demand(const TransitionView& view, const SitePlan& plan);
[[nodiscard]] std::vector<Item> items_of(const TransitionView& view, const std::vector<HeldAt>& slices);
[[nodiscard]] Places places_of(const std::vector<Held>& site);

/// Packs a problem, or says nothing where that fails.
using Packer = std::function<std::optional<Packing>(const PackingProblem&)>;

/// A plan that keeps what it can on the `count` sites that can keep most, fills their free room, and has the rest
/// packed for the sites that are left; nothing where that takes more than it may. With 0 sites it is `fewest`, put
/// where it meets most of what stands, and always found.
class Starter {
 public:
  Starter(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, Room& room);

  [[nodiscard]] std::optional<SitePlan> keep_sites(std::size_t count, bool fills_room, const Packer& pack);
  /// Standing sites that can keep something, the most first.
  [[nodiscard]] const std::vector<int>& keepers() const { return keepers_; }

 private:
  struct Wanted {  ///< a GPU of a packing
    int offer = 0;
    std::vector<std::pair<int, int>> slices;  ///< kind, demand; the largest first
  };

  void rank_sites();
  [[nodiscard]] SitePlan keep_most(std::size_t count) const;
  void fill(SitePlan& plan);
  bool fill_one(SitePlan& plan, int demand, Rate lacking);
  [[nodiscard]] std::vector<Rate> lacking(const SitePlan& plan) const;
  [[nodiscard]] std::optional<Packing> pack_rest(const SitePlan& plan, const Packer& pack) const;
  [[nodiscard]] std::vector<Wanted> wanted_of(const Packing& packing) const;
  void place(const std::vector<Wanted>& wanted, SitePlan& plan) const;
  [[nodiscard]] std::vector<Held> overlap(const Wanted& wanted, int site) const;
  [[nodiscard]] std::optional<std::size_t> find_surplus(std::size_t demand, const std::vector<HeldAt>& slices) const;
  void drop_surplus(SitePlan& plan) const;

  const TransitionView& view_;
  const PackingProblem& problem_;
  const Packing& fewest_;
  Room& room_;
  std::vector<int> keepers_;
};

/// Whether each demand's slices carry its need with none to spare, and the plan takes what it may.
[[nodiscard]] bool is_complete(const TransitionView& view, const SitePlan& plan);

}  // namespace berth::capacity::moving
