/// What a worker and its parent say to each other, as bytes of base/core/archive.h: both are the same program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/tensor.h"
#include "models/profiling/turn.h"

namespace berth::edges::detail {

inline constexpr int kWorkerDescriptor = 3;

enum class WorkerOrderKind : std::uint8_t {
  kPrepare,  ///< the inputs of a turn, which the worker runs a few times
  kRun,      ///< the turn
  kRest,     ///< its end: the inputs are no longer needed
};

struct WorkerOrder {
  WorkerOrderKind kind = WorkerOrderKind::kPrepare;
  std::vector<Tensor> inputs = {};
  std::int64_t begin_ns = 0;  ///< of the monotonic clock, which processes share
  std::int64_t length_ns = 0;
  bool is_alone = true;  ///< else it runs on after the end, until the next order: others may not have finished
};

/// One for each order, and one when the model is loaded.
struct WorkerReply {
  bool is_done = false;
  bool fits = true;  ///< false, and not done: the memory was not enough
  ErrorCode error = ErrorCode::kUnavailable;
  std::string message = {};
  std::string engine = {};
  std::string device = {};
  std::int64_t device_bytes = 0;
  std::vector<TensorSignature> inputs = {};
  std::optional<std::int64_t> memory_bytes = {};
  models::ProcessTimes times = {};
};

}  // namespace berth::edges::detail
