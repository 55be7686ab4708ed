#include "planner/transition/detail/improve.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/core/ensure.h"
#include "base/core/rng.h"
#include "base/core/sort_stably.h"
#include "planner/transition/detail/bound.h"

namespace berth::transition::detail {
namespace {

constexpr std::int64_t kFirstShare = 8;        ///< of the budget, for the first exact search
constexpr std::int64_t kLocalShare = 2;        ///< ... for the local search
constexpr std::int64_t kTryNodesFirst = 3000;  ///< of one step of the local search; grows while it has no success
constexpr std::size_t kTriesMax = 400;         ///< with that many nodes
constexpr std::size_t kGpusMax = 6;            ///< replanned at a time

std::vector<int> all_gpus(const TransitionView& view) {
  std::vector<int> gpus(view.gpus.size());
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

/// One run: the best plan so far and the rest of the budget.
class Improving {
 public:
  Improving(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, const Packer& pack,
            std::int64_t nodes_max)
      : view_(view), room_(view), starter_(view, problem, fewest, room_), pack_(pack), nodes_left_(nodes_max) {}

  Improved run() {
    const std::int64_t nodes_max = nodes_left_;
    bound_ = GpuSearch(view_, room_, SlicesByGpu(view_.gpus.size()), all_gpus(view_)).bound();
    bound_ = std::max(bound_, changes_bound(view_));
    start();
    search_all(nodes_max / kFirstShare);
    improve(nodes_max / kLocalShare);
    search_all(nodes_left_);
    return {std::move(best_), bound_, nodes_max - std::max<std::int64_t>(0, nodes_left_)};
  }

 private:
  bool is_done() const { return best_changes_ <= bound_; }

  bool take(std::optional<SlicesByGpu> plan) {
    if (!plan) return false;
    const std::int64_t changes = changes_of(view_, *plan);
    if (changes >= best_changes_) return false;
    best_ = *std::move(plan);
    best_changes_ = changes;
    return true;
  }

  void start() {
    ENSURE(take(starter_.keep_gpus(0, false, pack_)));
    for (const bool by_waste : {false, true}) {
      starter_.rank_gpus(by_waste);
      keep_many();
    }
  }

  /// Keeps as many GPUs as possible unchanged, by bisection.
  void keep_many() {
    std::size_t low = 0;
    std::size_t high = starter_.keepers().size() + 1;
    while (low + 1 < high && !is_done()) {
      const std::size_t count = high == starter_.keepers().size() + 1 ? high - 1 : (low + high) / 2;
      if (try_keeping(count)) {
        low = count;
      } else {
        high = count;
      }
    }
  }

  bool try_keeping(std::size_t count) {
    auto filled = starter_.keep_gpus(count, true, pack_);
    auto bare = starter_.keep_gpus(count, false, pack_);
    const bool is_found = filled.has_value() || bare.has_value();
    take(std::move(filled));
    take(std::move(bare));
    return is_found;
  }

  /// Replans all GPUs, allowing one more change at a time: the first plan found is the best, and a refuted count
  /// raises the bound.
  void search_all(std::int64_t nodes) {
    if (is_done()) return;
    nodes = std::min(nodes, nodes_left_);
    nodes_left_ -= nodes;
    GpuSearch search(view_, room_, SlicesByGpu(view_.gpus.size()), all_gpus(view_));
    while (!is_done() && nodes > 0) {
      if (take(search.run(bound_, nodes))) break;
      if (nodes > 0) ++bound_;
    }
    nodes_left_ += std::max<std::int64_t>(0, nodes);
  }

  /// Replans a changed GPU alone, then with each GPU with which it has a demand in common, then with several.
  void improve(std::int64_t nodes) {
    local_left_ = std::min(nodes, nodes_left_);
    const std::int64_t before = local_left_;
    try_nodes_ = kTryNodesFirst;
    while (!is_done() && local_left_ > 0) {
      if (improve_pairs() || improve_several()) {
        try_nodes_ = kTryNodesFirst;
      } else {
        try_nodes_ *= 2;
      }
    }
    nodes_left_ -= before - std::max<std::int64_t>(0, local_left_);
  }

  /// GPUs with slices that are created or destroyed, the most first.
  std::vector<int> changed_gpus() const {
    std::vector<int> counts(view_.gpus.size(), 0);
    for (const StandingView& stood : view_.standing) {
      if (stood.best > 0) ++counts[static_cast<std::size_t>(stood.gpu)];
    }
    for (std::size_t gpu = 0; gpu < best_.size(); ++gpu) {
      for (const Held& held : best_[gpu]) counts[gpu] += held.standing == kNone ? 1 : -1;
    }
    std::vector<int> gpus;
    for (const int gpu : all_gpus(view_)) {
      if (counts[static_cast<std::size_t>(gpu)] > 0) gpus.push_back(gpu);
    }
    sort_stably(gpus, [&](int gpu) { return counts[static_cast<std::size_t>(gpu)]; }, std::greater<>());
    return gpus;
  }

  /// Demands with existing or new slices on a GPU.
  std::set<int> demands_at(int gpu) const {
    std::set<int> demands;
    for (const int i : view_.gpus[static_cast<std::size_t>(gpu)].standing) {
      if (view_.standing[static_cast<std::size_t>(i)].best > 0) {
        demands.insert(view_.standing[static_cast<std::size_t>(i)].demand);
      }
    }
    for (const Held& held : best_[static_cast<std::size_t>(gpu)]) demands.insert(held.demand);
    return demands;
  }

  /// GPUs with a demand in common, and those with room.
  std::vector<int> neighbours_of(int gpu) const {
    const std::set<int> own = demands_at(gpu);
    std::vector<int> gpus;
    for (const int other : all_gpus(view_)) {
      if (other == gpu) continue;
      const std::set<int> theirs = demands_at(other);
      const auto is_common = [&](int demand) { return own.contains(demand); };
      if (std::ranges::any_of(theirs, is_common)) gpus.push_back(other);
    }
    return gpus;
  }

  bool improve_pairs() {
    bool is_better = false;
    for (const int gpu : changed_gpus()) {
      if (try_gpus({gpu})) is_better = true;
      for (const int other : neighbours_of(gpu)) {
        if (is_done() || local_left_ <= 0) return is_better;
        if (try_gpus({gpu, other})) is_better = true;
      }
    }
    return is_better;
  }

  bool improve_several() {
    for (std::size_t tries = 0; tries < kTriesMax; ++tries) {
      if (is_done() || local_left_ <= 0) return false;
      const std::vector<int> changed = changed_gpus();
      if (changed.empty()) break;
      std::vector<int> gpus = {changed[rng_.below(changed.size())]};
      const std::size_t size = 3 + rng_.below(kGpusMax - 2);
      while (gpus.size() < size) {
        const std::vector<int> near = neighbours_of(gpus[rng_.below(gpus.size())]);
        if (near.empty()) break;
        const int next = near[rng_.below(near.size())];
        if (std::ranges::find(gpus, next) != gpus.end()) break;
        gpus.push_back(next);
      }
      if (try_gpus(std::move(gpus))) return true;
    }
    return false;
  }

  bool try_gpus(std::vector<int> gpus) {
    std::int64_t nodes = std::min(try_nodes_, local_left_);
    const std::int64_t before = nodes;
    GpuSearch search(view_, room_, best_, std::move(gpus));
    const bool is_better = take(search.run(best_changes_ - 1, nodes));
    local_left_ -= before - std::max<std::int64_t>(0, nodes) + static_cast<std::int64_t>(view_.gpus.size());
    return is_better;
  }

  const TransitionView& view_;
  GpuRoom room_;
  Starter starter_;
  const Packer& pack_;
  Rng rng_ = Rng(0).split("transition");
  std::int64_t nodes_left_ = 0;
  std::int64_t local_left_ = 0;
  std::int64_t try_nodes_ = kTryNodesFirst;
  std::int64_t bound_ = 0;
  SlicesByGpu best_;
  std::int64_t best_changes_ = INT64_MAX;
};

}  // namespace

Improved fewest_changes_plan(const TransitionView& view, const PackingProblem& problem, const Packing& fewest,
                             const Packer& pack, std::int64_t nodes_max) {
  return Improving(view, problem, fewest, pack, nodes_max).run();
}

}  // namespace berth::transition::detail
