/// Rules common to the parts of a scenario: durations, accuracies, and the limits that keep later arithmetic in range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "base/yaml/reader.h"
#include "domain/values/arrivals.h"
#include "domain/values/service.h"

namespace berth::scenario::detail {

inline constexpr std::int64_t kGpuCountMax = 100'000;  ///< of the whole fleet
inline constexpr std::size_t kFleetEntryCountMax = 1000;
inline constexpr std::int64_t kDurationSecondsMax = 1'000'000'000;  ///< of every duration in the file, about 31 years
inline constexpr std::int64_t kHistorySecondsMax = 2'592'000;       ///< 30 days: engines store them
inline constexpr std::int64_t kPlainNumberMax = 1'000'000'000;      ///< of weights, factors, prices, counts

/// Seconds, 0 or more, as whole microseconds rounded half up; `fallback` if nothing is written.
[[nodiscard]] Micros duration(const yaml::Value& seconds, Micros fallback);
/// The same for a value that must be given and be at least a microsecond.
[[nodiscard]] Micros duration_above_zero(const yaml::Value& seconds);

/// One number from 0 to 1, or a map of before and after, in millionths rounded half up. 1 if nothing is written.
[[nodiscard]] Accuracy accuracy(const yaml::Value& value);

/// Seconds as microseconds, rounded half up, computed from more than one number; fails at `value` if out of
/// range.
[[nodiscard]] Micros checked_duration(const yaml::Value& value, const Decimal& seconds);

}  // namespace berth::scenario::detail
