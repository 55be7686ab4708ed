#include "base/core/rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {

Rows::Rows(std::string_view text, std::string_view file, const NamedColumns& columns)
    : text_(text),
      file_(file),
      header_(columns.required),
      required_count_(columns.required.size()),
      is_named_(true),
      lines_(text) {
  header_.insert(header_.end(), columns.optional.begin(), columns.optional.end());
}

Result<void> Rows::begin() {
  if (Result<void> checked = check_text(); !checked) return checked;
  return is_named_ ? find_columns() : read_header();
}

Result<void> Rows::check_text() const {
  const std::size_t bad = find_bad_utf8(text_);
  if (bad == std::string_view::npos) return {};
  const std::string_view before = text_.substr(0, bad);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t last_break = before.rfind('\n');
  const std::size_t column = last_break == std::string_view::npos ? bad + 1 : bad - last_break;
  const auto byte = static_cast<unsigned char>(text_[bad]);
  return tl::unexpected(
      error_at(file_, {line, column}, fmt::format("wanted text in UTF-8, found the byte 0x{:02x}", byte)));
}

Result<void> Rows::read_header() {
  const std::string wanted = fmt::format("wanted the header \"{}\"", fmt::join(header_, ","));
  if (!lines_.next()) return tl::unexpected(error_at(file_, {1, 1}, wanted + ", found nothing"));
  const auto fields = split_row(lines_.line(), header_.size());
  const bool is_header = fields.has_value() && fields->size() == header_.size() &&
                         std::equal(header_.begin(), header_.end(), fields->begin(),
                                    [](std::string_view name, const Field& field) { return name == field.text; });
  if (!is_header) return fail_row(fmt::format("{}, found {}", wanted, in_quotes(lines_.line())));
  field_count_ = header_.size();
  return {};
}

Result<void> Rows::find_columns() {
  const auto required_end = header_.begin() + static_cast<std::ptrdiff_t>(required_count_);
  const std::string wanted =
      fmt::format("wanted a header with the columns {}", fmt::join(header_.begin(), required_end, ","));
  if (!lines_.next()) return tl::unexpected(error_at(file_, {1, 1}, wanted + ", found nothing"));
  const auto names = split_row(lines_.line(), kColumnCountMax);
  if (!names) return fail_split(names.error());
  places_.assign(header_.size(), std::nullopt);
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto known = std::find(header_.begin(), header_.end(), (*names)[i].text);
    if (known == header_.end()) continue;
    std::optional<std::size_t>& place = places_[static_cast<std::size_t>(known - header_.begin())];
    if (place) {
      return tl::unexpected(error_at(file_, {lines_.number(), (*names)[i].column},
                                     fmt::format("wanted each column once, found {} again", *known)));
    }
    place = i;
  }
  for (std::size_t i = 0; i < required_count_; ++i) {
    if (!places_[i]) return fail_row(fmt::format("{}, found none named {}", wanted, header_[i]));
  }
  field_count_ = names->size();
  return {};
}

std::string_view Rows::field(std::size_t column) const {
  if (!has_column(column)) return {};
  return fields_[is_named_ ? *places_[column] : column].text;
}

std::size_t Rows::text_column(std::size_t column) const {
  if (!has_column(column)) return 1;
  return fields_[is_named_ ? *places_[column] : column].column;
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
  auto fields = split_row(lines_.line(), field_count_ + 1);
  if (!fields) return fail_split(fields.error());
  if (fields->size() != field_count_) {
    return fail_row(fmt::format("wanted {} fields, found {}", field_count_,
                                fields->size() > field_count_ ? "more" : std::to_string(fields->size())));
  }
  fields_ = std::move(*fields);
  return {};
}

Result<std::string> Rows::word(std::size_t column) const {
  constexpr std::size_t kLengthMax = 200;
  if (field(column).empty() || field(column).size() > kLengthMax) return refuse(column, "1 to 200 bytes");
  return std::string(field(column));
}

Result<std::int64_t> Rows::integer(std::size_t column, std::int64_t min, std::int64_t max) const {
  const auto value = parse_count(field(column), max);
  if (!value || *value < min) return refuse(column, fmt::format("a whole number from {} to {}", min, max));
  return *value;
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
  return tl::unexpected(error_at(file_, {lines_.number(), text_column(column)}, message));
}

tl::unexpected<Error> Rows::fail_row(std::string_view message) const {
  return tl::unexpected(error_at(file_, {lines_.number(), 1}, message));
}

tl::unexpected<Error> Rows::fail_split(const RowFault& fault) const {
  return tl::unexpected(error_at(file_, {lines_.number(), fault.column}, fault.message));
}

tl::unexpected<Error> Rows::fail_file(std::string_view message) const {
  return tl::unexpected(error_at(file_, {1, 1}, message));
}

}  // namespace berth
