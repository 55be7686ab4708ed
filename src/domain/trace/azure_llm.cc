#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/core/instant.h"
#include "domain/trace/detail/timestamp.h"
#include "domain/trace/detail/trace_lines.h"
#include "domain/trace/readers.h"

namespace berth {
namespace {

using detail::Timestamp;
using detail::TraceLines;

constexpr std::string_view kAzureLlmHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// Requests of an azure-llm file, checked one by one.
class TimedTraceBuilder {
 public:
  explicit TimedTraceBuilder(const TraceLines& lines) : lines_(&lines) {}

  [[nodiscard]] Result<void> add(const std::vector<Field>& fields);
  [[nodiscard]] TimedTrace take() && { return std::move(trace_); }

 private:
  [[nodiscard]] Result<Timestamp> checked_timestamp(const Field& field) const;

  const TraceLines* lines_;
  TimedTrace trace_;
  std::optional<std::int64_t> first_second_;
  Timestamp last_;
  std::string_view last_text_;
  std::int64_t second_count_ = 0;
};

Result<Timestamp> TimedTraceBuilder::checked_timestamp(const Field& field) const {
  const auto timestamp = detail::parse_timestamp(field.text);
  if (!timestamp) {
    return lines_->error(
        field.column, fmt::format("wanted a time like 2023-11-16 18:15:46.6805900, found {}", in_quotes(field.text)));
  }
  if (!first_second_) return *timestamp;
  // Within the same microsecond rows may be in any order.
  const auto kept = [](const Timestamp& time) { return std::pair(time.second, time.nanos / 1000); };
  if (kept(*timestamp) < kept(last_)) {
    return lines_->error(field.column, fmt::format("wanted a time not before that of the row above, {}, found {}",
                                                   in_quotes(last_text_), in_quotes(field.text)));
  }
  if (timestamp->second - *first_second_ >= kRecordedSecondsMax) {
    return lines_->error(field.column, fmt::format("wanted a time within {} seconds of the first row's, found {}",
                                                   kRecordedSecondsMax, in_quotes(field.text)));
  }
  return *timestamp;
}

Result<void> TimedTraceBuilder::add(const std::vector<Field>& fields) {
  const auto timestamp = checked_timestamp(fields[0]);
  if (!timestamp) return pass_on(timestamp.error());
  const auto context_tokens = lines_->count(fields[1], UINT32_MAX);
  if (!context_tokens) return pass_on(context_tokens.error());
  const auto generated_tokens = lines_->count(fields[2], UINT32_MAX);
  if (!generated_tokens) return pass_on(generated_tokens.error());

  second_count_ = first_second_ && timestamp->second == last_.second ? second_count_ + 1 : 1;
  if (second_count_ > kRequestsPerSecondMax) {
    return lines_->error(1, fmt::format("wanted at most {} requests in a second, found more", kRequestsPerSecondMax));
  }
  if (!first_second_) first_second_ = timestamp->second;
  last_ = *timestamp;
  last_text_ = fields[0].text;
  const std::int64_t second = timestamp->second - *first_second_;
  trace_.seconds = second + 1;
  trace_.requests.push_back({.at_us = second * kMicrosPerSecond + timestamp->nanos / 1000,
                             .context_tokens = static_cast<std::uint32_t>(*context_tokens),
                             .generated_tokens = static_cast<std::uint32_t>(*generated_tokens)});
  return {};
}

}  // namespace

Result<TimedTrace> read_azure_llm(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  if (const auto header = detail::read_header(lines, kAzureLlmHeader); !header) return pass_on(header.error());
  TimedTraceBuilder builder(lines);
  while (true) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const auto fields = lines.fields(3);
    if (!fields) return pass_on(fields.error());
    if (const auto added = builder.add(*fields); !added) return pass_on(added.error());
  }
  TimedTrace trace = std::move(builder).take();
  if (trace.requests.empty()) return lines.missing_row();
  return trace;
}

}  // namespace berth
