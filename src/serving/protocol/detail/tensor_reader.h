/// The elements of a tensor, from JSON or from binary data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/values/tensor.h"
#include "serving/protocol/detail/json_reader.h"

namespace berth::serving::protocol::detail {

/// Of all tensors of a request: a text takes 32 bytes of memory and more, but may be 3 bytes of a body.
inline constexpr std::int64_t kTextCountMax = std::int64_t{1} << 20U;

/// `input "x"` in messages.
[[nodiscard]] std::string input_title(std::string_view name);

/// Reads `data` into a tensor whose name, type and shape are set: row by row in one list, or in lists nested as the
/// shape; of a tensor without dimensions also the element alone. Exact: floats are rounded once, integers must be
/// written as such and fit. FP16 and BF16 are refused. `count`: the elements of the shape. Returns whether that worked;
/// the failure is the reader's.
[[nodiscard]] bool read_json_data(JsonReader& reader, std::int64_t count, Tensor& tensor);

/// Likewise from `data`, little-endian: as many bytes as the elements have, for BYTES each after its length in 4 bytes;
/// for BOOL each byte is 0 or 1. Errors: kMalformed.
[[nodiscard]] ServeResult<void> read_binary_data(std::string_view data, std::int64_t count, Tensor& tensor);

}  // namespace berth::serving::protocol::detail
