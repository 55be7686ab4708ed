/// Control characters in text from outside, with which it could control a terminal.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth {

/// The bytes of the control character that begins at byte `at`: 1 for one of ASCII (below space, or DEL), 2 for one of
/// U+0080 to U+009F (C1) in UTF-8, 0 if none begins there. Requires: at < text.size().
[[nodiscard]] std::size_t control_size(std::string_view text, std::size_t at);

/// Whether the text has a control character. O(bytes).
[[nodiscard]] bool has_control(std::string_view text);

}  // namespace berth
