/// The state of the engine: what it knows of slices and services. It changes only by applying an event or an accepted
/// plan.
#pragma once

#include <cstddef>
#include <cstdint>

#include "domain/event.h"
#include "domain/plan.h"
#include "domain/snapshot.h"

namespace berth {

class ClusterState {
 public:
  /// `history_seconds`: how many of a service's latest seconds are kept.
  ClusterState(std::size_t service_count, std::int64_t history_seconds);

  /// Applies one event; the version grows by one. Events about slices or services that are not known are ignored: a
  /// world may report what another owner did.
  void apply(const Event& event);
  /// Records what an accepted plan has asked for: its slices are on their way (not ready, or leaving).
  void apply(const Plan& plan);
  void set_now(Instant now) { snapshot_.now = now; }

  /// What the stages read; valid until the next change.
  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

 private:
  /// The slice that stands there and was not asked to go, if any.
  [[nodiscard]] StandingSlice* find_staying(const Slice& slice);
  /// Forgets a slice; of two at one place the one that was asked to go.
  void remove(const Slice& slice);
  [[nodiscard]] ServiceState* find(ServiceId service);

  std::int64_t history_seconds_;
  Snapshot snapshot_;
};

}  // namespace berth
