/// The engine that variants are measured on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "edges/cuda_device/cuda_device.h"

namespace berth::optimizer {

/// The first argument of a process that measures what a model takes (`footprint_main`).
inline constexpr const char* kFootprintWord = "--measure-footprint";

struct FoundProbe {
  std::unique_ptr<edges::CudaDevice> cuda = {};  ///< where it runs models; nothing: on the processor
  std::unique_ptr<ModelProbe> probe = {};
};

struct ProbeTerms {
  std::optional<std::string> library = std::nullopt;  ///< nothing: where scripts/setup puts it
  std::optional<int> cuda_index = std::nullopt;
  std::function<bool()> is_stopped;  ///< called by another thread
};

/// Errors, kInvalidInput: there is none, with the command that gets it; this program was built without its headers.
[[nodiscard]] Result<FoundProbe> find_probe(const ProbeTerms& terms);

/// What such a process does; `arguments`: after the word. Its exit status.
[[nodiscard]] int footprint_main(std::span<const std::string> arguments);

}  // namespace berth::optimizer
