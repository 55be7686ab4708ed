#include "base/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {

Result<void> Rows::begin() {
  const std::size_t bad = find_bad_utf8(text_);
  if (bad != std::string_view::npos) {
    const std::string_view before = text_.substr(0, bad);
    const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t last_break = before.rfind('\n');
    const std::size_t column = last_break == std::string_view::npos ? bad + 1 : bad - last_break;
    const auto byte = static_cast<unsigned char>(text_[bad]);
    return tl::unexpected(
        error_at(file_, {line, column}, fmt::format("wanted text in UTF-8, found the byte 0x{:02x}", byte)));
  }
  const std::string wanted = fmt::format("wanted the header \"{}\"", fmt::join(header_, ","));
  if (!lines_.next()) return tl::unexpected(error_at(file_, {1, 1}, wanted + ", found nothing"));
  const auto fields = split_row(lines_.line(), header_.size());
  const bool is_header = fields.has_value() && fields->size() == header_.size() &&
                         std::equal(header_.begin(), header_.end(), fields->begin(),
                                    [](std::string_view name, const Field& field) { return name == field.text; });
  if (!is_header) return fail_row(fmt::format("{}, found {}", wanted, in_quotes(lines_.line())));
  return {};
}

Result<bool> Rows::next() {
  if (!lines_.next()) return false;
  if (is_blank(lines_.line())) {
    if (lines_.is_rest_blank()) return false;
    return fail_row("wanted a row, found a blank line");
  }
  if (++row_count_ > kRowCountMax) return fail_row(fmt::format("wanted at most {} rows, found more", kRowCountMax));
  const Result<void> is_split = split();
  if (!is_split) return pass_on(is_split.error());
  return true;
}

Result<void> Rows::split() {
  auto fields = split_row(lines_.line(), header_.size() + 1);
  if (!fields) return fail_row(fields.error().message);
  if (fields->size() != header_.size()) {
    return fail_row(fmt::format("wanted {} fields, found {}", header_.size(),
                                fields->size() > header_.size() ? "more" : std::to_string(fields->size())));
  }
  fields_ = std::move(*fields);
  return {};
}

Result<std::string> Rows::word(std::size_t column) const {
  constexpr std::size_t kLengthMax = 200;
  if (field(column).empty() || field(column).size() > kLengthMax) return refuse(column, "1 to 200 characters");
  return std::string(field(column));
}

Result<int> Rows::count(std::size_t column, int max) const {
  const auto value = parse_count(field(column), max);
  if (!value || *value == 0) return refuse(column, fmt::format("a whole number from 1 to {}", max));
  return static_cast<int>(*value);
}

Result<Decimal> Rows::number(std::size_t column, std::int64_t max) const {
  auto value = Decimal::parse(field(column));
  if (!value || value->sign() < 0 || *value > Decimal(max)) {
    return refuse(column, fmt::format("a number from 0 to {}", max));
  }
  return value;
}

Result<Decimal> Rows::number_above_zero(std::size_t column, std::int64_t max) const {
  auto value = number(column, max);
  if (!value || value->sign() == 0) return refuse(column, fmt::format("a number above 0, at most {}", max));
  return value;
}

tl::unexpected<Error> Rows::refuse(std::size_t column, std::string_view wanted) const {
  const std::string found = field(column).empty() ? "nothing" : in_quotes(field(column));
  return fail_at(column, fmt::format("{}: wanted {}, found {}", header_[column], wanted, found));
}

tl::unexpected<Error> Rows::fail_at(std::size_t column, std::string_view message) const {
  return tl::unexpected(error_at(file_, {lines_.number(), fields_[column].column}, message));
}

tl::unexpected<Error> Rows::fail_row(std::string_view message) const {
  return tl::unexpected(error_at(file_, {lines_.number(), 1}, message));
}

tl::unexpected<Error> Rows::fail_file(std::string_view message) const {
  return tl::unexpected(error_at(file_, {1, 1}, message));
}

}  // namespace berth
