/// Text of the user's files: positions, lines and fields, with bounds. Used by all readers of rows.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// A position in a text; line and column count from 1.
struct TextPlace {
  std::size_t line = 1;
  std::size_t column = 1;
  friend auto operator<=>(const TextPlace&, const TextPlace&) = default;
};

/// "FILE:LINE:COLUMN: message".
[[nodiscard]] Error error_at(std::string_view file, TextPlace place, std::string_view message);

/// What was found, short and printable, in quotes: control bytes escaped, long text truncated.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// "; did you mean latency_ms?", or nothing if no known word is near.
[[nodiscard]] std::string spelling_hint(std::string_view found, std::span<const std::string_view> known);

/// Walks over the lines of a text. A byte-order mark at the front and a CR before each LF are skipped. The last line
/// needs no LF. `line()` is valid as long as the text.
class LineReader {
 public:
  explicit LineReader(std::string_view text);

  /// Moves to the next line; false at the end of the text.
  [[nodiscard]] bool next();
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Number of the current line, from 1.
  [[nodiscard]] std::size_t number() const { return number_; }
  /// Whether only blank lines follow (spaces and tabs count as blank).
  [[nodiscard]] bool is_rest_blank() const;

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

/// Whether a line contains nothing but spaces and tabs.
[[nodiscard]] bool is_blank(std::string_view line);

/// One field of a row and the column where it begins (bytes, from 1).
struct Field {
  std::string_view text;
  std::size_t column = 1;
};

/// Why a row cannot be split, and the column where (bytes, from 1).
struct RowFault {
  std::size_t column = 1;
  std::string message;
};

/// Splits a row at its commas. A field may be in double quotes (then it may contain commas; a doubled quote inside is
/// refused, because these formats never need one). Spaces around a field are stripped.
[[nodiscard]] tl::expected<std::vector<Field>, RowFault> split_row(std::string_view row, std::size_t field_count_max);

/// The offset of the first byte that is not well-formed UTF-8 or is NUL; npos if there is none.
[[nodiscard]] std::size_t find_bad_utf8(std::string_view text);

/// Reads a decimal integer from 0 to `max`, digits only; the error says what was wanted and found, without a position.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text, std::int64_t max);

}  // namespace berth
