/// The causes that keep idle GPU capacity from being used.
///
/// A GPU's idle milli are those that no pod takes; of a GPU with slices, the share of its units that are free, rounded
/// down to a milli. For a pod of the list and a node, its idle milli are divided; each goes to the first cause that
/// holds:
/// - model: the pod does not accept the model, or not even an empty GPU of it holds one of the pod's alternatives.
///   Applies to all of the node.
/// - rest: a GPU has less free than the pod needs of one; subdivided by the amount free on it.
/// - start: a GPU has enough free units, but none of the pod's slices has a legal start on it.
/// - GPUs: the remaining GPUs suit, but there are fewer than the pod needs.
/// - CPU: there are enough GPUs, but the node has too little free CPU (whatever its memory).
/// - memory: only the node's free memory is too little.
/// - gang: the pod fits, but its gang as a whole does not, when its pods take the first node, GPU and start, one after
///   the other.
/// - usable: the pod could use it.
/// Summed over the rows of the list that request GPUs, each counting once, so causes are in milli x rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "scheduling/placement/cluster.h"

namespace berth::placement {

/// `kRest0` to `kRest3`: less than 100, 250, 500, 1000 milli are free on the GPU.
enum class IdleCause { kUsable, kGang, kMemory, kCpu, kGpus, kStart, kRest3, kRest2, kRest1, kRest0, kModel };
/// A GPU with idle milli has a rest of size 0 to 3.
[[nodiscard]] constexpr int rest_size(int idle_milli) {
  return idle_milli < 100 ? 0 : idle_milli < 250 ? 1 : idle_milli < 500 ? 2 : 3;
}
inline constexpr std::size_t kIdleCauseCount = 11;

/// Such as "CPU used up"; "rest of 1–99 milli".
[[nodiscard]] std::string_view name_of(IdleCause cause);

/// The idle capacity of a cluster at one time.
struct IdleCapacity {
  std::int64_t idle_milli = 0;
  std::int64_t rows = 0;                                      ///< the number of rows in question
  std::array<std::int64_t, kIdleCauseCount> milli_rows = {};  ///< by cause; in all idle_milli x rows

  [[nodiscard]] std::int64_t of(IdleCause cause) const { return milli_rows[static_cast<std::size_t>(cause)]; }
  IdleCapacity& operator+=(const IdleCapacity& other);  ///< of as many rows
};

/// The rows in question: all that request GPUs, or the most frequent shapes if there are too many, at least one.
struct AskedRows {
  std::vector<ShapeIndex> shapes;  ///< the most frequent first
  std::int64_t rows = 0;           ///< of these shapes
  std::int64_t rows_with_gpus = 0;
};
/// The limit on nodes x shapes examined, unless there are more nodes than that.
inline constexpr std::int64_t kIdleLooksMax = 4'000'000;
/// The rows of a problem whose idle capacity is examined, within kIdleLooksMax.
[[nodiscard]] AskedRows asked_rows(const Problem& problem);

/// By node, in the cluster's order: the usable part, in milli x rows. Its sum is `of(IdleCause::kUsable)` +
/// `of(IdleCause::kGang)`.
using UsableByNode = std::vector<std::int64_t>;

/// O(nodes x shapes x GPUs), and nodes x rows for distinct gangs, of which those beyond `kIdleLooksMax` looks count as
/// fitting. The cluster is unchanged afterwards.
[[nodiscard]] IdleCapacity idle_capacity(Cluster& cluster, const AskedRows& asked, UsableByNode* usable = nullptr);

/// The milli of a GPU that no pod takes.
[[nodiscard]] int idle_milli_of(const Cluster& cluster, NodeIndex node, int gpu);

}  // namespace berth::placement
