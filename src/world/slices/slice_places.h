/// Which slices exist or wait for room, by index and by place.
///
/// Memory depends on how many exist at one time, not on how many there have been: the index of a slice that is gone is
/// reused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "domain/values/scenario.h"
#include "world/slices/slice_index.h"
#include "world/slices/tracked_slice.h"

namespace berth::world {

class SlicePlaces {
 public:
  /// Keeps a reference to `scenario`.
  explicit SlicePlaces(const Scenario& scenario);

  // ---- indices

  [[nodiscard]] const TrackedSlice& at(SliceIndex slice) const { return slices_[slice.value]; }
  [[nodiscard]] TrackedSlice& at(SliceIndex slice) { return slices_[slice.value]; }
  /// All of them by index, including those that are gone.
  [[nodiscard]] const std::vector<TrackedSlice>& all() const { return slices_; }
  [[nodiscard]] std::vector<TrackedSlice>& all() { return slices_; }
  /// Whether no index is kept for reuse: indices are then in the order of creation.
  [[nodiscard]] bool are_indices_in_order() const { return free_.empty(); }

  /// Adds a slice, which has no place yet.
  [[nodiscard]] SliceIndex add(const Slice& slice) { return add_as(slice, sequence_++); }
  /// Adds one that had that TrackedSlice::sequence before.
  [[nodiscard]] SliceIndex add_again(const Slice& slice, std::uint64_t sequence);
  /// Frees the index of a slice that is gone. Requires: it has no place.
  void release(SliceIndex slice);

  // ---- places

  /// The slices that exist on a GPU, by start.
  [[nodiscard]] const std::map<int, SliceIndex>& existing(GpuId gpu) const { return existing_[gpu.index]; }
  /// Those that wait for room there, in the order of their creation.
  [[nodiscard]] const std::vector<SliceIndex>& waiting(GpuId gpu) const { return waiting_[gpu.index]; }
  [[nodiscard]] std::optional<SliceIndex> find_existing(const Slice& slice) const;
  /// The same, including those that wait.
  [[nodiscard]] std::optional<SliceIndex> find(const Slice& slice) const;
  /// Whether a slice fits between those that exist.
  [[nodiscard]] bool has_room(const Slice& slice) const;
  /// Whether an existing slice that is not to be destroyed overlaps the place that a slice needs.
  [[nodiscard]] bool clashes_with_staying(const Slice& slice) const;

  /// The slice gets its place (loses it).
  void place(SliceIndex slice);
  void remove(SliceIndex slice);
  /// The slice begins to wait for room (stops waiting).
  void wait(SliceIndex slice);
  void stop_waiting(SliceIndex slice);
  /// The slices of a GPU that lost their places: those that waited, then those that existed, by start.
  struct Cleared {
    std::vector<SliceIndex> waiting;
    std::map<int, SliceIndex> existing;
  };
  [[nodiscard]] Cleared clear(GpuId gpu);
  /// Waiting slices for which room may have become free since the last call, in the order of their creation.
  [[nodiscard]] std::vector<SliceIndex> take_candidates();

 private:
  [[nodiscard]] SliceIndex add_as(const Slice& slice, std::uint64_t sequence);

  const Scenario& scenario_;
  std::vector<TrackedSlice> slices_;  ///< by SliceIndex
  std::vector<SliceIndex> free_;      ///< of slices that are gone
  std::uint64_t sequence_ = 0;
  std::vector<std::map<int, SliceIndex>> existing_;  ///< by GPU
  std::vector<std::vector<SliceIndex>> waiting_;     ///< by GPU
  std::vector<GpuId> roomier_gpus_;                  ///< where a slice began to wait or left, since take_candidates
};

}  // namespace berth::world
