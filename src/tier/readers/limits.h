/// The largest numbers that readers of measurements accept.
#pragma once

#include <cstdint>

namespace berth::tier {

inline constexpr int kBatchMax = 1'000'000'000;
inline constexpr int kProcessesMax = 1'000'000;
inline constexpr std::int64_t kRateMax = 1'000'000'000'000;       ///< samples or steps per second
inline constexpr std::int64_t kSecondsMax = 1'000'000'000;        ///< of a step
inline constexpr std::int64_t kLatencyMsMax = 1'000'000'000'000;  ///< of a batch
inline constexpr std::int64_t kGraphFigureMax = 1'000'000'000'000'000'000;

}  // namespace berth::tier
