/// The search for a plan with fewer changes: some GPUs are replanned, the others stay.
///
/// Model: each existing slice on a free GPU is kept or dropped, slices are created at legal sites, each demand's slices
/// meet its need without surplus, the plan stays within its budget. Depth first, demand by demand; pruned if the
/// changes so far, plus the fewest that each later demand takes on its own, exceed the limit, and if the later demands,
/// with the remaining changes, need more compute slices or placement units than the GPUs still have. A node is a slice
/// or a GPU tried.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "planner/transition/detail/bound.h"
#include "planner/transition/detail/cover.h"
#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

/// The space left on a GPU with given slices: in compute slices and in placement units. Caches results.
class GpuRoom {
 public:
  explicit GpuRoom(const TransitionView& view);

  struct Extra {
    int weight = 0;
    int length = 0;
  };
  [[nodiscard]] Extra extra(int offer, SiteSet standing);
  /// Sites where some demand can run.
  [[nodiscard]] const std::vector<int>& useful(int offer) const { return useful_[static_cast<std::size_t>(offer)]; }

 private:
  const TransitionView& view_;
  std::vector<std::vector<int>> useful_;
  std::vector<std::map<SiteSet, Extra>> known_;
};

class GpuSearch {
 public:
  /// Replans the GPUs of `free` in a plan; the rest of it stays. The plan may lack slices, but may have no surplus
  /// ones.
  GpuSearch(const TransitionView& view, GpuRoom& room, SlicesByGpu plan, std::vector<int> free);

  /// A lower bound on the changes of the whole plan, over all answers.
  [[nodiscard]] std::int64_t bound() const { return fixed_changes_ + later_changes_.front(); }

  /// A plan with at most that many changes, or nothing: there is none, or `nodes_left` reached 0. After it has found
  /// one, the object cannot be used again.
  [[nodiscard]] std::optional<SlicesByGpu> run(std::int64_t changes_max, std::int64_t& nodes_left);

 private:
  /// A demand that needs slices on the free GPUs, with its state in the search.
  struct OpenDemand {
    int demand = 0;
    std::vector<SliceRates> slices;  ///< the fixed ones, then those chosen
    std::vector<int> standing;
    Curve weight;              ///< least compute slices on free GPUs
    Curve length;              ///< least placement units
    std::int64_t changes = 0;  ///< fewest
  };

  void clear_free_gpus();
  void add_open_demands();
  void measure(OpenDemand& open, const std::vector<bool>& is_offered) const;
  void order_open_demands();
  [[nodiscard]] bool has_room(std::size_t rank);
  bool serve(std::size_t rank);
  bool keep(std::size_t rank, std::size_t index);
  bool create(std::size_t rank, std::size_t gpu, std::size_t site);
  bool create_at(std::size_t rank, std::size_t gpu, std::size_t first);
  [[nodiscard]] bool may_hold(int gpu, int demand) const;
  void hold(int gpu, const Held& held);
  void release(int gpu);
  [[nodiscard]] bool is_spent();

  const TransitionView& view_;
  GpuRoom& room_;
  SlicesByGpu plan_;
  std::vector<int> free_;
  std::vector<SiteSet> standing_;          ///< by GPU
  std::vector<bool> is_blank_;             ///< by GPU: nothing on it can be kept
  std::vector<std::int64_t> used_counts_;  ///< by offer
  std::int64_t used_price_ = 0;
  std::vector<OpenDemand> open_;             ///< in the order in which they are served; their ranks
  std::vector<std::int64_t> later_changes_;  ///< by rank, and one past the last: fewest of it and those after it
  std::vector<Curve> later_weight_;          ///< likewise: least compute slices
  std::vector<Curve> later_length_;
  std::int64_t fixed_changes_ = 0;
  std::int64_t changes_ = 0;
  std::int64_t changes_max_ = 0;
  std::int64_t* nodes_left_ = nullptr;
};

}  // namespace berth::transition::detail
