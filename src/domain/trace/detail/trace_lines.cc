#include "domain/trace/detail/trace_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::detail {

Result<bool> TraceLines::next() {
  if (!reader_.next()) return false;
  if (!is_blank(reader_.line())) {
    ++line_count_;
    return true;
  }
  if (reader_.is_rest_blank()) return false;
  return error(1, "wanted a row, found a blank line inside the file");
}

Field TraceLines::field() const {
  const std::string_view line = reader_.line();
  const std::size_t begin = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t");
  return {line.substr(begin, last - begin + 1), begin + 1};
}

Result<std::vector<Field>> TraceLines::fields(std::size_t field_count) const {
  auto fields = fields_up_to(field_count);
  if (!fields || fields->size() == field_count) return fields;
  return error(reader_.line().size() + 1, fmt::format("wanted {} fields, found {}", field_count, fields->size()));
}

Result<std::vector<Field>> TraceLines::fields_up_to(std::size_t field_count_max) const {
  auto fields = split_row(reader_.line(), field_count_max);
  if (!fields) return error(fields.error().column, fields.error().message);
  return std::move(*fields);
}

tl::unexpected<Error> TraceLines::error(std::size_t column, std::string_view message) const {
  return error({.line = std::max<std::size_t>(reader_.number(), 1), .column = column}, message);
}

tl::unexpected<Error> TraceLines::error(TextPlace place, std::string_view message) const {
  return tl::unexpected<Error>(error_at(file_, place, message));
}

tl::unexpected<Error> TraceLines::missing_row() const {
  return error({.line = line_count_ + 1, .column = 1}, "wanted at least one row, found none");
}

Result<std::int64_t> TraceLines::count(const Field& field, std::int64_t max) const {
  auto count = parse_count(field.text, max);
  if (!count) return error(field.column, count.error().message);
  return count;
}

Result<void> read_header(TraceLines& lines, std::string_view header) {
  const auto has_line = lines.next();
  if (!has_line) return pass_on(has_line.error());
  if (!*has_line) return lines.error(1, fmt::format("wanted the header {}, found an empty file", in_quotes(header)));
  const Field found = lines.field();
  if (found.text == header) return {};
  return lines.error(found.column,
                     fmt::format("wanted the header {}, found {}", in_quotes(header), in_quotes(found.text)));
}

}  // namespace berth::detail
