#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <utility>

#include "domain/trace/detail/trace_lines.h"
#include "domain/trace/readers.h"

namespace berth {
namespace {

using detail::TraceLines;

constexpr std::array<std::string_view, 4> kNameColumns = {"HashOwner", "HashApp", "HashFunction", "Trigger"};
constexpr std::size_t kAppColumn = 1;
constexpr std::size_t kFunctionColumn = 2;
constexpr std::int64_t kMinuteNumberMax = 1'000'000'000;
constexpr std::size_t kFieldsMax = kNameColumns.size() + kRecordedSecondsMax / kMinuteSeconds;
constexpr std::int64_t kRequestsPerMinuteMax = kMinuteSeconds * kRequestsPerSecondMax;

/// The header of an azure-functions file: how many fields a row must have.
Result<std::size_t> read_function_header(TraceLines& lines) {
  const std::string wanted = fmt::format("the header {},...", fmt::join(kNameColumns, ","));
  const auto has_line = lines.next();
  if (!has_line) return pass_on(has_line.error());
  if (!*has_line) return lines.error(1, fmt::format("wanted {}, found an empty file", wanted));
  const auto fields = lines.fields_up_to(kFieldsMax);
  if (!fields) return pass_on(fields.error());
  for (std::size_t i = 0; i < kNameColumns.size(); ++i) {
    if (i >= fields->size() || (*fields)[i].text != kNameColumns[i]) {
      return lines.error(1, fmt::format("wanted {}, found {}", wanted, in_quotes(lines.field().text)));
    }
  }
  std::optional<std::int64_t> minute;
  for (std::size_t i = kNameColumns.size(); i < fields->size(); ++i) {
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

/// Rows of an azure-functions file, checked one by one; those selected are summed.
class MinuteTraceBuilder {
 public:
  MinuteTraceBuilder(const TraceLines& lines, const FunctionSelector& selector, std::size_t minute_count)
      : lines_(&lines), selector_(&selector) {
    trace_.counts.resize(minute_count);
  }

  [[nodiscard]] Result<void> add(const std::vector<Field>& fields);
  [[nodiscard]] std::int64_t row_count() const { return row_count_; }
  [[nodiscard]] bool is_found() const { return app_.has_value(); }
  [[nodiscard]] MinuteTrace take() && { return std::move(trace_); }

 private:
  [[nodiscard]] Result<void> check_names(const std::vector<Field>& fields) const;
  [[nodiscard]] bool is_selected(const std::vector<Field>& fields) const {
    return selector_->hash.empty() || fields[selector_->is_app ? kAppColumn : kFunctionColumn].text == selector_->hash;
  }

  const TraceLines* lines_;
  const FunctionSelector* selector_;
  MinuteTrace trace_;
  std::optional<std::string_view> app_;  ///< of the rows that were selected
  std::int64_t row_count_ = 0;
};

Result<void> MinuteTraceBuilder::check_names(const std::vector<Field>& fields) const {
  for (std::size_t i = 0; i < kNameColumns.size(); ++i) {
    if (fields[i].text.empty() || find_bad_utf8(fields[i].text) != std::string_view::npos) {
      return lines_->error(fields[i].column,
                           fmt::format("wanted a {}, found {}", kNameColumns[i], in_quotes(fields[i].text)));
    }
  }
  if (!selector_->hash.empty() && is_selected(fields) && app_ && *app_ != fields[kAppColumn].text) {
    return lines_->error(fields[kAppColumn].column,
                         fmt::format("wanted the function {} in one app, found it in {} and {}",
                                     in_quotes(selector_->hash), in_quotes(*app_), in_quotes(fields[kAppColumn].text)));
  }
  return {};
}

Result<void> MinuteTraceBuilder::add(const std::vector<Field>& fields) {
  if (const auto checked = check_names(fields); !checked) return checked;
  const bool is_used = is_selected(fields);
  for (std::size_t minute = 0; minute < trace_.counts.size(); ++minute) {
    const Field& field = fields[kNameColumns.size() + minute];
    const auto call_count = lines_->count(field, kRequestsPerMinuteMax);
    if (!call_count) return pass_on(call_count.error());
    if (!is_used) continue;
    const std::int64_t sum = trace_.counts[minute] + *call_count;
    if (sum > kRequestsPerMinuteMax) {
      return lines_->error(field.column,
                           fmt::format("wanted at most {} calls in a minute, found {}", kRequestsPerMinuteMax, sum));
    }
    trace_.counts[minute] = static_cast<std::uint32_t>(sum);
  }
  if (is_used) app_ = fields[kAppColumn].text;
  ++row_count_;
  return {};
}

}  // namespace

Result<MinuteTrace> read_azure_functions(std::string_view text, std::string_view file,
                                         const FunctionSelector& selector) {
  TraceLines lines(text, file);
  const auto field_count = read_function_header(lines);
  if (!field_count) return pass_on(field_count.error());
  MinuteTraceBuilder builder(lines, selector, *field_count - kNameColumns.size());
  while (true) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const auto fields = lines.fields(*field_count);
    if (!fields) return pass_on(fields.error());
    if (const auto added = builder.add(*fields); !added) return pass_on(added.error());
  }
  if (builder.row_count() == 0) return lines.missing_row();
  if (builder.is_found()) return std::move(builder).take();
  return lines.error({.line = 1, .column = 1}, fmt::format("wanted a row whose {} is {}, found none in {} rows",
                                                           kNameColumns[selector.is_app ? kAppColumn : kFunctionColumn],
                                                           in_quotes(selector.hash), builder.row_count()));
}

}  // namespace berth
