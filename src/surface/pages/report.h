/// The report of a replay: one self-contained HTML page. It needs no network and no other file.
#pragma once

#include <string>

#include "domain/values/scenario.h"
#include "sim/study/replay.h"

namespace berth::report {

/// The page, UTF-8. Names from the scenario are escaped; absent figures are shown as absent. The layout strips show the
/// first `kReportGpusMax` GPUs, the load charts the first `kReportServicesMax` services, and the page says so. The same
/// arguments give the same bytes. Requires: `result` comes from a replay of `scenario` (its ids refer to services and
/// GPUs of that scenario).
[[nodiscard]] std::string render_report(const Scenario& scenario, const study::ReplayResult& result);

inline constexpr std::uint32_t kReportGpusMax = 32;
inline constexpr std::size_t kReportServicesMax = 48;
/// The maximum number of spans of slices shown for one policy.
inline constexpr std::size_t kReportSpansMax = 8'000;
/// The maximum number of decisions shown for one policy.
inline constexpr std::size_t kReportDecisionsMax = 4'000;

}  // namespace berth::report
