/// Measures what a process takes that loads a model: in a child process, whose memory nothing else has used.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"

namespace berth::edges::detail {

struct FootprintCall {
  std::vector<std::string> words;  ///< the program, and all its arguments
  std::chrono::steady_clock::time_point deadline;
  std::function<bool()> is_stopped;
};

/// Starts the process, gives it the inputs, and reads what it answers. Errors: what the process says; kUnavailable if
/// it cannot be started, is ended by a signal, which is named, or does not answer; kTimedOut at the deadline;
/// kInterrupted when stopped. The process has ended then.
[[nodiscard]] Result<ModelFootprint> footprint_by(const FootprintCall& call, std::span<const Tensor> inputs);

}  // namespace berth::edges::detail
