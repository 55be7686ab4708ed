#include "engine/elastic/surcharge.h"

#include <algorithm>
#include <cmath>

#include "base/core/ensure.h"

namespace berth::elastic {
namespace {

constexpr double kGrowthPerSecond = 0.0005;
constexpr double kShareMax = 0.5;
constexpr double kHalfLifeSeconds = 900;
/// The seconds over which a service is checked for still missing requests.
constexpr std::int64_t kRecentSeconds = 60;

bool misses_too_much(const Answers& from, const Answers& to, double share_allowed) {
  const auto settled = static_cast<double>(to.settled - from.settled);
  const auto missed = settled - static_cast<double>(to.in_time - from.in_time);
  return missed > share_allowed * settled;
}

}  // namespace

Surcharge::Surcharge(const Decimal& attainment, std::size_t services)
    : share_allowed_(1 - attainment.to_double()), known_(services) {}

void Surcharge::end_second(const std::vector<Answers>& answers) {
  ENSURE(answers.size() == known_.size());
  static const double fade = std::exp2(-1 / kHalfLifeSeconds);
  bool grows = false;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    std::deque<Answers>& known = known_[index];
    known.push_back(answers[index]);
    if (std::ssize(known) > kRecentSeconds) known.pop_front();
    grows = grows || (misses_too_much({}, answers[index], share_allowed_) &&
                      misses_too_much(known.front(), answers[index], share_allowed_));
  }
  share_ = std::min(share_ * fade + (grows ? kGrowthPerSecond : 0), kShareMax);
}

}  // namespace berth::elastic
