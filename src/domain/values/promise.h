/// The gain that a plan promises for the changes that begin on one GPU, with all that is needed to recompute it when
/// the requests and the times are known (engine/loop/promises.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/values/slice.h"

namespace berth {

/// A service's capacity from a second of the window on, until the next step.
struct SupplyStep {
  std::int32_t slot = 0;
  std::vector<double> rates;  ///< requests per second, by variant
  double progress = 0;        ///< of a retraining, per second
  friend bool operator==(const SupplyStep&, const SupplyStep&) = default;
};

/// The retraining of a service as the plan saw it: planner::RetrainingTerms.
struct PromisedRetraining {
  bool is_stale = false;
  double progress = 0;
  std::int32_t fresh_in = 0;
  std::vector<std::int32_t> due_slots;
  bool keeps_unfinished = false;
  std::int32_t swap_slots = 0;
  double tail_fresh_seconds = 0;
  double progress_value = 0;  ///< of progress 1, for each request per second of the tail
  double fresh_value = 0;     ///< likewise
  friend bool operator==(const PromisedRetraining&, const PromisedRetraining&) = default;
};

/// A service whose capacity differs with the changes.
struct PromisedService {
  ServiceId service;
  double value = 1;                     ///< of an answer in time at accuracy 1
  std::vector<double> accuracy_before;  ///< by variant
  std::vector<double> accuracy_after;   ///< likewise: of a fresh model
  std::optional<PromisedRetraining> retraining;
  // Of the whole fleet, all other GPUs as planned. The first step is that of slot 0.
  std::vector<SupplyStep> with_changes;
  std::vector<SupplyStep> without_changes;
  friend bool operator==(const PromisedService&, const PromisedService&) = default;
};

/// A slice that begins to work for a service because of the changes that begin now.
struct PromisedPiece {
  Slice slice;
  ServiceId service;
  std::int32_t variant = 0;  ///< -1: it retrains
  double rate = 0;           ///< requests per second, or progress per second
  std::int32_t ready = 0;    ///< the slot from which it is counted
  std::int32_t until = 0;    ///< the slot in which it ends; slots + 1: it stays to the end of the tail
  friend bool operator==(const PromisedPiece&, const PromisedPiece&) = default;
};

struct Promise {
  GpuId gpu;
  std::int32_t slots = 0;  ///< seconds of the window, from when the plan takes effect
  double tail_seconds = 0;
  double gain = 0;  ///< of the GPU's changes, given those of all others, in the unit of Plan::objective; net of `price`
  double price = 0;  ///< charged for the slices that the changes create and destroy
  std::vector<PromisedPiece> pieces;
  std::vector<PromisedService> services;  ///< by service
  friend bool operator==(const Promise&, const Promise&) = default;
};

}  // namespace berth
