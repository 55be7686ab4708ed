#include "domain/forecast/detail/lead_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/core/ensure.h"

namespace berth::forecast::detail {
namespace {

/// How much trust a model loses by being worse than the best: e-fold for each 1/kSharpness of the best's loss.
constexpr double kSharpness = 8;
/// Early differences are chance: after this many judgements they count half.
constexpr double kChanceJudgements = 20;
/// Trust before the first judgement. The naive models seldom win.
constexpr Shares kFirstTrust = {0.05, 0.15, 0.45, 0.35};
/// The variance of a mean m is never assumed to exceed a m + b m^2: counts of a few per second, and a level that
/// deviates by twice itself.
constexpr double kDispersionMax = 50;
constexpr double kExcessMax = 4;
/// Models with less trust are left out.
constexpr double kTrustMin = 1e-3;
constexpr double kLossMin = 1e-12;
/// How many judgements in a situation have the weight of those of all situations.
constexpr double kAnywhereWeight = 200;
/// The share of the latest judgements in the loss over all situations; the rest is the long-term loss.
constexpr double kRecentShare = 0.3;

/// The weight of earlier judgements after a season became known.
constexpr double kDoubtedJudgements = 10;

/// The least mean that may have the variance.
double least_mean_of(double variance) {
  return (std::sqrt(kDispersionMax * kDispersionMax + 4 * kExcessMax * variance) - kDispersionMax) / (2 * kExcessMax);
}

}  // namespace

double pinball_of(const Spread& spread, double count) {
  double loss = 0;
  for (std::size_t i = 1; i + 1 < spread.size(); ++i) {
    const double error = count - std::floor(spread[i]);
    loss += error >= 0 ? kGridLevels[i] * error : (kGridLevels[i] - 1) * error;
  }
  return loss / static_cast<double>(spread.size() - 2);
}

void Members::learn(const View& view, const MemberMask& mask, double count) {
  // The naive model has nothing to learn.
  if (mask[1]) seasonal.learn(view, count);
  if (mask[2]) smoothing.learn(view, count);
  if (mask[3]) bursty.learn(view, count);
}

double Members::guess(std::size_t member, const View& view) const {
  switch (member) {
    case 0:
      return naive.guess(view);
    case 1:
      return seasonal.guess(view);
    case 2:
      return smoothing.guess(view);
    default:
      ENSURE(member == 3);
      return bursty.guess(view);
  }
}

Said LeadState::said_of(double mean, std::size_t member, std::size_t situation) const {
  const Track& track = tracks_[member][situation];
  const double variance = track.scale.variance_at(mean);
  // A mean of 0 with errors around it is a distribution of small counts, not a certain 0.
  const Spread raw = spread_of({.mean = std::max(mean, least_mean_of(variance)), .variance = variance});
  return {.mean = mean, .raw = raw, .spread = track.levels.applied_to(raw)};
}

const UnroundedForecast& LeadState::unrounded(const Members& members, const View& view, const MemberMask& mask,
                                              Shared& shared) const {
  bool is_new = shared.state != this;
  if (is_new) shared = {.state = this, .trust = trust_in(view.situation, mask), .said = {}, .unrounded = {}};
  for (std::size_t member = 0; member < kMemberCount; ++member) {
    if (shared.trust[member] == 0) continue;
    const double mean = members.guess(member, view);
    if (mean == shared.said[member].mean) continue;
    shared.said[member] = said_of(mean, member, view.situation);
    is_new = true;
  }
  if (!is_new) return shared.unrounded;
  UnroundedForecast& unrounded = shared.unrounded = {};
  for (std::size_t member = 0; member < kMemberCount; ++member) {
    const double trust = shared.trust[member];
    if (trust == 0) continue;
    unrounded.mean += trust * shared.said[member].mean;
    for (std::size_t i = 0; i < unrounded.spread.size(); ++i) {
      unrounded.spread[i] += trust * shared.said[member].spread[i];
    }
  }
  return unrounded;
}

void LeadState::learn(const Members& members, const View& view, const MemberMask& mask, double count) {
  const auto seasons_known = static_cast<std::size_t>(
      std::count_if(view.season_last.begin(), view.season_last.end(), [](double last) { return last >= 0; }));
  if (seasons_known > seasons_known_) {
    for (Loss& loss : losses_) {
      loss.recent.doubt(kDoubtedJudgements);
      loss.lasting.doubt(kDoubtedJudgements);
      for (auto& here : loss.here) here.doubt(kDoubtedJudgements);
    }
    seasons_known_ = seasons_known;
  }
  for (std::size_t member = 0; member < kMemberCount; ++member) {
    if (!mask[member]) continue;
    const Said said = said_of(members.guess(member, view), member, view.situation);
    const double loss = pinball_of(said.spread, count);
    losses_[member].recent.learn(loss);
    losses_[member].lasting.learn(loss);
    losses_[member].here[view.situation].learn(loss);
    Track& track = tracks_[member][view.situation];
    track.levels.learn(said.raw, count);
    track.scale.learn(said.mean, count);
  }
}

double LeadState::loss_in(std::size_t situation, std::size_t member) const {
  const Loss& loss = losses_[member];
  if (loss.recent.weight() == 0) return 0;
  const double anywhere =
      kRecentShare * loss.recent.with_prior(0, 0) + (1 - kRecentShare) * loss.lasting.with_prior(0, 0);
  return loss.here[situation].with_prior(anywhere, kAnywhereWeight);
}

Shares LeadState::trust_in(std::size_t situation, const MemberMask& mask) const {
  Shares loss{};
  double best = std::numeric_limits<double>::infinity();
  double judgements = 0;
  for (std::size_t member = 0; member < kMemberCount; ++member) {
    if (!mask[member]) continue;
    loss[member] = loss_in(situation, member);
    best = std::min(best, loss[member]);
    judgements = losses_[member].recent.weight();
  }
  const double sharpness = kSharpness * judgements / (judgements + kChanceJudgements);
  Shares trust{};
  double total = 0;
  for (std::size_t member = 0; member < kMemberCount; ++member) {
    if (!mask[member]) continue;
    const double excess = loss[member] <= best ? 0 : loss[member] / std::max(best, kLossMin) - 1;
    trust[member] = kFirstTrust[member] * std::exp(-sharpness * excess);
    total += trust[member];
  }
  double kept = 0;
  for (double& share : trust) {
    share = share < kTrustMin * total ? 0 : share;
    kept += share;
  }
  for (double& share : trust) share /= kept;
  return trust;
}

}  // namespace berth::forecast::detail
