/// Bytes as hexadecimal text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::journal {

[[nodiscard]] std::string hex_of(std::string_view bytes);
/// Nothing if the text is not hexadecimal.
[[nodiscard]] std::optional<std::string> bytes_of_hex(std::string_view text);

}  // namespace berth::journal
