#include "scheduling/jobs/start_estimates.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/core/ensure.h"
#include "scheduling/jobs/censored_quantile.h"

namespace berth::sched {
namespace {

/// Added to waits before they are compared: below a minute, differences mean little.
constexpr double kShortWait = 60;
/// Longer than any answer that matters: about 30 million years.
constexpr double kWaitMax = 1e15;
/// A projection is exact while its ratios are this close to 1.
constexpr double kExact = 0.005;
constexpr std::size_t kExactCount = 20;
/// How often a certain start is promised a second too early.
constexpr std::int64_t kMissEach = 10;
/// More often if too many promises hold. If too few do, the queue takes longer than projected.
constexpr double kTooFewMisses = -0.02;
constexpr double kTooManyMisses = 0.04;
constexpr std::int64_t kMissEachMore = 4;
/// How much longer than guessed a queue may take: in order, and with overtaking (easy).
constexpr double kQueueStretch = 1.4;
constexpr double kBackfillStretch = 1.3;
/// A drain is trusted up to this many usual waits.
constexpr double kDrainTrusted = 2;
constexpr double kEstimatedStretch = 1.4;
/// The stretch without any history.
constexpr double kFirstStretch = 5;
/// How strongly an excess of misses stretches p90: by about e to the power of this many times the excess.
constexpr double kQueueGain = 5;
constexpr double kEstimatedGain = 20;
constexpr double kBerthGain = 10;
constexpr double kStretchMin = 0.5;
constexpr double kStretchMax = 3;
constexpr double kQueueStretchMax = 6;
constexpr std::size_t kOutcomesMax = 200;
constexpr std::size_t kCensoredMin = 5;

/// Approximates e to the power of x by sums and products only, for the same bits everywhere.
double power(double x) {
  const double base = 1 + (x >= 0 ? x : -x) / 8;
  const double square = base * base;
  const double eighth = square * square * square * square;
  return x >= 0 ? eighth : 1 / eighth;
}

double stretched(double wait, double factor) { return (wait + kShortWait) * factor - kShortWait; }

std::optional<double> lower_median(std::initializer_list<std::optional<double>> guesses) {
  std::vector<double> known;
  known.reserve(guesses.size());
  for (const std::optional<double>& guess : guesses) {
    if (guess) known.push_back(*guess);
  }
  if (known.empty()) return std::nullopt;
  std::ranges::sort(known);
  return known[(known.size() - 1) / 2];
}

/// The usual further wait of jobs that have already waited `waited`.
std::optional<double> further_wait(const LastValues& waits, double waited, std::size_t percent) {
  const std::vector<double>& sorted = waits.sorted();
  const auto from = static_cast<std::size_t>(std::ranges::upper_bound(sorted, waited) - sorted.begin());
  const std::size_t count = sorted.size() - from;
  if (count == 0) return std::nullopt;
  return sorted[from + (count * percent + 99) / 100 - 1] - waited;
}

}  // namespace

bool has_start_estimates(Policy policy) {
  return policy == Policy::kFifo || policy == Policy::kEasy || policy == Policy::kBerth;
}

void StartEstimates::Ratios::add(GpuCount gpus, double ratio) {
  by_size_.try_emplace(gpus, kCountMax).first->second.add(ratio);
  all_.add(ratio);
}

std::optional<double> StartEstimates::Ratios::quantile(GpuCount gpus, std::size_t percent) const {
  const auto own = by_size_.find(gpus);
  if (own != by_size_.end() && own->second.count() >= kOwnMin) return own->second.quantile(percent);
  return all_.count() > 0 ? std::optional(all_.quantile(percent)) : std::nullopt;
}

StartEstimates::StartEstimates(const Workload& workload, Policy policy)
    : workload_(&workload),
      policy_(policy),
      arrivals_(jobs_by_submit(workload)),
      outlook_(workload),
      control_(workload.jobs.size()),
      place_(workload.jobs.size()) {
  ENSURE(has_start_estimates(policy));
}

void StartEstimates::learn_start(JobIndex job, Seconds now) {
  outlook_.started_first(job, now);
  const std::optional<std::size_t> place = place_[static_cast<std::size_t>(job)];
  if (!place) return;
  const Thought thought = pending_[*place];
  const GpuCount gpus = workload_->job(job).gpus;
  const auto wait = static_cast<double>(now - thought.submit);
  control_.started(job, now);
  UsualWaits& usual = usual_[gpus];
  usual.last.add(wait);
  usual.latest.add(wait);
  const auto ratio = [&](double guess) { return (wait + kShortWait) / (guess + kShortWait); };
  if (thought.drain) drain_ratios_.add(gpus, ratio(*thought.drain));
  if (thought.projection) {
    projection_ratios_.add(gpus, ratio(*thought.projection));
    if (thought.is_estimated) foreseen_ratios_.add(ratio(*thought.projection));
  }
  outcomes_.push_back({.thought = thought, .wait = now - thought.submit});
  if (outcomes_.size() > kOutcomesMax) outcomes_.pop_front();
  place_[static_cast<std::size_t>(pending_.back().job)] = place;
  pending_[*place] = pending_.back();
  pending_.pop_back();
  place_[static_cast<std::size_t>(job)].reset();
}

std::vector<StartEstimate> StartEstimates::passed(const Simulation& simulation) {
  const World& world = simulation.world();
  now_ = world.now();
  control_.pass(now_);
  std::vector<JobIndex> arrived;
  for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
    const JobIndex job = arrivals_[next_arrival_];
    if (workload_->job(job).submit > now_) break;
    outlook_.submitted(job);
    arrived.push_back(job);
  }
  for (const LogEntry& entry : simulation.log()) {
    if (entry.type == LogType::kFinish) outlook_.finished(entry.job);
    if (entry.type == LogType::kStart && world.record(entry.job).first_start == now_ &&
        !world.record(entry.job).is_restart) {
      learn_start(entry.job, now_);
    }
  }
  std::vector<JobIndex> waiting = arrived;
  std::erase_if(waiting, [&](JobIndex job) { return world.is_running(job); });
  const std::vector<Outlook> outlooks = outlook_.look(simulation, waiting);
  std::vector<StartEstimate> estimates;
  estimates.reserve(arrived.size());
  std::size_t next = 0;
  for (const JobIndex job : arrived) {
    if (world.is_running(job)) {
      estimates.push_back({.job = job, .p50 = now_, .p90 = now_});
      continue;
    }
    const Outlook& outlook = outlooks[next++];
    const Situation now = situation();
    if (now == Situation::kForeseen) ++foreseen_count_;
    const std::int64_t miss_each = control_.excess() < kTooFewMisses ? kMissEachMore : kMissEach;
    const bool is_early = foreseen_count_ % miss_each == 0;
    estimates.push_back(estimate(simulation, job, waits(guesses(simulation, job, outlook), now, is_early)));
    control_.promise(job, estimates.back().p90);
    place_[static_cast<std::size_t>(job)] = pending_.size();
    pending_.push_back({.job = job,
                        .submit = now_,
                        .drain = outlook.drain,
                        .projection = outlook.projection,
                        .is_estimated = outlook_.are_all_estimated()});
  }
  return estimates;
}

