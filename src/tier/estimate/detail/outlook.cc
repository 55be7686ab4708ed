#include "tier/estimate/detail/outlook.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tier/estimate/detail/student.h"

namespace berth::tier {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
/// Equally likely costs that stand for the distribution where the target is kept.
constexpr int kCostCount = 33;
constexpr double kZMax = 1e4;
constexpr int kZBisections = 64;
/// A ratio that is a whole number but for rounding is that number.
constexpr double kCeilSlack = 1e-9;
/// See is_usable in tier/values/attained.h.
constexpr double kUsableShare = 0.45;

struct Attained {
  double per_second = 0;
  double latency_ms = 0;
};

class Prospect {
 public:
  Prospect(const TierOutlook& outlook, const TierTarget& target)
      : outlook_(outlook), per_second_(target.per_second.to_double()), latency_ms_(target.latency_ms.to_double()) {}

  [[nodiscard]] TierEstimate estimate() const;

 private:
  [[nodiscard]] bool is_job() const { return outlook_.kind == TierKind::kJobs; }
  [[nodiscard]] Attained attained(double z) const;
  [[nodiscard]] bool keeps(double z) const;
  [[nodiscard]] double cost(double z) const;
  /// The z from which on the target is kept: keeping is monotone.
  [[nodiscard]] double threshold() const;

  const TierOutlook& outlook_;
  double per_second_;
  double latency_ms_;
};

Attained Prospect::attained(double z) const {
  Attained most;
  for (const SizeOutlook& size : outlook_.sizes) {
    const double per_second = std::exp(size.log_per_second + size.deviation * z);
    if (is_job()) return {.per_second = per_second, .latency_ms = 0};
    const double latency_ms = outlook_.latency_factor * 1000 * size.rows / per_second;
    if (latency_ms < kUsableShare * latency_ms_ && per_second > most.per_second) {
      most = {.per_second = per_second, .latency_ms = latency_ms};
    }
  }
  return most;
}

bool Prospect::keeps(double z) const {
  const double per_second = attained(z).per_second;
  return is_job() ? per_second >= per_second_ : per_second > 0;
}

double Prospect::cost(double z) const {
  const double per_second = attained(z).per_second;
  if (!(per_second > 0)) return kUnbounded;
  if (is_job()) return outlook_.usd_per_hour / per_second;
  return outlook_.usd_per_hour * std::ceil(per_second_ / per_second * (1 - kCeilSlack));
}

double Prospect::threshold() const {
  double low = -kZMax;
  double high = kZMax;
  if (keeps(low)) return -kUnbounded;
  if (!keeps(high)) return kUnbounded;
  for (int i = 0; i < kZBisections; ++i) {
    const double middle = low + (high - low) / 2;
    (keeps(middle) ? high : low) = middle;
  }
  return high;
}

TierEstimate Prospect::estimate() const {
  const auto at_share = [&](double share) { return student_quantile(share, outlook_.degrees); };
  const Attained middle = attained(0);
  TierEstimate estimate{.is_measured = false,
                        .per_second = middle.per_second,
                        .per_second_p10 = attained(at_share(0.1)).per_second,
                        .per_second_p90 = attained(at_share(0.9)).per_second,
                        .latency_ms = middle.latency_ms,
                        .cost = cost(0),
                        .cost_mean = kUnbounded};
  const double from = threshold();
  const double missed = std::isfinite(from) ? student_cdf(from, outlook_.degrees) : (from < 0 ? 0 : 1);
  estimate.probability = 1 - missed;
  if (!(estimate.probability > 0)) return estimate;
  double sum = 0;
  for (int i = 0; i < kCostCount; ++i) {
    const double share = missed + (1 - missed) * (i + 0.5) / kCostCount;
    const double z = share > 0 && share < 1 ? std::max(at_share(share), from) : from;
    estimate.costs.push_back(cost(z));
    sum += estimate.costs.back();
  }
  estimate.cost_mean = sum / kCostCount;
  return estimate;
}

}  // namespace

TierEstimate estimate_of(const TierOutlook& outlook, const TierTarget& target) {
  return Prospect(outlook, target).estimate();
}

}  // namespace berth::tier
