/// Whether a service kept its agreed share in time during the last minute, and what its load needs.
///
/// Needed are the fewest requests per second that would have been enough: the least rate c with
///
///   sum over t of min(requests(t), c x seconds(t)) >= agreed share x requests of the minute,
///
/// where the parts t of the minute are as long as the latency target, at least a second. It is the rate that a plan
/// would reserve for a floor of that share (planner/window/window.h, floor_rate), for the load that really came.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "live/session/agreed_share.h"
#include "live/session/catalog.h"
#include "live/session/condition.h"

namespace berth::live {

class Session;

/// Requests per second of the slices that a service holds for inference; `largest` is absent if no slice can serve it.
struct SliceRates {
  std::vector<double> serving;
  std::vector<double> others;     ///< of those that do not serve yet
  std::optional<double> largest;  ///< of one slice: of those it holds, or, without any, of all kinds in the fleet
};

/// What a service needs for the load of its last minute.
struct Need {
  AgreedShare agreed;
  std::optional<double> rate = std::nullopt;          ///< requests per second; absent before the first figures
  std::optional<std::int64_t> slices = std::nullopt;  ///< absent if `rate` is, or if no slice can serve the service
  double capacity = 0;                                ///< requests per second of the slices that serve now
};

/// How many slices answer that many requests per second: those that serve first, then those that do not serve yet, the
/// largest first, then more like the largest. So it exceeds the number of those that serve if and only if they are not
/// enough. Absent if no slice can serve the service.
[[nodiscard]] std::optional<std::int64_t> slices_for(double rate, SliceRates rates);

/// O(slices of the service + seconds of the window).
[[nodiscard]] Need need_of(const Session& session, ServiceId service);
/// True or False: the share in time of the requests that `last_minute` shows, compared exactly with the agreed one;
/// Unknown without requests.
[[nodiscard]] Condition in_time_condition(const Session& session, const ServiceEntry& service, const Need& need);

/// Services by the status of that condition.
struct InTimeCounts {
  std::int64_t kept = 0;
  std::int64_t missed = 0;
  std::int64_t unknown = 0;
};
/// O(services).
[[nodiscard]] InTimeCounts count_in_time(const Session& session);

}  // namespace berth::live
