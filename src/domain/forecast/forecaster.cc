#include "domain/forecast/forecaster.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "domain/forecast/detail/arrival_memory.h"
#include "domain/forecast/detail/count_law.h"
#include "domain/forecast/detail/horizons.h"
#include "domain/forecast/detail/lead_state.h"
#include "domain/forecast/detail/pending_views.h"

namespace berth::forecast {
namespace {

using detail::Spread;
using detail::UnroundedForecast;

/// Before the first observation: a mean of 10 per second that could as well be 0 or 60.
constexpr detail::Moments kPriorMoments = {.mean = 10, .variance = 300};
/// The prior's share after n seconds is 1 / (1 + n); from this second on it is 0.
constexpr std::int64_t kPriorSeconds = 100;

/// Judgements are this many seconds apart, on average and at least; more for long leads, where neighbouring errors are
/// similar.
constexpr std::int64_t kJudgementGap = 4;
constexpr std::int64_t kJudgementGapSpread = 7;
constexpr std::int64_t kLeadsPerJudgementGap = 20;
/// Less than the gap at first, so that targets increase.
constexpr std::int64_t kLeadJitter = 4;
/// A new service is judged every second at first.
constexpr std::int64_t kEarlyJudgements = 8;

/// Irregular, so that no season of the arrivals is in phase with the judgements (Weyl's sequence of the golden
/// ratio).
std::int64_t judgement_gap(std::int64_t lead, std::int64_t index) {
  const std::int64_t least = std::min(1 + index / kEarlyJudgements, kJudgementGap);
  const double fraction = static_cast<double>(index) * 0.6180339887498949;
  const double part = fraction - std::floor(fraction);
  const std::int64_t spread = least < kJudgementGap ? least : kJudgementGapSpread;
  return std::max(least, lead / kLeadsPerJudgementGap) + static_cast<std::int64_t>(part * static_cast<double>(spread));
}

Quantiles counts_of(const Spread& spread) {
  Quantiles counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = std::floor(spread[i + 1]);
  return counts;
}

void mix_in(UnroundedForecast& unrounded, const UnroundedForecast& prior, double share) {
  unrounded.mean += share * (prior.mean - unrounded.mean);
  for (std::size_t i = 0; i < unrounded.spread.size(); ++i) {
    unrounded.spread[i] += share * (prior.spread[i] - unrounded.spread[i]);
  }
}

}  // namespace

Quantiles poisson_quantiles(double mean) { return counts_of(detail::spread_of({.mean = mean, .variance = mean})); }

std::string_view name_of(Model model) {
  switch (model) {
    case Model::kNaive:
      return "naive";
    case Model::kSeasonalNaive:
      return "seasonal-naive";
    case Model::kSmoothing:
      return "smoothing";
    case Model::kBursty:
      return "bursty";
    case Model::kCombination:
      return "combination";
  }
  return "";
}

/// The observations, the models learned from them, and the forecasts that wait to be judged.
class Forecaster::Learner {
 public:
  explicit Learner(Model model);

  void observe(std::int64_t second, std::int64_t requests);
  [[nodiscard]] std::vector<UnroundedForecast> predict_unrounded(std::int64_t from_second, std::int64_t seconds) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.mask_, self.memory_, self.members_, self.leads_, self.pending_);
  }

 private:
  /// Learns from the forecasts that were waiting for this second.
  void judge(std::int64_t second, double count);
  /// Stores the current view, to be judged by later seconds.
  void wait_for_judgement(std::int64_t second);

  detail::MemberMask mask_{};
  detail::ArrivalMemory memory_;
  detail::Members members_;
  std::array<detail::LeadState, detail::kLeadCount> leads_;
  std::array<detail::PendingViews, detail::kLeadCount> pending_;
};

Forecaster::Forecaster(Model model) : learner_(std::make_unique<Learner>(model)) {}
Forecaster::Forecaster(const Forecaster& other) : learner_(std::make_unique<Learner>(*other.learner_)) {}
Forecaster::Forecaster(Forecaster&& other) noexcept = default;
Forecaster& Forecaster::operator=(const Forecaster& other) {
  *learner_ = *other.learner_;
  return *this;
}
Forecaster& Forecaster::operator=(Forecaster&& other) noexcept = default;
Forecaster::~Forecaster() = default;

void Forecaster::observe(std::int64_t second, std::int64_t requests) { learner_->observe(second, requests); }