StartEstimate StartEstimates::of_waiting(const Simulation& simulation, JobIndex job) const {
  QueueOutlook outlook = outlook_;
  outlook.renew_next();
  const std::vector<Outlook> outlooks = outlook.look(simulation, {job});
  return estimate(simulation, job, waits(guesses(simulation, job, outlooks.front()), situation(), false));
}

StartEstimate StartEstimates::estimate(const Simulation& simulation, JobIndex job, const Waits& waits) const {
  const Seconds now = simulation.world().now();
  // A job that waits after a decision starts a second later at the earliest.
  const Seconds half = std::llround(std::clamp(waits.half, 1.0, kWaitMax));
  const Seconds most = std::llround(std::clamp(waits.most, 1.0, kWaitMax));
  return {.job = job, .p50 = now + half, .p90 = now + std::max(half, most)};
}

StartEstimates::Situation StartEstimates::situation() const {
  if (!outlook_.are_all_estimated()) return policy_ == Policy::kBerth ? Situation::kBerth : Situation::kQueue;
  if (policy_ == Policy::kBerth) return Situation::kEstimated;
  const bool is_exact = foreseen_ratios_.count() < kExactCount ||
                        (foreseen_ratios_.quantile(90) <= 1 + kExact && foreseen_ratios_.quantile(90) >= 1 - kExact);
  return is_exact ? Situation::kForeseen : Situation::kEstimated;
}

