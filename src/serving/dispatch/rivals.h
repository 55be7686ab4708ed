/// Policies of other servers, as published: they reject and drop nothing, and know neither priorities nor weights.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "serving/dispatch/device_state.h"

namespace berth::serving {

/// What to run: the first `count` requests of a model's queue.
struct BatchChoice {
  ModelIndex model;
  std::size_t count = 0;
};

/// A load, and the models to evict before it.
struct LoadChoice {
  ModelIndex model;
  std::vector<ModelIndex> victims;
};

class RivalPolicy {
 public:
  /// `delay` is used by kDelay alone.
  RivalPolicy(RivalKind kind, Micros delay) : kind_(kind), delay_(delay) {}

  void add_model() { caps_.push_back(1); }

  /// The batch for a free lane: of the resident models that may run, the one whose oldest request is oldest.
  [[nodiscard]] std::optional<BatchChoice> choose_batch(const DeviceState& device, Instant now) const;
  /// The load to start: one that was asked for first, then for the model whose oldest request is oldest, of those that
  /// wait for one. Requires: none runs.
  [[nodiscard]] static std::optional<LoadChoice> choose_load(const DeviceState& device, Instant now);
  /// Learns from a batch that ended. Requires: the batch is no longer on its lane.
  void learn(const RunningBatch& batch, RowCount rows_max, Instant now);
  /// When a choice may differ although nothing happens.
  [[nodiscard]] Instant wake_at(const DeviceState& device, Instant now) const;

 private:
  [[nodiscard]] RowCount rows_max(const DeviceState& device, ModelIndex model) const;
  [[nodiscard]] bool may_run(const ServedModel& model, Instant now) const;

  RivalKind kind_;
  Micros delay_;
  std::vector<RowCount> caps_;  ///< of kAimd
};

/// The first requests of a queue that share a batch: of one shape, of at most `rows` rows, at least one request.
[[nodiscard]] std::size_t count_within(const ServedModel& model, RowCount rows);

}  // namespace berth::serving
