/// The state of the engine: its knowledge of slices and services. It changes only by applying an event or an accepted
/// plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/event.h"
#include "domain/values/plan.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The complete state of a ClusterState, to be saved.
struct ClusterMemory {
  Snapshot snapshot;
  std::vector<std::uint64_t> last_numbers;  ///< Action::number by GPU, up to the last one with an action
};

class ClusterState {
 public:
  /// `history_seconds`: how many of a service's latest seconds are kept.
  ClusterState(std::size_t service_count, std::int64_t history_seconds);

  /// Applies one event; the version grows by one. Events about unknown slices or services are ignored, as a world may
  /// report foreign actions; so are those about a predecessor of a slice, or its earlier holders.
  void apply(const Event& event);
  /// Gives each action of an accepted plan its number.
  void number(Plan& plan);
  /// Records the actions of an accepted plan that takes effect at `acts_at`: its slices are changing (not ready, or
  /// leaving), and its changes count for their services, unless it is the first layout. If a service has changes at
  /// more than 4,096 instants of an hour, the oldest ones are merged and take the latest of their times.
  void apply(const Plan& plan, Instant acts_at);
  void set_now(Instant now) { snapshot_.now = now; }
  /// The engine shows its stages another form of the service's spec from now on (ServiceState::revision).
  void show_anew(ServiceId service);
  /// The first layout is decided; it is the current state, which may be empty.
  void end_first_layout() { snapshot_.has_first_layout = true; }

  /// By GPU, up to the last one with an action: the number of its latest action.
  [[nodiscard]] const std::vector<std::uint64_t>& last_numbers() const { return last_numbers_; }
  /// The snapshot that the stages read; valid until the next change.
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

  [[nodiscard]] ClusterMemory memory() const { return {.snapshot = snapshot_, .last_numbers = last_numbers_}; }
  /// Replaces the state by a saved one.
  void restore(const ClusterMemory& memory) {
    snapshot_ = memory.snapshot;
    last_numbers_ = memory.last_numbers;
  }

 private:
  /// The slice at that place that is not leaving, if any.
  [[nodiscard]] StandingSlice* find_staying(const Slice& slice);
  void insert(StandingSlice standing);
  /// Removes all slices of the GPU.
  void clear(GpuId gpu);
  void remove(const SliceGone& gone);
  void fail(const ActionFailed& failed, Instant at);
  void note_failed_creation(const ActionFailed& failed, Instant at);
  /// `number`: of the action that failed.
  void note_failure(GpuId gpu, std::uint64_t number, Instant at);
  void make_ready(const SliceReady& ready);
  /// Records that slices or state of the GPU changed.
  void touch(GpuId gpu);
  /// Corrects the slices of a GPU to those that the world observes.
  void reconcile(const GpuObserved& observed);
  void adopt(const SliceAdopted& adopted);
  [[nodiscard]] ServiceState* find(ServiceId service);
  [[nodiscard]] GpuState& gpu_state(GpuId gpu);
  /// The latest number of an action there; 0: there was none.
  [[nodiscard]] std::uint64_t last_number(GpuId gpu) const;
  void lose(const GpuLost& lost, Instant at);
  void set_scheduling(GpuId gpu, GpuScheduling scheduling, const std::string& reason, Instant at);
  void note_rented(const GpuRented& rented, Instant at);
  /// A draining GPU without slices is cordoned.
  void end_drain(GpuId gpu, Instant at);
  void set(const ServiceSet& set, Instant at);
  void forget_variants_of(ServiceId service);
  void remove(const ServiceRemoved& removed);
  void note_second(const ServiceSecond& second);
  void note_changes(const Plan& plan, Instant acts_at);

  std::int64_t history_seconds_;
  std::vector<std::uint64_t> last_numbers_;  ///< by GPU, up to the last one with an action
  Snapshot snapshot_;
};

}  // namespace berth
