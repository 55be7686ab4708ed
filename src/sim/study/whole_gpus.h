/// How many whole GPUs each service needs when it has GPUs of its own: the baselines of a case.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/elastic/whole_gpus_stage.h"
#include "purchase/scale/rules.h"

namespace berth::study {

/// Called from time to time; false stops. May be empty.
using GoesOn = std::function<bool()>;

/// The arrivals of a service as an autoscaler of whole GPUs sees them, and what one GPU serves at its default point.
class WholeGpuLoad {
 public:
  /// Error: no whole GPU can serve it.
  [[nodiscard]] static Result<WholeGpuLoad> of(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                               const Decimal& attainment);

  [[nodiscard]] scale::Problem problem() const;
  /// The same load, where a replica answers one request per second.
  [[nodiscard]] scale::Problem by_request() const;
  [[nodiscard]] std::int64_t peak_gpus() const;  ///< that serve the busiest second at once

 private:
  std::vector<std::uint32_t> counts_;
  std::int64_t history_ = 0;
  scale::Problem problem_;  ///< without its load
};

/// The smallest constant number of whole GPUs with which the service keeps the attainment in a replay, its GPUs and
/// requests alone. By bisection: more GPUs of its own never serve a service worse. Errors: none keeps it; stopped.
[[nodiscard]] Result<std::int64_t> smallest_whole_count(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                                        const WholeGpuLoad& load, const Decimal& attainment,
                                                        const GoesOn& goes_on);

/// Target tracking, tuned to the run.
struct TunedTracking {
  scale::Tracking tracking;
  std::vector<std::int64_t> wants;  ///< by second
  bool holds = false;
};

/// Of the 63 settings of purchase/scale/hindsight.h the cheapest with which the service keeps the attainment in a
/// replay; ties: the smaller target, then hold. If none does, the one with most requests in time. Error: stopped.
[[nodiscard]] Result<TunedTracking> tuned_whole_counts(const Scenario& scenario, ServiceId service, std::uint64_t seed,
                                                       const WholeGpuLoad& load, const Decimal& attainment,
                                                       const GoesOn& goes_on);

}  // namespace berth::study
