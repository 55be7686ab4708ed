/// The frame of a file with a forest: a line with format and checksum, then the content.
#pragma once

#include <string>
#include <string_view>

#include "base/core/result.h"

namespace berth::tier {

[[nodiscard]] std::string forest_file(std::string_view bytes);

/// The content, a part of the argument. Errors: FILE, no such line, another version, or another checksum (FNV-1a).
[[nodiscard]] Result<std::string_view> forest_file_bytes(std::string_view content, std::string_view file);

}  // namespace berth::tier
