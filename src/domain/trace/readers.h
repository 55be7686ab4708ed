/// Readers of public traces: the text of a file in, a trace or the first error out. `file` is the name that errors
/// begin with: FILE:LINE:COLUMN, what was wanted and what was found.
///
/// All formats: a byte-order mark, CRLF and blank lines at the end are accepted; blank lines before are errors; so are
/// a trace without a row, more than kRequestsPerSecondMax requests in a second, and a trace longer than
/// kRecordedSecondsMax. One pass; memory is bounded by the text and that length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "domain/values/arrivals.h"

namespace berth {

/// The longest recorded trace in seconds (2 years): 256 MiB of counts, whatever a row of a small file says.
inline constexpr std::int64_t kRecordedSecondsMax = std::int64_t{1} << 26;

/// The time that one count of a MinuteTrace covers.
inline constexpr std::int64_t kMinuteSeconds = 60;

/// `rps-text`: one count per line.
[[nodiscard]] Result<CountTrace> read_rps_text(std::string_view text, std::string_view file);

/// `csv`: the header second,requests; seconds strictly increase, a missing one is zero, the trace begins at the number
/// 0.
[[nodiscard]] Result<CountTrace> read_count_csv(std::string_view text, std::string_view file);

/// `azure-llm`: the header TIMESTAMP,ContextTokens,GeneratedTokens; a timestamp is YYYY-MM-DD HH:MM:SS with a fraction
/// of 1 to 9 digits or none, `T` or a space between, `Z`, `+00:00` or nothing after it. Times are truncated
/// to microseconds and must not decrease; within a microsecond rows may be in any order. The trace's second 0 is the
/// first one, rounded down.
[[nodiscard]] Result<TimedTrace> read_azure_llm(std::string_view text, std::string_view file);

/// What to read from a file of many functions: one application (its functions summed) or one function; with an empty
/// hash all of them, summed.
struct FunctionSelector {
  bool is_app = false;
  std::string hash;
};

/// `azure-functions`: the header HashOwner,HashApp,HashFunction,Trigger, then one column per minute, numbered without a
/// gap; the first is minute 0 of the trace. Rows of the selected hash are summed; a function that occurs in several
/// applications is refused, because the hash alone is ambiguous. Every row is checked, used or not. An
/// unknown hash is an error.
[[nodiscard]] Result<MinuteTrace> read_azure_functions(std::string_view text, std::string_view file,
                                                       const FunctionSelector& selector);

/// Length of the trace in seconds: of a recorded trace its own, of a generator from_second + seconds.
[[nodiscard]] std::int64_t trace_seconds(const Arrivals& arrivals);

}  // namespace berth
