#include "engine/outlook.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "forecast/forecaster.h"

namespace berth {
namespace {

/// The levels of a forecast that stand for it: the middles of five equal parts.
constexpr std::array<std::size_t, 5> kSampleLevels = {1, 3, 5, 7, 9};
constexpr double kMeanRateMin = 0.001;

/// The forecasts of all services, kept up with what is seen.
class Forecasts {
 public:
  explicit Forecasts(const Scenario& scenario)
      : forecasters_(scenario.services.size()),
        seen_until_(scenario.services.size(), INT64_MIN),
        totals_(scenario.services.size()) {}

  void observe(const Snapshot& snapshot) {
    for (std::size_t index = 0; index < forecasters_.size(); ++index) {
      const auto& seconds = snapshot.services[index].seconds;
      auto it = seconds.end();
      while (it != seconds.begin() && std::prev(it)->second > seen_until_[index]) --it;
      for (; it != seconds.end(); ++it) {
        forecasters_[index].observe(it->second, it->arrivals);
        seen_until_[index] = it->second;
        totals_[index].requests += static_cast<double>(it->arrivals);
        totals_[index].seconds += 1;
      }
    }
  }

  [[nodiscard]] Expected expect(ServiceId service, const Stretch& stretch) const {
    const forecast::Forecaster& forecaster = forecasters_[service.index];
    const std::int64_t seconds = stretch.seconds + 1;  // the next one stands for the tail
    const auto quantiles = forecaster.predict(stretch.from_second, seconds);
    Expected expected;
    expected.loads.reserve(quantiles.size() * kSampleLevels.size());
    double sum = 0;
    for (const forecast::Quantiles& each : quantiles) {
      for (const std::size_t level : kSampleLevels) expected.loads.push_back(each[level]);
      sum += each[forecast::kMedianIndex];
    }
    const Total& total = totals_[service.index];
    expected.mean_rate =
        std::max(kMeanRateMin, (total.requests + sum) / (total.seconds + static_cast<double>(seconds)));
    return expected;
  }

 private:
  struct Total {
    double requests = 0;
    double seconds = 0;
  };
  std::vector<forecast::Forecaster> forecasters_;
  std::vector<std::int64_t> seen_until_;
  std::vector<Total> totals_;
};

/// Requests a second of each service over the whole run.
std::vector<double> mean_rates_of_run(const Scenario& scenario,
                                      const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals) {
  std::vector<double> rates;
  rates.reserve(scenario.services.size());
  const auto run_seconds = static_cast<double>(scenario.simulated_seconds());
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    double total = 0;
    const std::int64_t seconds = scenario.services[index].arrivals.seconds;
    for (std::int64_t second = 0; second < seconds; ++second) {
      total += static_cast<double>(arrivals(ServiceId{index}, second));
    }
    rates.push_back(std::max(kMeanRateMin, total / run_seconds));
  }
  return rates;
}

}  // namespace

OutlookSource forecast_outlook(const Scenario& scenario) {
  const auto forecasts = std::make_shared<Forecasts>(scenario);
  OutlookSource source;
  source.samples = static_cast<int>(kSampleLevels.size());
  source.observe = [forecasts](const Snapshot& snapshot) { forecasts->observe(snapshot); };
  source.expect = [forecasts](ServiceId service, const Stretch& stretch) {
    return forecasts->expect(service, stretch);
  };
  return source;
}

OutlookSource known_counts_outlook(const Scenario& scenario,
                                   const std::function<std::int64_t(ServiceId, std::int64_t second)>& arrivals) {
  OutlookSource source = forecast_outlook(scenario);
  source.expect = [expect = std::move(source.expect), rates = mean_rates_of_run(scenario, arrivals)](
                      ServiceId service, const Stretch& stretch) {
    Expected expected = expect(service, stretch);
    expected.mean_rate = rates[service.index];
    return expected;
  };
  return source;
}

OutlookSource known_outlook(const Scenario& scenario,
                            std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals) {
  std::vector<double> means = mean_rates_of_run(scenario, arrivals);
  OutlookSource source;
  source.samples = 1;
  source.expect = [arrivals = std::move(arrivals), means = std::move(means)](ServiceId service,
                                                                             const Stretch& stretch) {
    Expected expected;
    expected.mean_rate = means[service.index];
    const std::int64_t end = stretch.from_second + stretch.seconds;
    for (std::int64_t second = stretch.from_second; second < end; ++second) {
      expected.loads.push_back(static_cast<double>(arrivals(service, second)));
    }
    double tail = 0;
    for (std::int64_t second = end; second < end + stretch.tail_seconds; ++second) {
      tail += static_cast<double>(arrivals(service, second));
    }
    expected.loads.push_back(tail / static_cast<double>(stretch.tail_seconds));
    return expected;
  };
  return source;
}

}  // namespace berth
