#include "domain/trace/app_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "domain/trace/detail/function_rows.h"

namespace berth {
namespace {

using detail::TraceLines;

constexpr std::string_view kAppHeader = "app,minute,invocations";

/// Numbers of apps in the order in which they are first named; found by name.
class AppNumbers {
 public:
  /// The number of an app, a new one if it is new; `trace` gets the app. The text of the name must outlive this.
  [[nodiscard]] std::size_t number_of(std::string_view app, AppTrace& trace) {
    const auto [place, is_new] = numbers_.try_emplace(app, trace.apps.size());
    if (is_new) trace.apps.push_back({.app = std::string(app), .invoked = {}});
    return place->second;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

/// Sorts the minutes of each app and adds them up; where a minute was added twice, its counts are summed. Drops the
/// minutes and the apps without invocations.
void settle(AppTrace& trace) {
  for (AppCounts& app : trace.apps) {
    std::ranges::sort(app.invoked, {}, &InvokedMinute::minute);
    std::size_t kept = 0;
    for (const InvokedMinute& each : app.invoked) {
      app.invocations += each.invocations;
      if (kept > 0 && app.invoked[kept - 1].minute == each.minute) {
        app.invoked[kept - 1].invocations += each.invocations;
      } else if (each.invocations > 0) {
        app.invoked[kept++] = each;
      }
    }
    app.invoked.resize(kept);
  }
  std::erase_if(trace.apps, [](const AppCounts& app) { return app.invocations == 0; });
}

/// The counts of a row of an azure-functions file.
Result<void> add_function_row(const TraceLines& lines, const std::vector<Field>& fields, AppCounts& app) {
  std::int64_t sum = 0;
  for (std::size_t minute = 0; minute < detail::minutes_of(fields.size()); ++minute) {
    const auto calls = detail::calls_in(lines, fields, minute);
    if (!calls) return pass_on(calls.error());
    if (*calls > 0) app.invoked.push_back({.minute = static_cast<std::int64_t>(minute), .invocations = *calls});
    sum += *calls;
  }
  app.invocations += sum;
  if (app.invocations <= kAppInvocationsMax) return {};
  return lines.error(1, fmt::format("wanted at most {} invocations of an app, found more", kAppInvocationsMax));
}

/// A row of a csv file, as numbers.
struct AppRow {
  std::string_view app;
  InvokedMinute counted;
};

Result<AppRow> read_app_row(const TraceLines& lines) {
  const auto fields = lines.fields(3);
  if (!fields) return pass_on(fields.error());
  const Field& app = (*fields)[0];
  if (app.text.empty() || find_bad_utf8(app.text) != std::string_view::npos) {
    return lines.error(app.column, fmt::format("wanted the name of an app, found {}", in_quotes(app.text)));
  }
  const auto minute = lines.count((*fields)[1], kAppMinutesMax - 1);
  if (!minute) return pass_on(minute.error());
  const auto invocations = lines.count((*fields)[2], detail::kCallsPerMinuteMax);
  if (!invocations) return pass_on(invocations.error());
  return AppRow{.app = app.text, .counted = {.minute = *minute, .invocations = *invocations}};
}

/// A row, and its line: to find a pair that comes twice.
struct PlacedMinute {
  std::int64_t minute = 0;
  std::size_t line = 0;
  friend auto operator<=>(const PlacedMinute&, const PlacedMinute&) = default;
};

/// The first line that names a pair of app and minute again; none: 0.
std::size_t first_repeated_line(std::vector<std::vector<PlacedMinute>>& places) {
  std::size_t first = 0;
  for (std::vector<PlacedMinute>& rows : places) {
    std::ranges::sort(rows);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].minute != rows[i - 1].minute) continue;
      if (first == 0 || rows[i].line < first) first = rows[i].line;
    }
  }
  return first;
}

}  // namespace

Result<AppTrace> read_azure_apps(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  const auto field_count = detail::read_function_header(lines);
  if (!field_count) return pass_on(field_count.error());
  AppTrace trace{.minutes = static_cast<std::int64_t>(detail::minutes_of(*field_count)), .apps = {}};
  AppNumbers numbers;
  std::size_t row_count = 0;
  for (;; ++row_count) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const auto fields = lines.fields(*field_count);
    if (!fields) return pass_on(fields.error());
    if (const auto checked = detail::check_function_names(lines, *fields); !checked) return pass_on(checked.error());
    AppCounts& app = trace.apps[numbers.number_of((*fields)[detail::kAppColumn].text, trace)];
    if (const auto added = add_function_row(lines, *fields, app); !added) return pass_on(added.error());
  }
  if (row_count == 0) return lines.missing_row();
  for (AppCounts& app : trace.apps) app.invocations = 0;
  settle(trace);
  return trace;
}

Result<AppTrace> read_app_csv(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  if (const auto header = detail::read_header(lines, kAppHeader); !header) return pass_on(header.error());
  AppTrace trace;
  AppNumbers numbers;
  std::vector<std::vector<PlacedMinute>> places;  // of the rows of each app
  for (std::size_t line = 2;; ++line) {
    const auto has_line = lines.next();
    if (!has_line) return pass_on(has_line.error());
    if (!*has_line) break;
    const auto row = read_app_row(lines);
    if (!row) return pass_on(row.error());
    const std::size_t number = numbers.number_of(row->app, trace);
    places.resize(trace.apps.size());
    places[number].push_back({.minute = row->counted.minute, .line = line});
    trace.apps[number].invoked.push_back(row->counted);
    trace.minutes = std::max(trace.minutes, row->counted.minute + 1);
  }
  if (trace.minutes == 0) return lines.missing_row();
  if (const std::size_t line = first_repeated_line(places); line > 0) {
    return lines.error({.line = line, .column = 1}, "wanted each pair of app and minute once, found it again");
  }
  settle(trace);
  return trace;
}

}  // namespace berth
