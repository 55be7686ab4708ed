/// Keeps the forecasts of a policy and the arrivals in bins: bounded memory for any length of the run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "engine/loop/outlook.h"
#include "sim/measure/result.h"
#include "sim/measure/timeline.h"

namespace berth::measure {

/// The leads at which forecasts are kept. Those longer than the scenario's window never occur.
inline constexpr std::array<std::int64_t, 2> kForecastLeads = {0, 60};

/// Receives the forecast at each plan. For each second and lead it keeps the forecast of the latest plan that began at
/// least the lead before that second, and compares it with the arrivals of that second.
///
/// Of the `samples` equally likely values of a second, ascending, the first is the lower edge of the band, the middle
/// one the median, and the last the upper edge: n samples that are the middles of n equal parts of the probability
/// enclose a band with a probability of 1 - 1/n. Noting a forecast costs about a copy of three numbers per second of
/// the window.
class ForecastWatch {
 public:
  /// `arrivals` returns the requests of a second of the run. `scenario` must outlive it. Requires: samples >= 3, odd.
  ForecastWatch(const Scenario& scenario, int samples,
                std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals);

  /// Adds a plan's forecast for a service: `loads` is Expected::loads of the stretch. Requires: stretches of one
  /// service begin in order of time.
  void note(ServiceId service, const Stretch& stretch, const std::vector<double>& loads);

  /// Settles all open seconds and moves the results into `insight`: band_share, and the leads at which anything was
  /// forecast.
  void finish_into(Insight& insight);

 private:
  struct Band {
    double low = 0;
    double median = 0;
    double high = 0;
  };
  struct Bin {
    Band sum;
    std::int64_t seconds = 0;
  };
  /// One service at one lead.
  struct LeadTally {
    std::vector<Bin> bins;
    std::int64_t judged = 0;
    std::int64_t inside = 0;
    double arrived = 0;
    double error = 0;
  };
  struct WatchedService {
    std::int64_t from_second = 0;
    std::vector<Band> latest;                              ///< of the seconds from from_second on
    std::array<LeadTally, kForecastLeads.size()> by_lead;  ///< as kForecastLeads
  };

  /// At each lead, settles the seconds of the latest forecast that a plan which begins at `next` does not replace.
  void settle(ServiceId service, std::int64_t next);
  void judge(ServiceId service, std::int64_t second, const Band& band, LeadTally& tally) const;
  [[nodiscard]] ServiceForecast result_of(const LeadTally& tally) const;

  std::int64_t seconds_;  ///< of the run
  TimelineBins bins_;
  std::size_t samples_;
  std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals_;
  std::vector<WatchedService> services_;
};

/// The same source; every answer is also passed to `watch`, in the thread that computes it. `watch` must outlive it.
[[nodiscard]] OutlookSource watched_outlook(OutlookSource source, ForecastWatch& watch);

}  // namespace berth::measure
