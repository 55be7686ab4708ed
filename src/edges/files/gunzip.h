/// Unpacking gzip (RFC 1952) in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::edges {

/// Whether the bytes begin like gzip.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// The members of a gzip file, unpacked and joined. Errors, without a file name: damaged or truncated, bytes after the
/// last member, more than `bytes_max` unpacked. Memory is bounded by that.
[[nodiscard]] Result<std::string> gunzip(std::string_view packed, std::size_t bytes_max);

}  // namespace berth::edges
