/// Rows of a CSV file with a header: walks over them, checks their number of fields and reads fields with
/// FILE:LINE:COLUMN in every error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"
#include "base/result.h"
#include "base/text.h"

namespace berth {

inline constexpr std::size_t kRowCountMax = 1'000'000;

class Rows {
 public:
  /// `header` are the names of the columns, in the order in which the file must have them.
  Rows(std::string_view text, std::string_view file, std::vector<std::string_view> header)
      : text_(text), file_(file), header_(std::move(header)), lines_(text) {}

  /// Checks that the text is UTF-8 and begins with the header. To be called once, first.
  [[nodiscard]] Result<void> begin();
  /// Moves to the next row: false after the last one. Blank lines may only follow it.
  [[nodiscard]] Result<bool> next();

  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column].text; }
  /// A field that is not empty.
  [[nodiscard]] Result<std::string> word(std::size_t column) const;
  /// A whole number from 1 to max.
  [[nodiscard]] Result<int> count(std::size_t column, int max) const;
  /// A number from 0 to max, or above 0.
  [[nodiscard]] Result<Decimal> number(std::size_t column, std::int64_t max) const;
  [[nodiscard]] Result<Decimal> number_above_zero(std::size_t column, std::int64_t max) const;

  /// Refuses a field: "wanted ..., found ..." with the name of its column.
  [[nodiscard]] tl::unexpected<Error> refuse(std::size_t column, std::string_view wanted) const;
  /// Fails at a field, at the row, or at the file's beginning, with a message of the caller's.
  [[nodiscard]] tl::unexpected<Error> fail_at(std::size_t column, std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> fail_row(std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> fail_file(std::string_view message) const;

 private:
  [[nodiscard]] Result<void> split();

  std::string_view text_;
  std::string_view file_;
  std::vector<std::string_view> header_;
  LineReader lines_;
  std::vector<Field> fields_;
  std::size_t row_count_ = 0;
};

}  // namespace berth
