/// Names of datatypes in the Open Inference Protocol and in model configurations.
#pragma once

#include <optional>
#include <string_view>

#include "domain/values/tensor.h"

namespace berth::serving::protocol {

/// "FP32".
[[nodiscard]] std::string_view datatype_name(TensorType type);
/// Nothing if there is no such datatype.
[[nodiscard]] std::optional<TensorType> find_datatype(std::string_view name);
/// As in Triton's model configuration: "TYPE_FP32", and "TYPE_STRING" for BYTES.
[[nodiscard]] std::string_view config_datatype_name(TensorType type);

}  // namespace berth::serving::protocol
