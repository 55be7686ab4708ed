// On any load: runs equal those of a second, naive program; hindsight against exhaustive search; no policy looks ahead.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "purchase/scale/hindsight.h"
#include "purchase/scale/study.h"

namespace berth::scale {
namespace {

using Counts = std::vector<std::uint32_t>;

/// A load in stretches of similar counts, some without any.
Counts any_load(int stretches_max) {
  Counts counts;
  const int stretches = *rc::gen::inRange(1, stretches_max + 1);
  for (int k = 0; k < stretches; ++k) {
    const int length = *rc::gen::inRange(1, 150);
    const int magnitude = *rc::gen::element(0, 1, 3, 20, 200);
    const int stride = *rc::gen::inRange(1, 50);
    for (int i = 0; i < length; ++i) counts.push_back(static_cast<std::uint32_t>((i * stride) % (magnitude + 1)));
  }
  return counts;
}

Problem any_problem(const Counts& counts) {
  const auto seconds = static_cast<int>(counts.size());
  return {.load = {.counts = counts, .from_second = *rc::gen::inRange(0, seconds)},
          .rate = *ReplicaRate::of(*rc::gen::element(Decimal(1), Decimal(8), Decimal(3, 10), Decimal(5, 2))),
          .wait_seconds = *rc::gen::element(0, 1, 2, 7, 200),
          .start_seconds = *rc::gen::element(0, 1, 5, 60),
          .attainment = *rc::gen::element(Decimal(99, 100), Decimal(1, 2), Decimal(1), Decimal(95, 100))};
}

using Wish = std::function<std::int64_t(const Moment&)>;

/// The same rules with a replica per element and a request per element, without any short cut.
class NaiveRun {
 public:
  NaiveRun(const Problem& problem, std::int64_t ready)
      : problem_(problem), ready_at_(static_cast<std::size_t>(ready), 0) {}

  RunResult serve(const Wish& wish) {
    for (std::int64_t t = 0; t < problem_.load.seconds(); ++t) step(t, wish);
    return result_;
  }

 private:
  std::int64_t ready(std::int64_t t) const {
    return std::count_if(ready_at_.begin(), ready_at_.end(), [=](std::int64_t at) { return at <= t; });
  }

  void step(std::int64_t t, const Wish& wish) {
    const auto size = static_cast<std::int64_t>(ready_at_.size());
    const std::int64_t want = wish({.second = t, .ready = ready(t), .starting = size - ready(t)});
    result_.ups += want > size ? 1 : 0;
    result_.downs += want < size ? 1 : 0;
    // The last element is the newest: ready ones come before starting ones.
    ready_at_.resize(static_cast<std::size_t>(want), t + problem_.start_seconds);
    result_.replica_seconds += want;
    for (std::int64_t k = 0; k < problem_.load.at(t); ++k) queue_.push_back(t);
    result_.requests += problem_.load.at(t);
    while (!queue_.empty() && queue_.front() < t - problem_.wait_seconds) queue_.pop_front();
    const Decimal rate(problem_.rate.numerator(), problem_.rate.denominator());
    for (std::int64_t k = (rate * Decimal(ready(t))).floor(); k > 0 && !queue_.empty(); --k) {
      queue_.pop_front();
      ++result_.in_time;
    }
  }

  const Problem& problem_;
  std::vector<std::int64_t> ready_at_;
  std::deque<std::int64_t> queue_;
  RunResult result_;
};

/// Target tracking with exact fractions and all answers kept.
class NaiveTracking {
 public:
  NaiveTracking(const Problem& problem, Tracking tracking) : problem_(problem), tracking_(tracking) {}

  std::int64_t want(const Moment& moment) {
    const std::int64_t n = moment.ready + moment.starting;
    if (moment.second < 60 || moment.second % 15 != 0) return n;
    const Decimal rate(problem_.rate.numerator(), problem_.rate.denominator());
    const Decimal mean(problem_.load.sum(moment.second - 15, moment.second), 15);
    const Decimal x = mean / (rate * Decimal(tracking_.target_twentieths, 20));
    const Decimal low = Decimal(n) * Decimal(9, 10);
    const Decimal high = Decimal(n) * Decimal(11, 10);
    const std::int64_t rounded = -(Decimal(0) - x).floor();
    const std::int64_t answer = n > 0 && low <= x && x <= high ? n : std::max<std::int64_t>(1, rounded);
    answers_.emplace_back(moment.second, answer);
    if (answer >= n) return answer;
    std::int64_t largest = 0;
    for (const auto& [second, replicas] : answers_) {
      if (second > moment.second - tracking_.hold_seconds) largest = std::max(largest, replicas);
    }
    return std::min(largest, n);
  }

