/// The rows of an azure-functions file, checked one by one: shared by its readers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "domain/trace/detail/trace_lines.h"
#include "domain/values/arrivals.h"

namespace berth::detail {

inline constexpr std::array<std::string_view, 4> kFunctionColumns = {"HashOwner", "HashApp", "HashFunction", "Trigger"};
inline constexpr std::size_t kAppColumn = 1;
inline constexpr std::size_t kFunctionColumn = 2;
inline constexpr std::int64_t kCallsPerMinuteMax = std::int64_t{60} * kRequestsPerSecondMax;

/// Reads the first line; how many fields a row must have, the names included.
[[nodiscard]] Result<std::size_t> read_function_header(TraceLines& lines);

/// Refuses names that are empty or not UTF-8. Requires: the fields of a row.
[[nodiscard]] Result<void> check_function_names(const TraceLines& lines, const std::vector<Field>& fields);

/// The number of minutes in a row with that many fields, and the field of a minute.
[[nodiscard]] constexpr std::size_t minutes_of(std::size_t field_count) {
  return field_count - kFunctionColumns.size();
}
[[nodiscard]] inline const Field& minute_field(const std::vector<Field>& fields, std::size_t minute) {
  return fields[kFunctionColumns.size() + minute];
}

/// The calls of a minute. Requires as above.
[[nodiscard]] inline Result<std::int64_t> calls_in(const TraceLines& lines, const std::vector<Field>& fields,
                                                   std::size_t minute) {
  return lines.count(minute_field(fields, minute), kCallsPerMinuteMax);
}

}  // namespace berth::detail
