#include <fmt/format.h>

#include <optional>
#include <utility>

#include "domain/trace/detail/function_rows.h"
#include "domain/trace/readers.h"

namespace berth {
namespace {

using detail::kAppColumn;
using detail::kCallsPerMinuteMax;
using detail::kFunctionColumn;
using detail::TraceLines;

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
  if (auto checked = detail::check_function_names(*lines_, fields); !checked) return checked;
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
    const auto call_count = detail::calls_in(*lines_, fields, minute);
    if (!call_count) return pass_on(call_count.error());
    if (!is_used) continue;
    const std::int64_t sum = trace_.counts[minute] + *call_count;
    if (sum > kCallsPerMinuteMax) {
      return lines_->error(detail::minute_field(fields, minute).column,
                           fmt::format("wanted at most {} calls in a minute, found {}", kCallsPerMinuteMax, sum));
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
  const auto field_count = detail::read_function_header(lines);
  if (!field_count) return pass_on(field_count.error());
  MinuteTraceBuilder builder(lines, selector, detail::minutes_of(*field_count));
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
  return lines.error({.line = 1, .column = 1},
                     fmt::format("wanted a row whose {} is {}, found none in {} rows",
                                 detail::kFunctionColumns[selector.is_app ? kAppColumn : kFunctionColumn],
                                 in_quotes(selector.hash), builder.row_count()));
}

}  // namespace berth