StartEstimates::Guesses StartEstimates::guesses(const Simulation& simulation, JobIndex job,
                                                const Outlook& outlook) const {
  const GpuCount gpus = workload_->job(job).gpus;
  const Seconds now = simulation.world().now();
  const Seconds since = std::max(workload_->job(job).submit, simulation.world().record(job).stopped);
  Guesses guesses{.outlook = outlook, .waited = static_cast<double>(now - since)};
  const auto usual = usual_.find(gpus);
  if (usual != usual_.end()) {
    guesses.usual_half = further_wait(usual->second.last, guesses.waited, 50);
    guesses.usual_most = further_wait(usual->second.last, guesses.waited, 90);
    guesses.latest_half = further_wait(usual->second.latest, guesses.waited, 50);
  }
  const auto scaled = [&](std::optional<double> guess, const Ratios& ratios,
                          std::size_t percent) -> std::optional<double> {
    const std::optional<double> ratio = ratios.quantile(gpus, percent);
    if (!guess || !ratio) return std::nullopt;
    return stretched(*guess, *ratio);
  };
  guesses.drain_half = scaled(outlook.drain, drain_ratios_, 50);
  guesses.drain_most = scaled(outlook.drain, drain_ratios_, 90);
  guesses.projection_half = scaled(outlook.projection, projection_ratios_, 50);
  guesses.projection_most = scaled(outlook.projection, projection_ratios_, 90);
  if (policy_ == Policy::kBerth && !outlook_.are_all_estimated()) {
    const auto latest =
        std::get<BerthPolicy>(simulation.policy()).latest_start(simulation.world(), job, outlook.gpus_ahead);
    if (latest) guesses.latest_start = static_cast<double>(*latest - now);
  }
  return guesses;
}

StartEstimates::Waits StartEstimates::waits(const Guesses& guesses, Situation situation, bool is_early) const {
  switch (situation) {
    case Situation::kForeseen:
      if (guesses.outlook.projection) return foreseen(guesses, is_early);
      return estimated(guesses);
    case Situation::kEstimated:
      return estimated(guesses);
    case Situation::kQueue:
      return of_queue(guesses);
    case Situation::kBerth:
      break;
  }
  return of_berth(guesses);
}

StartEstimates::Waits StartEstimates::foreseen(const Guesses& guesses, bool is_early) const {
  const double start = *guesses.outlook.projection;
  const double excess = control_.excess();
  // Under easy some jobs start before those ahead of them, so half of them come earlier.
  const bool is_certain = foreseen_ratios_.count() < kExactCount || foreseen_ratios_.quantile(10) >= 1 - kExact;
  const double half = is_certain ? start : estimated(guesses).half;
  if (excess > kTooManyMisses)
    return {.half = half, .most = stretched(start, std::min(kQueueStretchMax, power(kQueueGain * excess)))};
  if (is_early && start >= 2) return {.half = std::min(half, start - 1), .most = start - 1};
  // Under easy others may delay the start slightly.
  return {.half = half, .most = policy_ == Policy::kEasy ? start * (1 + kExact) : start};
}

