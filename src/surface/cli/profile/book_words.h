/// What the tables of profiles share: places, times and drift in words.
#pragma once

#include <cstdint>
#include <string>

#include "domain/profile_book/in_force.h"
#include "domain/values/profile_run.h"

namespace berth::cli {

/// "A30-24GB:1g.6gb (cpu)", or the device alone.
[[nodiscard]] std::string place_words(const std::string& label, const ProfilingMachine& machine);

/// "2026-11-29 22:54".
[[nodiscard]] std::string minute_text(std::int64_t since_1970_us);

/// The mean of a measured batch; an imported one has its own decimals.
[[nodiscard]] std::string measured_latency_words(const ProfilePoint& point);

/// "drift: digits on cpu, batch 4: measured 1.23 ms (812 batches), observed 1.62 ms (200 batches): 31.3 % more".
/// Requires: the point is drift.
[[nodiscard]] std::string drift_line(const std::string& model, const profile_book::PlaceInForce& place,
                                     const profile_book::PointInForce& point);

}  // namespace berth::cli
