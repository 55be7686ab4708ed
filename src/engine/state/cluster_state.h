/// The state of the engine: what it knows of slices and services. It changes only by applying an event or an accepted
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

/// Everything that a ClusterState remembers.
struct ClusterMemory {
  Snapshot snapshot;
  std::vector<std::uint64_t> last_numbers;  ///< Action::number by GPU, as far as there were actions
};

class ClusterState {
 public:
  /// `history_seconds`: how many of a service's latest seconds are kept.
  ClusterState(std::size_t service_count, std::int64_t history_seconds);

  /// Applies one event; the version grows by one. Events about slices or services that are not known are ignored: a
  /// world may report actions of others. So are those about a predecessor of a slice, or its earlier holders.
  void apply(const Event& event);
  /// Gives each action of an accepted plan its number.
  void number(Plan& plan);
  /// Records the actions of an accepted plan that takes effect at `acts_at`: its slices are on their way (not ready, or
  /// leaving), and its changes count for their services, unless it is the first layout. If a service has changes at
  /// more than 4,096 instants of an hour, the oldest ones are merged and take the latest of their times.
  void apply(const Plan& plan, Instant acts_at);
  void set_now(Instant now) { snapshot_.now = now; }
  /// The first layout was decided, and is what stands now: nothing, too.
  void end_first_layout() { snapshot_.has_first_layout = true; }

  /// By GPU, as far as there were actions: the latest number that one got.
  [[nodiscard]] const std::vector<std::uint64_t>& last_numbers() const { return last_numbers_; }
  /// What the stages read; valid until the next change.
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

  [[nodiscard]] ClusterMemory memory() const { return {.snapshot = snapshot_, .last_numbers = last_numbers_}; }
  /// From now on it is the state that was saved.
  void restore(const ClusterMemory& memory) {
    snapshot_ = memory.snapshot;
    last_numbers_ = memory.last_numbers;
  }

 private:
  /// The slice at that place that is not to be destroyed, if any.
  [[nodiscard]] StandingSlice* find_staying(const Slice& slice);
  void insert(StandingSlice standing);
  /// No slice stands on the GPU any more.
  void clear(GpuId gpu);
  void remove(const SliceGone& gone);
  void fail(const ActionFailed& failed, Instant at);
  void note_failed_creation(const ActionFailed& failed, Instant at);
  /// `number`: of the action that failed.
  void note_failure(GpuId gpu, std::uint64_t number, Instant at);
  void make_ready(const SliceReady& ready);
  /// Slices or state of the GPU changed.
  void touch(GpuId gpu);
  /// Corrects what stands on a GPU to what the world sees there.
  void reconcile(const GpuObserved& observed);
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
  std::vector<std::uint64_t> last_numbers_;  ///< by GPU, as far as there were actions
  Snapshot snapshot_;
};

}  // namespace berth
