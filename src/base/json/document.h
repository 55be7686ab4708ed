/// JSON texts from callers, read into a tree with positions, within fixed limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/result.h"
#include "base/yaml/document.h"

namespace berth::json {

inline constexpr std::size_t kTextBytesMax = 4U << 20U;
/// The deepest nesting of objects and lists.
inline constexpr std::size_t kDepthMax = 64;
/// Values of the tree, keys not counted: a day of arrivals by second has 259,200.
inline constexpr std::size_t kValueCountMax = 300'000;

/// How large a text may be. The defaults suit a server's clients.
struct Limits {
  std::size_t text_bytes_max = kTextBytesMax;
  std::size_t value_count_max = kValueCountMax;
  std::size_t first_line = 1;  ///< the number of its first line in the source, of which it may be a part
};

/// For texts that this program wrote itself; levels of nesting stay limited.
inline constexpr Limits kNoLimits{.text_bytes_max = SIZE_MAX, .value_count_max = SIZE_MAX};

/// The one value of a JSON text (RFC 8259; a byte-order mark is ignored). Scalars keep their kind, numbers their text.
///
/// kMalformed: bytes that are not UTF-8 or not JSON, a surrogate without its other half, text after the value, a
/// repeated key, a number beyond the range of a double, deeper nesting. kInvalidInput: more bytes or values than the
/// limits. The message is `SOURCE:LINE:COLUMN: KEY.PATH: wanted .., found ..`; columns count characters.
///
/// O(bytes); at most about 200 bytes of memory per value, and twice the text.
[[nodiscard]] Result<yaml::Node> parse_document(std::string_view text, std::string_view source,
                                                const Limits& limits = {});

}  // namespace berth::json
