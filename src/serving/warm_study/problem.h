/// What a study of warm pools is asked: a trace of apps, what a cold start is worth, and the memory that there is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/trace/app_trace.h"

namespace berth::warm {

/// What a cold start of an app counts: as one, or its share of the app's invocations so far.
enum class Weigh { kInvocations, kApps };

/// Prices, all at least 0.
struct Prices {
  std::int64_t cold_minutes = 30;                         ///< the idle minutes that a cold start is worth
  std::int64_t load_seconds = 10;                         ///< how long an app takes to load
  std::optional<std::int64_t> micro_usd_per_idle_hour{};  ///< what an idle hour costs
};

/// A memory that loaded apps share.
struct Memory {
  std::int64_t mib = 1;
  std::vector<std::int64_t> app_mib;  ///< of each app of the trace, at least 1
};

/// The trace is borrowed.
struct Problem {
  const AppTrace* trace = nullptr;
  Weigh weigh = Weigh::kInvocations;
  Prices prices{};
  std::optional<Memory> memory{};  ///< absent: every app may be loaded
};

inline constexpr std::int64_t kSecondsPerMinute = 60;

/// The largest values of options, with which no sum of a study passes 2^126.
inline constexpr std::int64_t kColdMinutesMax = 1'000'000;
inline constexpr std::int64_t kLoadSecondsMax = 1'000'000;
inline constexpr std::int64_t kPriceMax = 1'000'000'000'000;
inline constexpr std::int64_t kMemoryMibMax = 1'000'000'000'000;

}  // namespace berth::warm
