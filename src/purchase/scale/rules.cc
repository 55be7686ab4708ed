#include "purchase/scale/rules.h"

#include <algorithm>

namespace berth::scale {
namespace {

constexpr std::int64_t kFirstDecision = 60;
constexpr std::int64_t kTrackingSeconds = 15;
constexpr std::int64_t kBandSeconds = 60;
// The bands around the target of 0.7, in hundredths of a replica's rate: 1.2 x 0.7 and 0.5 x 0.7.
constexpr std::int64_t kBandUpper = 84;
constexpr std::int64_t kBandLower = 35;

bool decides(std::int64_t second, std::int64_t period) { return second >= kFirstDecision && second % period == 0; }

}  // namespace

std::int64_t TargetTracking::want(const Moment& moment) {
  const std::int64_t present = moment.replicas();
  if (!decides(moment.second, kTrackingSeconds)) return present;
  const std::int64_t now = answer(moment);
  answers_.push_back({.second = moment.second, .replicas = now});
  while (answers_.front().second <= moment.second - tracking_.hold_seconds) answers_.pop_front();
  if (now >= present) return now;
  std::int64_t largest = now;
  for (const Answer& earlier : answers_) largest = std::max(largest, earlier.replicas);
  return std::min(largest, present);
}

std::int64_t TargetTracking::answer(const Moment& moment) const {
  const std::int64_t requests = problem_.load.sum(moment.second - kTrackingSeconds, moment.second);
  // x = requests / 15 / (rate x target) as a fraction.
  const Int128 dividend = Int128{20} * requests * problem_.rate.denominator();
  const Int128 divisor = Int128{kTrackingSeconds} * tracking_.target_twentieths * problem_.rate.numerator();
  const Int128 present = divisor * moment.replicas();
  const Int128 distance = dividend > present ? dividend - present : present - dividend;
  if (present > 0 && distance * 10 <= present) return moment.replicas();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>((dividend + divisor - 1) / divisor));
}

std::int64_t want_of_bands(const Problem& problem, const Moment& moment) {
  const std::int64_t present = moment.replicas();
  if (!decides(moment.second, kBandSeconds)) return present;
  const std::int64_t requests = problem.load.sum(moment.second - kBandSeconds, moment.second);
  // load = requests / 60 / (rate x present), compared after multiplying by 100 x 60 x rate x present.
  const Int128 load = Int128{100} * requests * problem.rate.denominator();
  const Int128 full = Int128{kBandSeconds} * problem.rate.numerator() * present;
  if (present == 0 || load > full * kBandUpper) return present + 1;
  if (load < full * kBandLower) return std::max<std::int64_t>(1, present - 1);
  return present;
}

}  // namespace berth::scale
