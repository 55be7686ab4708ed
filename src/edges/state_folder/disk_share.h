/// How much of a file system one file of a running program may take.
#pragma once

#include <cstdint>
#include <string>

namespace berth::edges {

/// `bytes_max`, but at most an eighth of the file system of that folder; `bytes_max` where that is not known.
[[nodiscard]] std::uint64_t disk_share_of(const std::string& folder, std::uint64_t bytes_max);

}  // namespace berth::edges
