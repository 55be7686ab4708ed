#include "domain/trace/readers.h"

#include <fmt/format.h>

#include "domain/trace/detail/trace_lines.h"

namespace berth {
namespace {

using detail::TraceLines;

constexpr std::string_view kCountHeader = "second,requests";

}  // namespace

Result<CountTrace> read_rps_text(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  CountTrace trace;
  while (true) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const Field field = lines.field();
    const auto count = lines.count(field, kRequestsPerSecondMax);
    if (!count) return pass_on(count.error());
    if (std::ssize(trace.counts) == kRecordedSecondsMax) {
      return lines.error(1, fmt::format("wanted at most {} lines, found more", kRecordedSecondsMax));
    }
    trace.counts.push_back(static_cast<std::uint32_t>(*count));
  }
  if (trace.counts.empty()) return lines.missing_row();
  return trace;
}

Result<CountTrace> read_count_csv(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  if (const auto header = detail::read_header(lines, kCountHeader); !header) return pass_on(header.error());
  CountTrace trace;
  while (true) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const auto fields = lines.fields(2);
    if (!fields) return pass_on(fields.error());
    const auto second = lines.count((*fields)[0], kRecordedSecondsMax - 1);
    if (!second) return pass_on(second.error());
    const auto count = lines.count((*fields)[1], kRequestsPerSecondMax);
    if (!count) return pass_on(count.error());
    if (*second < std::ssize(trace.counts)) {
      return lines.error((*fields)[0].column,
                         fmt::format("wanted a second above {}, found {}", std::ssize(trace.counts) - 1, *second));
    }
    trace.counts.resize(static_cast<std::size_t>(*second));
    trace.counts.push_back(static_cast<std::uint32_t>(*count));
  }
  if (trace.counts.empty()) return lines.missing_row();
  return trace;
}

std::int64_t trace_seconds(const Arrivals& arrivals) {
  if (const auto* by_second = std::get_if<CountTrace>(&arrivals.source)) return std::ssize(by_second->counts);
  if (const auto* by_minute = std::get_if<MinuteTrace>(&arrivals.source))
    return std::ssize(by_minute->counts) * kMinuteSeconds;
  if (const auto* timed = std::get_if<TimedTrace>(&arrivals.source)) return timed->seconds;
  return arrivals.from_second + arrivals.seconds;
}

}  // namespace berth
