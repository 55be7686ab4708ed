/// The snapshot: what the stages may read. Only `engine/state/` builds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/core/chunked_list.h"
#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/gpu_state.h"
#include "domain/values/slice.h"

namespace berth {

/// A slice as the engine knows it.
struct StandingSlice {
  Holding holding;
  std::optional<PointChoice> point = std::nullopt;  ///< as requested; absent: the default
  bool is_ready = false;                            ///< created, and working for its holders
  bool is_leaving = false;                          ///< to be destroyed
  std::uint64_t generation = 0;                     ///< Action::number of its creation
  std::uint64_t assignment = 0;  ///< Action::number of its latest assignment, or else of its creation
  bool is_foreign = false;       ///< not made by this engine: its place is taken, and it is never changed

  [[nodiscard]] Allocation allocation() const { return {.holding = holding, .point = point}; }
  friend bool operator==(const StandingSlice&, const StandingSlice&) = default;
};

/// Slices of a service that were created or destroyed at one instant.
struct ChangeCount {
  Instant at;  ///< when their plan took effect
  std::int64_t count = 0;
  friend bool operator==(const ChangeCount&, const ChangeCount&) = default;
};

/// See ServiceState::revision.
inline constexpr unsigned kSetRevisionBits = 40;
/// The ServiceSet::revision of a ServiceState::revision.
[[nodiscard]] constexpr std::uint64_t set_revision(std::uint64_t revision) {
  return revision & ((std::uint64_t{1} << kSetRevisionBits) - 1);
}

/// A service as the engine knows it.
struct ServiceState {
  bool is_absent = false;    ///< ServiceSpec::is_absent
  std::uint64_t number = 0;  ///< of the service in this place, never reused; 0: there from the beginning
  /// 0: the spec is as at the beginning. The lower kSetRevisionBits are the ServiceSet::revision of the spec; the upper
  /// ones count what the engine itself changed of what its stages see of it (its GPU model, predicted rows).
  std::uint64_t revision = 0;
  Instant since;           ///< when it took the place
  Instant revised_at;      ///< when its spec was set
  Instant retrains_since;  ///< the start from which its retraining's due times count
  /// The latest seconds seen, oldest first, at most history_seconds of them; negative seconds are history before the
  /// run.
  ChunkedList<ServiceSecond> seconds;
  bool is_retraining_due = false;  ///< due and not done
  /// Of the last hour, oldest first; the first layout does not count. engine/state/changes.h says which budget a change
  /// counts against.
  ChunkedList<ChangeCount> changes;
  friend bool operator==(const ServiceState&, const ServiceState&) = default;
};

/// Neighbours in a list of slices, while the list does not change.
class SliceRange {
 public:
  using Iterator = ChunkedList<StandingSlice>::Iterator;
  SliceRange(Iterator begin, Iterator end) : begin_(begin), end_(end) {}

  [[nodiscard]] Iterator begin() const { return begin_; }
  [[nodiscard]] Iterator end() const { return end_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

/// The slices of a list that are not to be destroyed, while the list does not change.
class StayingSlices {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = StandingSlice;
    using difference_type = std::ptrdiff_t;
    using reference = const StandingSlice&;
    using pointer = const StandingSlice*;

    Iterator() = default;
    Iterator(SliceRange::Iterator at, SliceRange::Iterator end) : at_(at), end_(end) { skip_leaving(); }

    reference operator*() const { return *at_; }
    pointer operator->() const { return &*at_; }
    Iterator& operator++() {
      ++at_;
      skip_leaving();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skip_leaving() {
      while (at_ != end_ && at_->is_leaving) ++at_;
    }

    SliceRange::Iterator at_;
    SliceRange::Iterator end_;
  };

  explicit StayingSlices(const ChunkedList<StandingSlice>& slices) : slices_(&slices) {}
  [[nodiscard]] Iterator begin() const { return {slices_->begin(), slices_->end()}; }
  [[nodiscard]] Iterator end() const { return {slices_->end(), slices_->end()}; }

 private:
  const ChunkedList<StandingSlice>* slices_;
};

/// A pause of planning: why and since when.
struct PlanningPause {
  std::string reason;
  Instant since;
  friend bool operator==(const PlanningPause&, const PlanningPause&) = default;
};

/// A copy is cheap (base/core/chunked_list.h): copy a snapshot to keep it.
struct Snapshot {
  std::uint64_t version = 0;  ///< grows by one with each event applied
  Instant now;
  /// Grows by one when a service is set or removed, and by NoChangesSet, TimesMeasured and SpeedMeasured.
  std::uint64_t specs_version = 0;
  ChunkedList<StandingSlice> slices;   ///< sorted by slice
  std::vector<ServiceState> services;  ///< by ServiceId
  std::vector<GpuState> gpus;          ///< by GpuId, as far as something was reported; later ones are ok and open
  /// Grows when a slice appears, begins to leave, disappears or changes holders, or when the state of a GPU changes.
  std::uint64_t layout_version = 0;
  /// The layout_version after a GPU's latest such change, by GpuId; shorter if later GPUs had none.
  std::vector<std::uint64_t> gpu_versions;
  std::optional<PlanningPause> pause;  ///< while it lasts no plan takes effect, and no question is asked
  bool has_first_layout = false;       ///< it was decided; it may be empty

  /// The slices of a GPU, in order. O(log slices).
  [[nodiscard]] SliceRange slices_on(GpuId gpu) const;
  /// The slices at a place: at most one that stays, and earlier ones that are not gone yet. O(log slices).
  [[nodiscard]] SliceRange slices_at(const Slice& place) const;
  /// The state of a GPU; ok and open if nothing was reported.
  [[nodiscard]] GpuState gpu_state(GpuId gpu) const { return gpu.index < gpus.size() ? gpus[gpu.index] : GpuState(); }
  /// Whether plans may change the GPU.
  [[nodiscard]] bool is_open(GpuId gpu) const { return gpu.index >= gpus.size() || gpus[gpu.index].is_open(); }
  [[nodiscard]] bool is_draining(GpuId gpu) const {
    return gpu.index < gpus.size() && gpus[gpu.index].scheduling == GpuScheduling::kDraining;
  }

  /// Whether a removed service holds the slice: it is to be destroyed.
  [[nodiscard]] bool is_orphan(const StandingSlice& slice) const;
  /// The GPUs with foreign slices, ascending. O(slices).
  [[nodiscard]] std::vector<GpuId> gpus_with_foreign_slices() const;
  /// The slices that are not to be destroyed.
  [[nodiscard]] StayingSlices staying() const { return StayingSlices(slices); }
  /// Whether a plan made now is the first layout: it takes effect at once, and costs nothing unless it takes its time
  /// (EngineRules).
  [[nodiscard]] bool is_before_first_layout() const { return !has_first_layout && slices.empty() && now == Instant(); }
  /// When a plan made now takes effect, if planning takes `planning`.
  [[nodiscard]] Instant takes_effect_at(Micros planning) const {
    return is_before_first_layout() ? now : now + planning;
  }
};

}  // namespace berth
