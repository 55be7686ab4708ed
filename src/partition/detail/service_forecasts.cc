#include "partition/detail/outlook.h"

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
  std::vector<Part> parts;
  parts.reserve(seconds.size() * forecast::kLevels.size());
  for (const forecast::Quantiles& quantiles : seconds) {
    for (std::size_t level = 0; level < quantiles.size(); ++level) {
      parts.push_back({quantiles[level], level_shares()[level] / static_cast<double>(seconds.size())});
    }
  }
  std::ranges::sort(parts);
  DemandForecast demand;
  double share = 0;
  double served = 0;
  for (const Part& part : parts) {
    share += part.share;
    served += part.share * part.requests;
    if (!demand.parts_.empty() && demand.parts_.back().requests == part.requests) {
      demand.shares_.back() = share;
      demand.served_.back() = served;
      continue;
    }
    demand.parts_.push_back(part);
    demand.shares_.push_back(share);
    demand.served_.push_back(served);
  }
  return demand;
}

double DemandForecast::served(double capacity) const {
  const auto above = std::ranges::upper_bound(parts_, capacity, {}, &Part::requests);
  if (above == parts_.end()) return mean();
  const auto index = static_cast<std::size_t>(above - parts_.begin());
  if (index == 0) return capacity;
  return served_[index - 1] + (1 - shares_[index - 1]) * capacity;
}

double DemandForecast::share_above(double capacity) const {
  const auto above = std::ranges::upper_bound(parts_, capacity, {}, &Part::requests);
  const auto index = static_cast<std::size_t>(above - parts_.begin());
  return index == 0 ? 1 : std::max(0.0, 1 - shares_[index - 1]);
}

double DemandForecast::quantile(double level) const {
  if (parts_.empty()) return 0;
  const auto found = std::ranges::lower_bound(shares_, level - 1e-9);
  return found == shares_.end() ? parts_.back().requests
                                : parts_[static_cast<std::size_t>(found - shares_.begin())].requests;
}

Outlook::Outlook(std::size_t service_count) : services_(service_count) {}

void Outlook::observe(const Snapshot& snapshot) {
  for (std::size_t index = 0; index < services_.size(); ++index) {
    Watched& watched = services_[index];
    const auto& seconds = snapshot.services[index].seconds;
    auto first_new = seconds.end();
    while (first_new != seconds.begin() && (first_new - 1)->second > watched.last_second) --first_new;
    for (; first_new != seconds.end(); ++first_new) {
      watched.forecaster.observe(first_new->second, first_new->arrivals);
      watched.last_second = first_new->second;
    }
  }
}

std::vector<forecast::Quantiles> Outlook::quantiles(ServiceId service, std::int64_t from_second,
                                                    std::int64_t seconds) const {
  return services_[service.index].forecaster.predict(from_second, seconds);
}

}  // namespace berth::partition::detail
