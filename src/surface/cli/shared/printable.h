/// Makes untrusted text safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

/// One line without control characters, so that untrusted text cannot control the terminal.
[[nodiscard]] std::string printable(std::string_view text);
/// The same of a text of several lines, which keeps its line feeds.
[[nodiscard]] std::string printable_lines(std::string_view text);

/// JSON, whose strings may have DEL and the characters U+0080 to U+009F as they are, with these escaped: the same
/// value. Other text without control characters stays as it is.
[[nodiscard]] std::string printable_json(std::string_view json);

}  // namespace berth::cli
