/// Reads an ONNX file as a model that can be rewritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models {

/// The largest file, weights outside included: protocol buffers read no larger one.
inline constexpr std::uint64_t kModelBytesMax = (std::uint64_t{2} << 30) - 1;

/// Reads `bytes` bytes (at least 1) from `offset` on of a file with weights. `path` is relative to the model's
/// folder, and does not leave it. Errors, with the path.
using ReadOutside =
    std::function<Result<std::string>(const std::string& path, std::uint64_t offset, std::uint64_t bytes)>;

/// Weights outside are read in. Errors, "NAME: why": no ONNX file, or cut off; more than kModelBytesMax; weights
/// outside whose path is absolute or leaves the folder; a weight with more or fewer bytes than its shape says; names
/// that `check_names` refuses; those of `read_outside`.
[[nodiscard]] Result<Model> read_model(std::string_view bytes, std::string_view name, const ReadOutside& read_outside);

}  // namespace berth::models
