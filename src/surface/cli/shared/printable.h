/// Makes untrusted text safe for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::cli {

/// Whether a C1 control character (U+0080 to U+009F) begins at this byte.
[[nodiscard]] bool is_c1_control(std::string_view text, std::size_t at);

/// One line without control characters, so that untrusted text cannot control the terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace berth::cli
