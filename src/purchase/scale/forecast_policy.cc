#include "purchase/scale/forecast_policy.h"

#include "purchase/scale/detail/player.h"

namespace berth::scale {

ForecastPolicy::ForecastPolicy(const Problem& problem, std::int64_t ready)
    : player_(std::make_unique<detail::Player>(problem, ready)) {}

ForecastPolicy::ForecastPolicy(ForecastPolicy&& other) noexcept = default;
ForecastPolicy& ForecastPolicy::operator=(ForecastPolicy&& other) noexcept = default;
ForecastPolicy::~ForecastPolicy() = default;

Decision ForecastPolicy::want(const Moment& moment) { return player_->want(moment); }

}  // namespace berth::scale
