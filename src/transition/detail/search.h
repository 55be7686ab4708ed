/// The search for a plan with fewer changes: some sites are decided anew, the others stay.
///
/// Model: each existing slice on a free site is kept or dropped, slices are created at legal places, each demand's
/// slices meet its need without surplus, the plan stays within its budget. Depth first, demand by demand; pruned if the
/// changes so far, plus the fewest that each later demand takes by itself, exceed the limit, and if the later demands,
/// with the remaining changes, need more compute slices or placement units than the sites still have. A node is a slice
/// or a site tried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "transition/detail/bound.h"
#include "transition/detail/cover.h"
#include "transition/detail/view.h"

namespace berth::transition::detail {

/// How much more a site can hold, by its slices: in compute slices and in placement units. Caches results.
class SiteRoom {
 public:
  explicit SiteRoom(const TransitionView& view);

  struct Extra {
    int weight = 0;
    int length = 0;
  };
  [[nodiscard]] Extra extra(int offer, Places standing);
  /// Places where some demand can run.
  [[nodiscard]] const std::vector<int>& useful(int offer) const { return useful_[static_cast<std::size_t>(offer)]; }

 private:
  const TransitionView& view_;
  std::vector<std::vector<int>> useful_;
  std::vector<std::map<Places, Extra>> known_;
};

class SiteSearch {
 public:
  /// Decides the sites of `free` anew in a plan; the rest of it stays. Slices may be missing in the plan, but none may
  /// be surplus.
  SiteSearch(const TransitionView& view, SiteRoom& room, SitePlan plan, std::vector<int> free);

  /// No answer has fewer changes, in the whole plan.
  [[nodiscard]] std::int64_t bound() const { return fixed_changes_ + later_changes_.front(); }

  /// A plan with at most that many changes, or nothing: there is none, or `nodes_left` reached 0. After it has found
  /// one, the object cannot be used again.
  [[nodiscard]] std::optional<SitePlan> run(std::int64_t changes_max, std::int64_t& nodes_left);

 private:
  /// A demand that needs something from the free sites: what the search knows about it.
  struct OpenDemand {
    int demand = 0;
    std::vector<SliceRates> slices;  ///< the fixed ones, then those chosen
    std::vector<int> standing;
    Curve weight;              ///< least compute slices on free sites
    Curve length;              ///< least placement units
    std::int64_t changes = 0;  ///< fewest
  };

  void clear_free_sites();
  void add_open_demands();
  void measure(OpenDemand& open, const std::vector<bool>& is_offered) const;
  void order_open_demands();
  [[nodiscard]] bool has_room(std::size_t rank);
  bool serve(std::size_t rank);
  bool keep(std::size_t rank, std::size_t index);
  bool create(std::size_t rank, std::size_t site, std::size_t place);
  bool create_at(std::size_t rank, std::size_t site, std::size_t first);
  [[nodiscard]] bool may_hold(int site, int demand) const;
  void hold(int site, const Held& held);
  void release(int site);
  [[nodiscard]] bool is_spent();

  const TransitionView& view_;
  SiteRoom& room_;
  SitePlan plan_;
  std::vector<int> free_;
  std::vector<Places> standing_;           ///< by site
  std::vector<bool> is_blank_;             ///< by site: nothing on it can be kept
  std::vector<std::int64_t> used_counts_;  ///< by offer
  std::int64_t used_price_ = 0;
  std::vector<OpenDemand> open_;             ///< in the order in which they are served; their ranks
  std::vector<std::int64_t> later_changes_;  ///< by rank, one past the last too: fewest of it and those after it
  std::vector<Curve> later_weight_;          ///< likewise: least compute slices
  std::vector<Curve> later_length_;
  std::int64_t fixed_changes_ = 0;
  std::int64_t changes_ = 0;
  std::int64_t changes_max_ = 0;
  std::int64_t* nodes_left_ = nullptr;
};

}  // namespace berth::transition::detail
