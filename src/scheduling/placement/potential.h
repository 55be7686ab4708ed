/// The potential of a node: what can still be placed on it.
///
/// Model: groups j are the rows of the list with GPUs that are alike (CPU c, memory m, n GPUs with a milli each,
/// models), p their share of these rows, g = n a. On a node with C CPU, M memory and F free milli, a group counts if
/// its model is allowed and C >= c, M >= m. K is how many of its pods the GPUs could take, y = min(K, C / c, M / m),
/// and U the free milli on GPUs that can take one (n = 1), or on free GPUs if they are enough. The potential is
///
///   0.45 sum W g y + 0.55 sum w U + sum over GPUs of v + 3 (F / 1000)^2
///
/// with v the milli of a GPU that random pods are expected to take, and weights that sum to 1 each:
///
///   W ~ p e (g / 1000)^-0.1 max(V / all GPU milli, 0.002)^-0.6      w ~ p e (g / 1000)^-0.65
///
/// V are the milli that the group alone could still take in the cluster: scarce groups weigh more. e = ((a + v(1000 -
/// a)) / 1000)^-3 for n = 1, else 1: pods that leave remainders of little use weigh more, so that room that suits them
/// is kept. The first sum preserves CPU and memory for the GPUs, the second is FGD's measure with weights, the square
/// keeps nodes whole.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "scheduling/placement/gpu_outlook.h"

namespace berth::placement {

/// The state of a node on which its potential depends: the same for all orders of its GPUs.
struct PotentialKey {
  std::int32_t cpu_free = 0;  ///< lists have at most 10^9
  std::int32_t memory_free = 0;
  std::array<GpuStateIndex, kNodeGpusMax> gpus = {};  ///< ascending; only the node's GPUs
  std::int32_t gpu_count = 0;
  std::int32_t model = 0;
  friend bool operator==(const PotentialKey&, const PotentialKey&) = default;

  /// Replaces one GPU state by another. Requires: the node has a GPU in state `from`.
  void exchange(GpuStateIndex from, GpuStateIndex to);
};

struct PotentialKeyHash {
  [[nodiscard]] std::size_t operator()(const PotentialKey& key) const noexcept;
};

/// Caches potentials by key: many nodes are alike, and most were evaluated before.
class Potential {
 public:
  Potential(const Problem& problem, GpuOutlooks& outlooks);

  /// The potential in GPU milli. O(1) if cached, else O(GPUs x requests + groups).
  [[nodiscard]] double of(const PotentialKey& key);
  /// Recomputes the weights of the groups from what they could still take on these nodes, and clears the cache, if at
  /// least the share `shift_min` of the weights would move to other groups; always the first time. Returns whether it
  /// did.
  bool weigh(const std::vector<PotentialKey>& nodes, std::int64_t capacity_milli, double shift_min);

 private:
  static constexpr std::size_t kLanes = 8;
  using Lanes = std::array<float, kLanes>;
  /// Groups of one model with equal GPU requests, side by side for the innermost loop. Lanes without a group weigh
  /// nothing.
  struct Block {
    std::size_t count_at = 0;  ///< where `counts_` and `usable_` have K and U
    Lanes per_cpu = {};        ///< 1 / CPU milli, or a number so large that CPU never limits
    Lanes per_memory = {};
    Lanes weight = {};                            ///< 0.45 W g
    Lanes weight_usable = {};                     ///< 0.55 w
    std::array<std::int32_t, kLanes> group = {};  ///< of `groups_`; -1: none
  };
  struct Group {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
    int gpu_count = 0;
    int gpu_milli = 0;
    std::size_t count_at = 0;
    std::vector<bool> fits_model;
    double share = 0;
  };
  /// On one cache line, because reading it is the cost of a lookup.
  struct alignas(64) Slot {
    PotentialKey key;
    double value = 0;
    std::uint32_t weighing = 0;  ///< the number of the weights with which it was computed
  };

  /// Where in `counts_` the sizes begin, after the blocks of requests.
  [[nodiscard]] std::size_t sizes_begin() const;
  void add_groups(const Problem& problem);
  void divide_by_model(std::size_t models);
  void weigh_usable();
  /// W of the groups.
  [[nodiscard]] std::vector<double> weights_on(const std::vector<PotentialKey>& nodes, std::int64_t capacity_milli);
  template <class Visit>
  void for_each_lane(const Visit& visit);
  [[nodiscard]] double unscaled_weight(const Group& group) const;
  /// Fills `counts_` and `usable_` for a node; returns its free milli.
  int count(const PotentialKey& key);
  [[nodiscard]] double compute(const PotentialKey& key);

  GpuOutlooks* outlooks_;
  std::vector<Group> groups_;
  std::vector<double> weights_;  ///< by group: W; empty before the first weighing
  std::vector<int> sizes_;       ///< numbers of GPUs above 1 that pods have
  std::vector<std::vector<Block>> of_model_;
  std::vector<float> counts_;  ///< by request, then by size
  std::vector<float> usable_;
  std::vector<Slot> slots_;
  std::uint32_t weighing_ = 1;  ///< counts the calls of weigh() that renew
};

}  // namespace berth::placement
