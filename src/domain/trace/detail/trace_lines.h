/// The lines of a trace file, with positions for errors: shared by the readers of all formats.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/text.h"

namespace berth::detail {

/// Walks over the lines of a trace up to the blank ones at its end; a blank line before that is an error.
class TraceLines {
 public:
  TraceLines(std::string_view text, std::string_view file) : reader_(text), file_(file) {}

  /// Moves to the next line; false at the end.
  [[nodiscard]] Result<bool> next();
  /// The current line without the spaces around it.
  [[nodiscard]] Field field() const;
  /// The fields of the current line. Requires a line. An error unless there are `field_count` of them.
  [[nodiscard]] Result<std::vector<Field>> fields(std::size_t field_count) const;
  /// As above, for files that state their own number of fields: at most `field_count_max`.
  [[nodiscard]] Result<std::vector<Field>> fields_up_to(std::size_t field_count_max) const;

  /// An error at a column of the current line; at 1:1 of a file without lines.
  [[nodiscard]] tl::unexpected<Error> error(std::size_t column, std::string_view message) const;
  /// An error at any position.
  [[nodiscard]] tl::unexpected<Error> error(TextPlace place, std::string_view message) const;
  /// An error at the end of the file, because a row was wanted.
  [[nodiscard]] tl::unexpected<Error> missing_row() const;
  /// Reads a field as a whole number from 0 to `max`.
  [[nodiscard]] Result<std::int64_t> count(const Field& field, std::int64_t max) const;

 private:
  LineReader reader_;
  std::string_view file_;
  std::size_t line_count_ = 0;  ///< lines that are not blank, so far
};

/// Reads the first line, which must be `header`; otherwise an error.
[[nodiscard]] Result<void> read_header(TraceLines& lines, std::string_view header);

}  // namespace berth::detail
