/// Sizes of memory as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/core/result.h"

namespace berth {

/// Reads "2GiB", "1.5MiB", "64KiB" or plain bytes: a whole number of bytes from 1 to 2^50. The error says what was
/// wanted and found, without a position.
[[nodiscard]] Result<std::int64_t> parse_byte_size(std::string_view text);

}  // namespace berth
