/// The arrivals that the rivals expect: forecasts of every service, as a distribution of requests per second.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/forecast/forecaster.h"
#include "domain/values/slice.h"
#include "domain/values/snapshot.h"

namespace berth::partition::detail {

/// Requests per second as a discrete distribution: the share of seconds for each count.
class DemandForecast {
 public:
  struct CountShare {
    double requests = 0;
    double share = 0;  ///< > 0; all together 1
    friend auto operator<=>(const CountShare&, const CountShare&) = default;
  };

  /// The distribution over seconds with these quantiles, each second equally likely; empty: nothing arrives.
  [[nodiscard]] static DemandForecast from_quantiles(const std::vector<forecast::Quantiles>& seconds);

  [[nodiscard]] double mean() const { return served_.empty() ? 0 : served_.back(); }
  /// Mean requests per second that a capacity serves: E[min(requests, capacity)]. O(log counts).
  [[nodiscard]] double served(double capacity) const;
  /// The share of seconds with more arrivals than a capacity: the slope of `served` there.
  [[nodiscard]] double share_above(double capacity) const;
  /// The least number that is not exceeded in a share `level` of the seconds. Requires: 0 < level <= 1.
  [[nodiscard]] double quantile(double level) const;

 private:
  std::vector<CountShare> counts_;  ///< by requests
  std::vector<double> shares_;      ///< [i]: of counts 0 .. i
  std::vector<double> served_;      ///< [i]: sum of requests x share of counts 0 .. i
};

/// One forecaster per service (the combination of docs/reference/forecast.md), which gets each second once.
class ServiceForecasts {
 public:
  explicit ServiceForecasts(std::size_t service_count);

  /// Observes the new seconds of the snapshot.
  void observe(const Snapshot& snapshot);

  /// Quantiles of the `seconds` seconds from `from_second` on. Requires: later than what was observed.
  [[nodiscard]] std::vector<forecast::Quantiles> quantiles(ServiceId service, std::int64_t from_second,
                                                           std::int64_t seconds) const;
  [[nodiscard]] DemandForecast demand(ServiceId service, std::int64_t from_second, std::int64_t seconds) const {
    return DemandForecast::from_quantiles(quantiles(service, from_second, seconds));
  }

  /// To be read into an object for the same number of services.
  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    const std::size_t count = self.services_.size();
    archive(self.services_);
    archive.require(self.services_.size() == count);
  }

 private:
  struct ServiceForecaster {
    forecast::Forecaster forecaster;
    std::int64_t last_second = INT64_MIN;
  };
  std::vector<ServiceForecaster> services_;
};

/// The probability that each of forecast::kLevels represents, with limits half-way to its neighbours.
[[nodiscard]] const std::vector<double>& level_shares();

}  // namespace berth::partition::detail
