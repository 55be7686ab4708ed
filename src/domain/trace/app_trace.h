/// Traces of many applications by the minute, such as functions in a cloud: which was invoked when, and how often.
///
/// Readers: the text of a file in, a trace or the first error out, as in readers.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// A minute with invocations.
struct InvokedMinute {
  std::int64_t minute = 0;  ///< of the trace, from 0
  std::int64_t invocations = 0;

  friend bool operator==(const InvokedMinute&, const InvokedMinute&) = default;
};

/// An application with at least one invocation.
struct AppCounts {
  std::string app;
  std::vector<InvokedMinute> invoked{};  ///< by minute; each at most once, none without invocations
  std::int64_t invocations = 0;          ///< their sum

  friend bool operator==(const AppCounts&, const AppCounts&) = default;
};

struct AppTrace {
  std::int64_t minutes = 0;     ///< positive, if it was read
  std::vector<AppCounts> apps;  ///< in the order of their first rows, those without an invocation left out

  friend bool operator==(const AppTrace&, const AppTrace&) = default;
};

/// The longest such trace in minutes (2 years), and the most invocations of one app in it.
inline constexpr std::int64_t kAppMinutesMax = std::int64_t{1} << 20;
inline constexpr std::int64_t kAppInvocationsMax = std::int64_t{1} << 50;

/// `azure-functions`: as read_azure_functions; the rows of a HashApp are summed.
[[nodiscard]] Result<AppTrace> read_azure_apps(std::string_view text, std::string_view file);

/// `csv`: the header app,minute,invocations; rows in any order, each pair of app and minute at most once. The trace
/// ends with the last minute that a row names.
[[nodiscard]] Result<AppTrace> read_app_csv(std::string_view text, std::string_view file);

}  // namespace berth
