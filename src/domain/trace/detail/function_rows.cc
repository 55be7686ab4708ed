#include "domain/trace/detail/function_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "domain/trace/readers.h"

namespace berth::detail {
namespace {

constexpr std::int64_t kMinuteNumberMax = 1'000'000'000;
constexpr std::size_t kFunctionFieldsMax = kFunctionColumns.size() + kRecordedSecondsMax / kMinuteSeconds;

}  // namespace

Result<std::size_t> read_function_header(TraceLines& lines) {
  const std::string wanted = fmt::format("the header {},...", fmt::join(kFunctionColumns, ","));
  const auto has_line = lines.next();
  if (!has_line) return pass_on(has_line.error());
  if (!*has_line) return lines.error(1, fmt::format("wanted {}, found an empty file", wanted));
  const auto fields = lines.fields_up_to(kFunctionFieldsMax);
  if (!fields) return pass_on(fields.error());
  for (std::size_t i = 0; i < kFunctionColumns.size(); ++i) {
    if (i >= fields->size() || (*fields)[i].text != kFunctionColumns[i]) {
      return lines.error(1, fmt::format("wanted {}, found {}", wanted, in_quotes(lines.field().text)));
    }
  }
  std::optional<std::int64_t> minute;
  for (std::size_t i = kFunctionColumns.size(); i < fields->size(); ++i) {
    const Field& field = (*fields)[i];
    const auto number = lines.count(field, kMinuteNumberMax);
    if (!number) return pass_on(number.error());
    if (minute && *number != *minute + 1) {
      return lines.error(field.column, fmt::format("wanted the minute {}, found {}", *minute + 1, *number));
    }
    minute = *number;
  }
  if (!minute) return lines.error(lines.field().text.size() + 1, "wanted at least one column of a minute, found none");
  return fields->size();
}

Result<void> check_function_names(const TraceLines& lines, const std::vector<Field>& fields) {
  for (std::size_t i = 0; i < kFunctionColumns.size(); ++i) {
    if (fields[i].text.empty() || find_bad_utf8(fields[i].text) != std::string_view::npos) {
      return lines.error(fields[i].column,
                         fmt::format("wanted a {}, found {}", kFunctionColumns[i], in_quotes(fields[i].text)));
    }
  }
  return {};
}

}  // namespace berth::detail
