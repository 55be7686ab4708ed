/// The share of a file system that one file of a running program may use.
#pragma once

#include <cstdint>
#include <string>

namespace berth::edges {

/// `bytes_max`, but at most an eighth of the file system of that folder; `bytes_max` if its size is unknown.
[[nodiscard]] std::uint64_t disk_share_of(const std::string& folder, std::uint64_t bytes_max);

}  // namespace berth::edges