void Forecaster::archive_fields(ArchiveWriter& archive, const Forecaster& forecaster) {
  archive(std::as_const(*forecaster.learner_));
}

void Forecaster::archive_fields(ArchiveReader& archive, Forecaster& forecaster) { archive(*forecaster.learner_); }

std::vector<UnroundedForecast> Forecaster::predict_unrounded(std::int64_t from_second, std::int64_t seconds) const {
  return learner_->predict_unrounded(from_second, seconds);
}

Forecaster::Learner::Learner(Model model) {
  const auto index = static_cast<std::size_t>(model);
  for (std::size_t member = 0; member < mask_.size(); ++member) {
    mask_[member] = model == Model::kCombination || member == index;
  }
}

void Forecaster::Learner::observe(std::int64_t second, std::int64_t requests) {
  judge(second, static_cast<double>(requests));
  memory_.observe(second, requests);
  wait_for_judgement(second);
}

void Forecaster::Learner::judge(std::int64_t second, double count) {
  for (std::size_t lead = 0; lead < detail::kLeadCount; ++lead) {
    const std::optional<detail::View> view = pending_[lead].take(second);
    if (!view) continue;
    leads_[lead].learn(members_, *view, mask_, count);
    members_.learn(*view, mask_, count);
  }
}

void Forecaster::Learner::wait_for_judgement(std::int64_t second) {
  for (std::size_t lead = 0; lead < detail::kLeadCount; ++lead) {
    detail::PendingViews& pending = pending_[lead];
    if (second < pending.next_second()) continue;
    // The distance varies: otherwise a pattern that repeats after exactly that time would look certain.
    const std::int64_t target =
        second + detail::kLeads[lead] + (lead == 0 ? 0 : pending.kept_count() % kLeadJitter - 1);
    pending.keep(target, detail::view_of(memory_, target));
    pending.wait_until(second + judgement_gap(detail::kLeads[lead], pending.kept_count()));
  }
}

std::vector<UnroundedForecast> Forecaster::Learner::predict_unrounded(std::int64_t from_second,
                                                                      std::int64_t seconds) const {
  ENSURE(seconds >= 0);
  ENSURE(memory_.is_empty() || from_second > memory_.last_second());
  const UnroundedForecast prior{.mean = kPriorMoments.mean, .spread = detail::spread_of(kPriorMoments)};
  std::vector<UnroundedForecast> forecasts(static_cast<std::size_t>(seconds), prior);
  if (memory_.is_empty() || seconds == 0) return forecasts;
  const std::int64_t seen = memory_.seen_seconds();
  detail::View view = detail::view_of(memory_, from_second);
  detail::LeadState::Shared shared;
  for (std::int64_t i = 0; i < seconds; ++i) {
    UnroundedForecast& unrounded = forecasts[static_cast<std::size_t>(i)];
    detail::look_at(memory_, from_second + i, view);
    unrounded = leads_[view.lead].unrounded(members_, view, mask_, shared);
    if (seen < kPriorSeconds) mix_in(unrounded, prior, 1 / static_cast<double>(1 + seen));
  }
  return forecasts;
}

std::vector<Quantiles> Forecaster::predict(std::int64_t from_second, std::int64_t seconds) const {
  std::vector<Quantiles> quantiles;
  quantiles.reserve(static_cast<std::size_t>(std::max<std::int64_t>(seconds, 0)));
  for (const UnroundedForecast& unrounded : predict_unrounded(from_second, seconds))
    quantiles.push_back(counts_of(unrounded.spread));
  return quantiles;
}

Bands Forecaster::bands(std::int64_t second) const {
  const detail::Spread spread = predict_unrounded(second, 1).front().spread;
  return {.low_95 = spread[detail::kGrid025],
          .low_80 = spread[detail::kGrid10],
          .high_80 = spread[detail::kGrid90],
          .high_95 = spread[detail::kGrid975]};
}

double share_between(double count, double low, double high) {
  return std::max(0.0, std::min(high, count + 1) - std::max(low, count));
}

std::vector<double> Forecaster::means(std::int64_t from_second, std::int64_t seconds) const {
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(std::max<std::int64_t>(seconds, 0)));
  for (const UnroundedForecast& unrounded : predict_unrounded(from_second, seconds)) means.push_back(unrounded.mean);
  return means;
}

}  // namespace berth::forecast
