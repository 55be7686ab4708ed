/// What an unquoted scalar is to YAML: not every text stays one.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::yaml {

enum class PlainKind : std::uint8_t { kText, kNumber, kTruth, kNull };

/// Text that YAML 1.1 or YAML 1.2 (its core schema) reads as a number (also hexadecimal, octal, binary, sexagesimal,
/// .inf and .nan), a truth value (true, false, yes, no, on, off) or null (~, null, nothing), in any case of its
/// letters. Readers of the two versions differ, so a text that is one of these to either is not safe without quotes.
[[nodiscard]] PlainKind kind_of_plain(std::string_view text);

}  // namespace berth::yaml
