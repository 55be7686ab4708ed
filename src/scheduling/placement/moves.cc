#include "scheduling/placement/moves.h"

#include <algorithm>
#include <bit>

#include "base/core/ensure.h"
#include "scheduling/placement/slices.h"

namespace berth::placement {
namespace {

int gpu_of(const Spot& spot) { return std::countr_zero(spot.gpus); }

/// Searches for the ways to clear room for one pod with exactly this many moves.
class ClearanceSearch {
 public:
  ClearanceSearch(const Cluster& cluster, const MovablePods& movable, const Shape& shape)
      : cluster_(cluster), movable_(movable), shape_(shape) {}

  std::vector<Clearance> with_moves(int moves) {
    found_.clear();
    for (const NodeIndex node : Indices<NodeIndex>(cluster_.node_count())) {
      if (found_.size() >= kClearancesMax) break;
      if (!cluster_.node(node).cut || !shape_.fits_model[static_cast<std::size_t>(cluster_.state(node).model)])
        continue;
      if (shape_.slices.empty()) {
        clear_whole_gpus(node, moves);
      } else {
        clear_part_of_gpus(node, moves);
      }
    }
    return std::move(found_);
  }

 private:
  /// Whether CPU and memory suffice once these pods are gone.
  [[nodiscard]] bool has_room_without(NodeIndex node, const std::vector<Lying>& gone) const {
    std::int64_t cpu = cluster_.state(node).cpu_free;
    std::int64_t memory = cluster_.state(node).memory_free;
    for (const Lying& pod : gone) {
      const Shape& shape = cluster_.problem().shapes[static_cast<std::size_t>(pod.shape)];
      cpu += shape.cpu_milli;
      memory += shape.memory_mib;
    }
    return cpu >= shape_.cpu_milli && memory >= shape_.memory_mib;
  }

  /// Frees the GPUs with the fewest slices, all of them movable, until there are enough.
  void clear_whole_gpus(NodeIndex node, int moves) {
    const NodeState& state = cluster_.state(node);
    int missing = shape_.gpu_count - std::popcount(state.whole_free);
    if (missing <= 0 || missing > moves || shape_.gpu_count > state.gpu_count) return;
    std::vector<std::pair<std::size_t, int>> by_slices;
    for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
      const mig::SiteSet standing = cluster_.slices_on(node, gpu);
      const std::size_t count = movable_.on(node, gpu).size();
      if (standing != 0 && static_cast<int>(count) == std::popcount(standing)) by_slices.emplace_back(count, gpu);
    }
    std::ranges::sort(by_slices);
    if (static_cast<int>(by_slices.size()) < missing) return;
    Clearance clearance{.pods = {}, .spot = {.node = node, .gpus = state.whole_free}};
    for (const auto& [count, gpu] : by_slices) {
      if (missing-- == 0) break;
      clearance.pods.insert(clearance.pods.end(), movable_.on(node, gpu).begin(), movable_.on(node, gpu).end());
      clearance.spot.gpus = static_cast<GpuSet>(clearance.spot.gpus | (1U << static_cast<unsigned>(gpu)));
    }
    if (static_cast<int>(clearance.pods.size()) != moves || !has_room_without(node, clearance.pods)) return;
    clearance.spot.gpus = first_free_gpus({.whole_free = clearance.spot.gpus, .model = state.model}, shape_.gpu_count);
    found_.push_back(std::move(clearance));
  }

  void clear_part_of_gpus(NodeIndex node, int moves) {
    const NodeState& state = cluster_.state(node);
    const Cut& cut = cluster_.problem().cuts[static_cast<std::size_t>(*cluster_.node(node).cut)];
    for (int gpu = 0; gpu < state.gpu_count; ++gpu) {
      const std::vector<Lying>& pods = movable_.on(node, gpu);
      if (static_cast<int>(pods.size()) < moves || state.free_of[static_cast<std::size_t>(gpu)] < kGpuMilli) continue;
      chosen_.clear();
      choose_pods(cut, node, gpu, 0, moves);
    }
  }

  /// Tries every set of `left` more pods of a GPU, from `from` on.
  void choose_pods(const Cut& cut, NodeIndex node, int gpu, std::size_t from, int left) {
    if (found_.size() >= kClearancesMax) return;
    if (left == 0) return try_chosen(cut, node, gpu);
    const std::vector<Lying>& pods = movable_.on(node, gpu);
    for (std::size_t i = from; i + static_cast<std::size_t>(left) <= pods.size(); ++i) {
      chosen_.push_back(pods[i]);
      choose_pods(cut, node, gpu, i + 1, left - 1);
      chosen_.pop_back();
    }
  }

