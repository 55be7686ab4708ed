/// Rows of a CSV file with a header: walks over them, checks their number of fields and reads fields with
/// FILE:LINE:COLUMN in every error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "base/core/text.h"

namespace berth {

inline constexpr std::size_t kRowCountMax = 1'000'000;
/// The most columns of a file whose columns are found by their names.
inline constexpr std::size_t kColumnCountMax = 200;

/// Columns that are found by their names: in any order, each at most once; other columns are ignored.
struct NamedColumns {
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional = {};
};

class Rows {
 public:
  /// `header`: the names of the columns, in the order in which the file must have them.
  Rows(std::string_view text, std::string_view file, std::vector<std::string_view> header)
      : text_(text), file_(file), header_(std::move(header)), required_count_(header_.size()), lines_(text) {}
  /// The columns are numbered as in `columns`, the required ones first.
  Rows(std::string_view text, std::string_view file, const NamedColumns& columns);

  /// Checks that the text is UTF-8 and begins with the header. To be called once, first.
  [[nodiscard]] Result<void> begin();
  /// Moves to the next row: false after the last one. Blank lines are allowed only at the end.
  [[nodiscard]] Result<bool> next();

  /// Whether the file has this column: an optional one may be missing.
  [[nodiscard]] bool has_column(std::size_t column) const { return !is_named_ || places_[column].has_value(); }
  /// Empty if the file does not have the column.
  [[nodiscard]] std::string_view field(std::size_t column) const;
  /// The position of a column in the current row; the row's beginning if the file does not have the column.
  [[nodiscard]] TextPlace place_of(std::size_t column) const {
    return {.line = lines_.number(), .column = text_column(column)};
  }
  /// The number of the current line, from 1.
  [[nodiscard]] std::size_t line_number() const { return lines_.number(); }
  /// A field that is not empty.
  [[nodiscard]] Result<std::string> word(std::size_t column) const;
  /// A whole number from min to max.
  [[nodiscard]] Result<std::int64_t> integer(std::size_t column, std::int64_t min, std::int64_t max) const;
  /// A whole number from 1 to max.
  [[nodiscard]] Result<int> count(std::size_t column, int max) const;
  /// A number from 0 to max, or above 0.
  [[nodiscard]] Result<Decimal> number(std::size_t column, std::int64_t max) const;
  [[nodiscard]] Result<Decimal> number_above_zero(std::size_t column, std::int64_t max) const;

  /// An error at a field: "wanted ..., found ..." with the name of its column.
  [[nodiscard]] tl::unexpected<Error> refuse(std::size_t column, std::string_view wanted) const;
  /// An error with the caller's message at a field, at the row, or at the file's beginning.
  [[nodiscard]] tl::unexpected<Error> fail_at(std::size_t column, std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> fail_row(std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> fail_file(std::string_view message) const;

 private:
  [[nodiscard]] Result<void> check_text() const;
  [[nodiscard]] Result<void> read_header();
  [[nodiscard]] Result<void> find_columns();
  [[nodiscard]] Result<void> split();
  [[nodiscard]] tl::unexpected<Error> fail_split(const RowFault& fault) const;
  /// The byte column where it begins in the row; that of the row's beginning if the file does not have it.
  [[nodiscard]] std::size_t text_column(std::size_t column) const;

  std::string_view text_;
  std::string_view file_;
  std::vector<std::string_view> header_;  ///< the columns that the caller reads
  std::size_t required_count_;
  bool is_named_ = false;
  std::vector<std::optional<std::size_t>> places_;  ///< of named columns: the field of each
  std::size_t field_count_ = 0;                     ///< of a row
  LineReader lines_;
  std::vector<Field> fields_;
  std::size_t row_count_ = 0;
};

}  // namespace berth
