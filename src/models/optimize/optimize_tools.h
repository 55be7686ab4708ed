/// What the search of `berth optimize` uses of the outside: the engine, a clock, processes.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"

namespace berth::models {

struct OptimizeTools {
  ModelProbe& probe;
  std::function<Instant()> now;       ///< never goes back
  std::function<bool()> should_stop;  ///< an interrupt: everything ends with kInterrupted
  /// Of the bytes of a model, once for each of so many processes, one after the other.
  std::function<Result<std::vector<ModelFootprint>>(std::string_view model, std::span<const Tensor> inputs,
                                                    int processes)>
      footprints;
  std::function<void(std::string_view what)> report;  ///< what is done now
};

/// The error of a run that was interrupted.
[[nodiscard]] inline tl::unexpected<Error> stopped() {
  return fail(ErrorCode::kInterrupted, "interrupted; nothing was written");
}

}  // namespace berth::models