  void try_chosen(const Cut& cut, NodeIndex node, int gpu) {
    mig::SiteSet standing = cluster_.slices_on(node, gpu);
    for (const Lying& pod : chosen_) standing &= ~pod.spot.slices;
    for (const auto& needs : shape_.slices) {
      const auto& need = needs[static_cast<std::size_t>(*cluster_.node(node).cut)];
      if (!need) continue;
      const auto sites = lowest_sites(cut, standing, *need);
      if (!sites || !has_room_without(node, chosen_)) continue;
      found_.push_back(
          {.pods = chosen_,
           .spot = {.node = node, .gpus = static_cast<GpuSet>(1U << static_cast<unsigned>(gpu)), .slices = *sites}});
      return;
    }
  }

  const Cluster& cluster_;
  const MovablePods& movable_;
  const Shape& shape_;
  std::vector<Lying> chosen_;
  std::vector<Clearance> found_;
};

/// Changes that can be undone.
class Attempt {
 public:
  explicit Attempt(const MovingParts& parts) : parts_(parts) {}

  void place(const Spot& spot, const Shape& shape) {
    parts_.cluster->place(spot, shape);
    parts_.touch(spot.node);
    done_.push_back({.spot = spot, .shape = &shape, .is_placed = true});
  }
  void remove(const Spot& spot, const Shape& shape) {
    parts_.cluster->remove(spot, shape);
    parts_.touch(spot.node);
    done_.push_back({.spot = spot, .shape = &shape, .is_placed = false});
  }
  void take_back() {
    for (; !done_.empty(); done_.pop_back()) {
      const Step& step = done_.back();
      if (step.is_placed) {
        parts_.cluster->remove(step.spot, *step.shape);
      } else {
        parts_.cluster->place(step.spot, *step.shape);
      }
      parts_.touch(step.spot.node);
    }
  }

 private:
  struct Step {
    Spot spot;
    const Shape* shape = nullptr;
    bool is_placed = false;
  };
  const MovingParts& parts_;
  std::vector<Step> done_;
};

}  // namespace

void MovablePods::add(const Lying& pod) {
  if (std::popcount(pod.spot.slices) != 1) return;
  by_gpu_[place(pod.spot.node, gpu_of(pod.spot))].push_back(pod);
}

void MovablePods::remove(const Lying& pod) {
  if (std::popcount(pod.spot.slices) != 1) return;
  const auto erased = std::erase_if(by_gpu_[place(pod.spot.node, gpu_of(pod.spot))],
                                    [&](const Lying& other) { return other.decision == pod.decision; });
  ENSURE(erased == 1);
}

std::vector<Clearance> clearances_for(const Cluster& cluster, const MovablePods& movable, ShapeIndex shape,
                                      int moves_max) {
  ClearanceSearch search(cluster, movable, cluster.problem().shapes[static_cast<std::size_t>(shape)]);
  std::vector<Clearance> all;
  for (int moves = 1; moves <= moves_max; ++moves) {
    std::vector<Clearance> found = search.with_moves(moves);
    all.insert(all.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  }
  return all;
}

std::optional<RoomMade> make_room(const std::vector<Clearance>& clearances, const Shape& shape,
                                  const MovingParts& parts) {
  const auto shape_of = [&](const Lying& pod) -> const Shape& {
    return parts.cluster->problem().shapes[static_cast<std::size_t>(pod.shape)];
  };
  for (const Clearance& clearance : clearances) {
    Attempt attempt(parts);
    RoomMade made{.spot = {}, .moves = {}};
    for (const Lying& pod : clearance.pods) {
      const auto again = parts.choose_again(pod, clearance.spot);
      if (!again) break;
      attempt.remove(pod.spot, shape_of(pod));
      attempt.place(*again, shape_of(pod));
      made.moves.push_back({.decision = pod.decision, .spot = *again});
    }
    const bool is_cleared = made.moves.size() == clearance.pods.size();
    if (const auto spot = is_cleared ? parts.choose() : std::nullopt) {
      attempt.place(*spot, shape);
      made.spot = *spot;
      return made;
    }
    attempt.take_back();
  }
  return std::nullopt;
}

}  // namespace berth::placement
