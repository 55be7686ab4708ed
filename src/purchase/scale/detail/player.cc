#include "purchase/scale/detail/player.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace berth::scale::detail {
namespace {

// How long before the run the predictors and the shadows begin to learn.
constexpr std::int64_t kHistorySeconds = std::int64_t{8} * 86'400;
constexpr std::int64_t kShadowSeconds = 86'400;
/// Load is counted in windows as long as a request may wait, and no longer than this.
constexpr std::int64_t kWindowSecondsMax = 300;

/// Until this much load is known, the initial replicas stay.
constexpr std::int64_t kColdSeconds = 30;
/// Misses within this time after the first start say nothing about a margin: nothing could be known before.
constexpr std::int64_t kColdAccountSeconds = 90;
/// After this long without a request nothing is kept ready if less than kIdleLoad is predicted.
constexpr std::int64_t kIdleSeconds = 1'800;
constexpr double kIdleLoad = 0.02;
/// Until then at least this load is assumed, which keeps one replica.
constexpr double kLeastLoad = 1e-3;
// A margin never asks for more than these multiples of the largest load and of the predicted mean: larger values are
// the aftermath of an outage or of a sudden start.
constexpr double kPeakHeadroom = 1.1;
constexpr double kMeanHeadroom = 1.2;
constexpr double kPeakHalfLife = 4 * 86'400.0;

/// Outcomes are summed at this interval, and fade with this half-life.
constexpr std::int64_t kAccountSeconds = 60;
constexpr double kOutcomeHalfLife = 8 * 3'600.0;
constexpr std::int64_t kHour = 3'600;
// The prior of a margin's misses, before it was simulated: this share of the requests by which errors exceed it,
// weighted as some requests and some starts.
constexpr double kPriorShare = 0.25;
constexpr double kPriorRequests = 300;
constexpr double kPriorStarts = 5;
/// Another predictor must be cheaper by this much to be chosen.
constexpr double kLoyalty = 0.97;
constexpr double kShareMin = 1e-4;

// The share wanted: a little below the one allowed, and adjusted within limits so that a surplus or deficit is made up
// within a quarter of the run so far plus half an hour.
constexpr double kSafety = 0.97;
constexpr double kRepayRequests = 0.25;
constexpr double kRepaySeconds = 1'800;
constexpr double kShareFactorMin = 0.4;
constexpr double kShareFactorMax = 1.5;
/// Misses come in bursts of about so many seconds of load; that makes their number uncertain.
constexpr double kBurstSeconds = 10;
/// A deficit is made up beyond a share just below the one allowed only if avoiding a miss costs at most this many times
/// as much as serving a request.
constexpr double kMissPriceMax = 100;
constexpr double kShareFactorDue = 0.9;

std::vector<View> views() {
  constexpr SeasonShape kByHour{.period = 3'600, .part = 20};
  constexpr SeasonShape kByDay{.period = 86'400, .part = 300};
  return {{.level_seconds = 30, .season = {}},
          {.level_seconds = 15, .season = {}},
          {.level_seconds = 90, .season = {}},
          {.level_seconds = 300, .season = {}},
          {.level_seconds = 3'600, .season = {}},
          {.level_seconds = 30, .season = kByHour},
          {.level_seconds = 90, .season = kByHour},
          {.level_seconds = 3'600, .season = kByHour},
          {.level_seconds = 1'800, .season = kByDay},
          {.level_seconds = 86'400, .season = kByDay},
          {.level_seconds = 15, .season = {}, .floor_seconds = 3'600},
          {.level_seconds = 15, .season = {}, .floor_seconds = 1'800}};
}

}  // namespace

Player::Player(const Problem& problem, std::int64_t ready)
    : problem_(problem),
      share_allowed_(1 - problem.attainment.to_double()),
      ready_(ready),
      window_seconds_(std::min(problem.wait_seconds + 1, kWindowSecondsMax)),
      shadows_first_(std::max(-problem.load.from_second, -kShadowSeconds)),
      sums_(std::max(-problem.load.from_second, -kHistorySeconds)),
      idle_since_(sums_.first() - kIdleSeconds),
      held_(problem.start_seconds + 1) {
  for (const View& view : views()) {
    Candidate candidate{.predictor = Predictor(view, problem.start_seconds, window_seconds_), .shadows = {}};
    candidate.shadows.assign(kMarginCount, Shadow(problem, shadows_first_, ready));
    judge(candidate);
    candidates_.push_back(std::move(candidate));
  }
  for (std::int64_t second = sums_.first(); second < 0; ++second) {
    begin(second);
    finish(second);
  }
}

Decision Player::want(const Moment& moment) {
  if (moment.second > 0) finish(moment.second - 1);
  begin(moment.second);
  const Candidate& candidate = candidates_[chosen_];
  const double margin = margin_for(candidate, share_wanted(moment));
  const auto below = static_cast<std::size_t>(margin);
  const std::size_t above = std::min(below + 1, kMarginCount - 1);
  const double part = margin - static_cast<double>(below);
  const double rate = std::lerp(candidate.demand.at_margin[below], candidate.demand.at_margin[above], part);
  const std::int64_t need = is_cold(moment.second) ? ready_ : need_of(rate);
  return {.replicas = held_.add(moment.second, need),
          .forecast = candidate.demand.mean,
          .quantile = candidate.predictor.covered(rate, candidate.demand.mean),
          .margin = rate - candidate.demand.mean};
}

/// Predicts, with all arrivals before `second` known.
void Player::begin(std::int64_t second) {
  for (Candidate& candidate : candidates_) {
    candidate.demand = candidate.predictor.step(sums_);
    if (second < shadows_first_) continue;
    for (std::size_t j = 0; j < kMarginCount; ++j) {
      double& rate = candidate.demand.at_margin[j];
      rate = bounded(rate, candidate.demand.mean);
      candidate.needs[j] = is_cold(second) ? ready_ : need_of(rate);
    }
  }
}

/// Adds the arrivals of `second`, and simulates that second in the shadows.
void Player::finish(std::int64_t second) {
  static const double peak_fade = std::exp2(-1 / kPeakHalfLife);
  const std::int64_t requests = problem_.load.at(second);
  sums_.observe(requests);
  peak_ = std::max(peak_ * peak_fade, sums_.mean(sums_.next() - window_seconds_, sums_.next()));
  if (requests > 0) idle_since_ = second + 1;
  if (second < shadows_first_) return;
  for (Candidate& candidate : candidates_) {
    for (std::size_t j = 0; j < kMarginCount; ++j) candidate.shadows[j].step(second, candidate.needs[j]);
  }
  if (sums_.next() % kAccountSeconds == 0) account(second);
}

double Player::bounded(double rate, double mean) const {
  const bool is_idle = sums_.next() - idle_since_ >= kIdleSeconds;
  if (is_idle && mean < kIdleLoad) return 0;
  const double most = std::max(mean * kMeanHeadroom, peak_ * kPeakHeadroom);
  return std::max(std::min(rate, most), is_idle ? 0 : kLeastLoad);
}

bool Player::is_cold(std::int64_t second) const { return second - sums_.first() < kColdSeconds; }

std::int64_t Player::need_of(double rate) const {
  // A whole number of requests is served per second; the tolerance covers rates that are whole up to rounding errors.
  const double requests = std::ceil(std::min(rate, 1e9) - 1e-9);
  if (requests <= 0) return 0;
  return std::min(problem_.rate.replicas_for(static_cast<std::int64_t>(requests)), kReplicasMax);
}

double Player::load_of_last_hour() const { return sums_.mean(sums_.next() - kHour, sums_.next()); }

void Player::account(std::int64_t second) {
  static const double fade = std::exp2(-static_cast<double>(kAccountSeconds) / kOutcomeHalfLife);
  const bool counts = second - sums_.first() >= problem_.start_seconds + kColdAccountSeconds;
  for (Candidate& candidate : candidates_) {
    for (Shadow& shadow : candidate.shadows) shadow.account(fade, counts);
    judge(candidate);
  }
  choose_candidate();
}

void Player::judge(Candidate& candidate) const {
  const double load = load_of_last_hour();
  const double prior_requests = kPriorRequests + kPriorStarts * static_cast<double>(problem_.start_seconds) * load;
  const MarginValues prior_shares = candidate.predictor.shortfalls(load);
  double share_max = 1;
  for (std::size_t j = 0; j < kMarginCount; ++j) {
    const Shadow& shadow = candidate.shadows[j];
    const double missed = shadow.missed() + prior_requests * kPriorShare * prior_shares[j];
    share_max = std::min(share_max, missed / (shadow.requests() + prior_requests));
    candidate.outcomes[j] = {.cost = shadow.cost(), .missed = shadow.missed(), .share = share_max};
  }
}

void Player::choose_candidate() {
  const double goal = std::max(share_allowed_, kShareMin);
  const auto score = [&](std::size_t k) {
    const Place place = place_for(candidates_[k], goal);
    // If no margin suffices, the cost is scaled by the factor of excess misses.
    const double excess = std::max(1.0, place.share / goal);
    return place.cost * excess * (k == chosen_ ? kLoyalty : 1);
  };
  std::size_t best = 0;
  double best_score = score(0);
  for (std::size_t k = 1; k < candidates_.size(); ++k) {
    const double other = score(k);
    if (other >= best_score) continue;
    best = k;
    best_score = other;
  }
  chosen_ = best;
}

/// The smallest margin that misses no more than this share, interpolated with the logarithm of the share linear between
/// two margins; the largest margin if none suffices.
Player::Place Player::place_for(const Candidate& candidate, double share) {
  const auto& outcomes = candidate.outcomes;
  const auto suffices = [&](const Outcome& outcome) { return outcome.share <= share; };
  const auto above = std::find_if(outcomes.begin(), outcomes.end(), suffices);
  if (above == outcomes.begin()) return {.margin = 0, .share = above->share, .cost = above->cost};
  const auto below = above - 1;
  const auto index = static_cast<double>(below - outcomes.begin());
  if (above == outcomes.end()) return {.margin = index, .share = below->share, .cost = below->cost};
  const double least = std::max(above->share, share * 1e-3);
  const double part = std::log(below->share / share) / std::log(below->share / least);
  return {.margin = index + part, .share = share, .cost = std::lerp(below->cost, above->cost, part)};
}

/// The share of the next requests that may be missed, given the misses so far.
double Player::share_wanted(const Moment& moment) const {
  const double load = load_of_last_hour();
  const auto requests = static_cast<double>(moment.requests);
  const double share = share_allowed_ * kSafety;
  const double allowed = share * requests;
  const double reserve = std::sqrt(allowed * (1 + kBurstSeconds * load));
  const double ahead = allowed - static_cast<double>(moment.missed) - reserve;
  const double repaid_in = kRepayRequests * requests + kRepaySeconds * load + 1;
  return std::clamp(share + ahead / repaid_in, share_allowed_ * kShareFactorMin, share_allowed_ * kShareFactorMax);
}

double Player::margin_for(const Candidate& candidate, double share) const {
  const double margin = place_for(candidate, share).margin;
  const double share_due = share_allowed_ * kShareFactorDue;
  if (share >= share_due) return margin;
  const double rate = static_cast<double>(problem_.rate.numerator()) / static_cast<double>(problem_.rate.denominator());
  double worth = place_for(candidate, share_due).margin;
  while (worth < margin) {
    const auto below = static_cast<std::size_t>(worth);
    if (below + 1 == kMarginCount) break;
    const Outcome& now = candidate.outcomes[below];
    const Outcome& next = candidate.outcomes[below + 1];
    if ((next.cost - now.cost) * rate > kMissPriceMax * (now.missed - next.missed)) break;
    worth = static_cast<double>(below + 1);
  }
  return std::min(margin, worth);
}

}  // namespace berth::scale::detail
