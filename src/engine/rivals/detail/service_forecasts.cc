#include "engine/rivals/detail/service_forecasts.h"

#include <algorithm>

namespace berth::partition::detail {

const std::vector<double>& level_shares() {
  static const std::vector<double> shares = [] {
    const auto& levels = forecast::kLevels;
    std::vector<double> result(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const double from = i == 0 ? 0 : (levels[i - 1] + levels[i]) / 2;
      const double until = i + 1 == levels.size() ? 1 : (levels[i] + levels[i + 1]) / 2;
      result[i] = until - from;
    }
    return result;
  }();
  return shares;
}

DemandForecast DemandForecast::from_quantiles(const std::vector<forecast::Quantiles>& seconds) {
  std::vector<CountShare> counts;
  counts.reserve(seconds.size() * forecast::kLevels.size());
  for (const forecast::Quantiles& quantiles : seconds) {
    for (std::size_t level = 0; level < quantiles.size(); ++level) {
      counts.push_back({quantiles[level], level_shares()[level] / static_cast<double>(seconds.size())});
    }
  }
  std::ranges::sort(counts);
  DemandForecast demand;
  double share = 0;
  double served = 0;
  for (const CountShare& count : counts) {
    share += count.share;
    served += count.share * count.requests;
    if (!demand.counts_.empty() && demand.counts_.back().requests == count.requests) {
      demand.shares_.back() = share;
      demand.served_.back() = served;
      continue;
    }
    demand.counts_.push_back(count);
    demand.shares_.push_back(share);
    demand.served_.push_back(served);
  }
  return demand;
}

double DemandForecast::served(double capacity) const {
  const auto above = std::ranges::upper_bound(counts_, capacity, {}, &CountShare::requests);
  if (above == counts_.end()) return mean();
  const auto index = static_cast<std::size_t>(above - counts_.begin());
  if (index == 0) return capacity;
  return served_[index - 1] + (1 - shares_[index - 1]) * capacity;
}

double DemandForecast::share_above(double capacity) const {
  const auto above = std::ranges::upper_bound(counts_, capacity, {}, &CountShare::requests);
  const auto index = static_cast<std::size_t>(above - counts_.begin());
  return index == 0 ? 1 : std::max(0.0, 1 - shares_[index - 1]);
}

double DemandForecast::quantile(double level) const {
  if (counts_.empty()) return 0;
  const auto found = std::ranges::lower_bound(shares_, level - 1e-9);
  return found == shares_.end() ? counts_.back().requests
                                : counts_[static_cast<std::size_t>(found - shares_.begin())].requests;
}

ServiceForecasts::ServiceForecasts(std::size_t service_count) : services_(service_count) {}

void ServiceForecasts::observe(const Snapshot& snapshot) {
  for (std::size_t index = 0; index < services_.size(); ++index) {
    ServiceForecaster& own = services_[index];
    const auto& seconds = snapshot.services[index].seconds;
    auto first_new = seconds.end();
    while (first_new != seconds.begin() && (first_new - 1)->second > own.last_second) --first_new;
    for (; first_new != seconds.end(); ++first_new) {
      own.forecaster.observe(first_new->second, first_new->arrivals);
      own.last_second = first_new->second;
    }
  }
}

std::vector<forecast::Quantiles> ServiceForecasts::quantiles(ServiceId service, std::int64_t from_second,
                                                             std::int64_t seconds) const {
  return services_[service.index].forecaster.predict(from_second, seconds);
}

}  // namespace berth::partition::detail
