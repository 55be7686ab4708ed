/// What an ONNX file says of its model, read without loading it (https://onnx.ai/onnx/repo-docs/IR.html).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/tensor.h"

namespace berth::models {

/// An input or output of the model.
struct OnnxTensor {
  std::string name;
  TensorType type = TensorType::kFp32;
  /// -1: any size. Empty: one element. Nothing: the file does not say how many dimensions there are.
  std::optional<std::vector<std::int64_t>> shape = std::nullopt;

  friend bool operator==(const OnnxTensor&, const OnnxTensor&) = default;
};

/// A file next to the model that holds weights.
struct WeightsFile {
  std::string path;           ///< as written: relative to the model's folder
  std::uint64_t bytes_min{};  ///< it must have at least so many, for the weights in it

  friend bool operator==(const WeightsFile&, const WeightsFile&) = default;
};

/// More weights count as so many: what is computed from them does not overflow.
inline constexpr std::int64_t kWeightBytesMax = std::int64_t{1} << 60;

struct OnnxFile {
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;                ///< of the standard operators; 0: the model uses none
  std::string producer = {};             ///< such as "pytorch 2.1.0"; empty: it does not say
  std::vector<OnnxTensor> inputs = {};   ///< that must be given: without initialisers
  std::vector<OnnxTensor> outputs = {};  ///< at least one
  std::int64_t weight_bytes = 0;  ///< in memory, of initialisers and constants, also in sub-graphs and other files
  std::vector<WeightsFile> weights = {};  ///< by path

  friend bool operator==(const OnnxFile&, const OnnxFile&) = default;
};

/// Reads a file named `name`. Errors, "NAME: why": it is no ONNX file, or cut off; an input or output is no tensor, or
/// of a type that TensorType does not have; those of reading.
[[nodiscard]] Result<OnnxFile> read_onnx_file(const OpenFile& file, std::string_view name);

/// Whether the first dimension may have any size.
[[nodiscard]] bool has_any_rows(const OnnxTensor& tensor);
/// Whether that is so for all inputs and outputs, and there is an input.
[[nodiscard]] bool has_any_rows(const OnnxFile& file);

}  // namespace berth::models