std::optional<double> StartEstimates::censored_most(std::optional<double> Thought::* guess,
                                                    std::optional<double> now) const {
  if (!now || outcomes_.size() < kCensoredMin) return std::nullopt;
  std::vector<Observation> seen;
  seen.reserve(2 * kOutcomesMax);
  const auto add = [&](const Thought& thought, Seconds wait, bool is_complete) {
    const std::optional<double> guessed = thought.*guess;
    if (guessed) seen.push_back({(static_cast<double>(wait) + kShortWait) / (*guessed + kShortWait), is_complete});
  };
  for (const Outcome& outcome : outcomes_) add(outcome.thought, outcome.wait, true);
  const std::size_t count = std::min(pending_.size(), kOutcomesMax);
  for (std::size_t i = 0; i < count; ++i) {
    const Thought& thought = pending_[i * pending_.size() / count];
    // Jobs that wait longer than promised count in the control already.
    if (control_.is_pending(thought.job)) add(thought, now_ - thought.submit, false);
  }
  const std::optional<double> ratio = censored_quantile(std::move(seen), 0.9);
  if (!ratio) return std::nullopt;
  return stretched(*now, *ratio);
}

StartEstimates::Waits StartEstimates::estimated(const Guesses& guesses) const {
  const double half = lower_median({guesses.usual_half, guesses.drain_half, guesses.projection_half})
                          .value_or(guesses.outlook.projection.value_or(0));
  double most =
      lower_median({guesses.usual_most, guesses.drain_most, guesses.projection_most}).value_or(kFirstStretch * half);
  double stretch = power(kQueueGain * control_.excess());
  if (policy_ == Policy::kBerth) {
    const auto censored = lower_median({guesses.usual_most, censored_most(&Thought::drain, guesses.outlook.drain),
                                        censored_most(&Thought::projection, guesses.outlook.projection)});
    most = std::max(most, censored.value_or(0));
    stretch = kEstimatedStretch * power(kEstimatedGain * control_.excess());
  }
  return {.half = half, .most = stretched(most, std::clamp(stretch, kStretchMin, kStretchMax))};
}

StartEstimates::Waits StartEstimates::of_queue(const Guesses& guesses) const {
  const Outlook& outlook = guesses.outlook;
  const double half =
      lower_median({guesses.usual_half, guesses.latest_half, outlook.drain, outlook.head, guesses.projection_half})
          .value_or(outlook.projection.value_or(0));
  const double middle = lower_median({guesses.usual_half, outlook.drain, outlook.head}).value_or(half);
  const double usual = std::max(middle, guesses.usual_most.value_or(0));
  // A growing queue drains more slowly than earlier ones did.
  const double growing =
      guesses.usual_most && outlook.drain ? (usual + std::min(*outlook.drain, kDrainTrusted * usual)) / 2 : 0;
  const double most = std::max({half, usual, growing});
  const double stretch =
      (policy_ == Policy::kEasy ? kBackfillStretch : kQueueStretch) * power(kQueueGain * control_.excess());
  return {.half = half, .most = stretched(most, std::clamp(stretch, 1.0, kQueueStretchMax))};
}

StartEstimates::Waits StartEstimates::of_berth(const Guesses& guesses) const {
  const Outlook& outlook = guesses.outlook;
  const double first = guesses.latest_start.value_or(outlook.projection.value_or(0));
  double half =
      lower_median({guesses.usual_half, guesses.latest_half, outlook.drain, guesses.projection_half}).value_or(first);
  double most = guesses.usual_most.value_or(guesses.latest_start.value_or(kFirstStretch * first));
  most = stretched(most, std::clamp(power(kBerthGain * control_.excess()), kStretchMin, kStretchMax));
  if (guesses.latest_start) {
    half = std::min(half, *guesses.latest_start);
    most = std::min(most, *guesses.latest_start);
  }
  return {.half = half, .most = most};
}

}  // namespace berth::sched