 private:
  const Problem& problem_;
  Tracking tracking_;
  std::vector<std::pair<std::int64_t, std::int64_t>> answers_;
};

RC_GTEST_PROP(ScaleProperty, ARunIsWhatANaiveOneIs, ()) {
  const Counts counts = any_load(4);
  const Problem problem = any_problem(counts);
  const auto wants = *rc::gen::container<std::vector<std::int64_t>>(
      counts.size(), rc::gen::map(rc::gen::inRange(0, 40), [](int n) { return std::int64_t{n / 4}; }));
  const Wish wish = [&](const Moment& moment) { return wants[static_cast<std::size_t>(moment.second)]; };
  const std::int64_t ready = *rc::gen::inRange(0, 30);
  const RunResult run = serve_run(problem, ready, wish);
  RC_ASSERT(run == NaiveRun(problem, ready).serve(wish));
  RC_ASSERT(run.in_time <= run.requests);
}

RC_GTEST_PROP(ScaleProperty, TargetTrackingIsWhatItsRuleSays, ()) {
  const Counts counts = any_load(5);
  const Problem problem = any_problem(counts);
  const Tracking tracking{.target_twentieths = *rc::gen::inRange(4, 25), .hold_seconds = *rc::gen::element(60, 300)};
  TargetTracking rule(problem, tracking);
  NaiveTracking naive(problem, tracking);
  const std::int64_t ready = initial_replicas(problem);
  const RunResult run = serve_run(problem, ready, [&](const Moment& moment) { return rule.want(moment); });
  RC_ASSERT(run == NaiveRun(problem, ready).serve([&](const Moment& moment) { return naive.want(moment); }));
}

RC_GTEST_PROP(ScaleProperty, FixedIsTheSmallestNumberOfAll, ()) {
  const Counts counts = any_load(3);
  const Problem problem = any_problem(counts);
  const FixedResult found = smallest_fixed(problem);
  const auto run_with = [&](std::int64_t n) { return NaiveRun(problem, n).serve([=](const Moment&) { return n; }); };
  RC_ASSERT(found.run == run_with(found.replicas));
  RC_ASSERT(found.run.in_time >= problem.in_time_needed());
  const std::int64_t from = std::max<std::int64_t>(0, found.replicas - 12);
  for (std::int64_t n = from; n < found.replicas; ++n) RC_ASSERT(run_with(n).in_time < problem.in_time_needed());
}

RC_GTEST_PROP(ScaleProperty, TunedIsTheCheapestThatReaches, ()) {
  const Counts counts = any_load(4);
  const Problem problem = any_problem(counts);
  const TunedResult found = tuned_tracking(problem).value();
  const std::int64_t needed = problem.in_time_needed();
  bool is_found = false;
  for (std::int64_t target = 4; target <= 24; ++target) {
    for (const std::int64_t hold : {60, 300, 600}) {
      const Tracking tracking{.target_twentieths = target, .hold_seconds = hold};
      TargetTracking rule(problem, tracking);
      const RunResult run =
          serve_run(problem, initial_replicas(problem), [&](const Moment& moment) { return rule.want(moment); });
      is_found = is_found || tracking == found.tracking;
      if (tracking == found.tracking) RC_ASSERT(run == found.run);
      // An earlier one is worse, a later one not better.
      if (found.run.in_time >= needed) {
        const bool is_worse = run.in_time < needed || run.replica_seconds > found.run.replica_seconds;
        RC_ASSERT(is_worse || (is_found && run.replica_seconds == found.run.replica_seconds));
      } else {
        RC_ASSERT(run.in_time < found.run.in_time || (is_found && run.in_time == found.run.in_time));
      }
    }
  }
  RC_ASSERT(is_found);
}

/// The decisions of Berth's policy for the first `seconds` of a run.
std::vector<Decision> decisions_of(const Problem& problem, std::int64_t seconds) {
  const std::int64_t ready = initial_replicas(problem);
  ForecastPolicy policy(problem, ready);
  Service service(problem, 0, ready);
  std::vector<Decision> decisions;
  for (std::int64_t second = 0; second < seconds; ++second) {
    decisions.push_back(policy.want(service.begin()));
    service.end(decisions.back().replicas);
  }
  return decisions;
}

RC_GTEST_PROP(ScaleProperty, NoArrivalChangesAnEarlierDecision, ()) {
  Counts counts = any_load(12);
  const Problem problem = any_problem(counts);
  // Without a history the rules of a run derive the initial replicas from its first 600 seconds.
  const std::int64_t first = problem.load.from_second == 0 ? 600 : 0;
  RC_PRE(first < problem.load.seconds());
  const std::int64_t changed = *rc::gen::inRange(first, problem.load.seconds());
  const std::vector<Decision> before = decisions_of(problem, changed + 1);
  RC_ASSERT(before == decisions_of(problem, changed + 1));
  for (auto k = static_cast<std::size_t>(problem.load.from_second + changed); k < counts.size(); ++k) {
    counts[k] = counts[k] * 3 + 7;
  }
  RC_ASSERT(before == decisions_of(problem, changed + 1));
}

RC_GTEST_PROP(ScaleProperty, ARunDoesTheSameTwice, ()) {
  const Counts counts = any_load(6);
  const Problem problem = any_problem(counts);
  for (const Policy policy : kPolicies) RC_ASSERT(run_policy(problem, policy) == run_policy(problem, policy));
}

RC_GTEST_PROP(ScaleProperty, NoPolicyIsBelowTheBoundOrServesMoreThanThereIs, ()) {
  const Counts counts = any_load(6);
  const Problem problem = any_problem(counts);
  for (const Policy policy : kPolicies) {
    const RunResult run = run_policy(problem, policy).run;
    RC_ASSERT(run.requests == problem.requests());
    RC_ASSERT(run.in_time >= 0 && run.in_time <= run.requests && run.replica_seconds >= 0);
    if (run.in_time >= problem.in_time_needed()) RC_ASSERT(run.replica_seconds >= bound_replica_seconds(problem));
  }
}

}  // namespace
}  // namespace berth::scale
