#include "purchase/scale/hindsight.h"

#include <algorithm>
#include <array>

namespace berth::scale {
namespace {

constexpr std::int64_t kTwentiethsFirst = 4;
constexpr std::int64_t kTwentiethsLast = 24;
constexpr std::array<std::int64_t, 3> kHolds = {60, 300, 600};

RunResult run_tracking(const Problem& problem, Tracking tracking, std::int64_t ready) {
  TargetTracking rule(problem, tracking);
  return serve_run(problem, ready, [&](const Moment& moment) { return rule.want(moment); });
}

RunResult run_fixed(const Problem& problem, std::int64_t replicas) {
  return serve_run(problem, replicas, [=](const Moment&) { return replicas; });
}

/// Whether `a` is the better result; does not depend on the order of the choices.
bool is_better(const RunResult& a, const RunResult& b, std::int64_t in_time_needed) {
  const bool a_reaches = a.in_time >= in_time_needed;
  const bool b_reaches = b.in_time >= in_time_needed;
  if (a_reaches != b_reaches) return a_reaches;
  return a_reaches ? a.replica_seconds < b.replica_seconds : a.in_time > b.in_time;
}

}  // namespace

const std::vector<Tracking>& tracking_choices() {
  static const std::vector<Tracking> choices = [] {
    std::vector<Tracking> all;
    for (std::int64_t target = kTwentiethsFirst; target <= kTwentiethsLast; ++target) {
      for (const std::int64_t hold : kHolds) all.push_back({.target_twentieths = target, .hold_seconds = hold});
    }
    return all;
  }();
  return choices;
}

std::optional<TunedResult> tuned_tracking(const Problem& problem, const Progress& progress) {
  const std::int64_t needed = problem.in_time_needed();
  const std::int64_t ready = initial_replicas(problem);
  const std::vector<Tracking>& choices = tracking_choices();
  std::optional<TunedResult> best;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto done = static_cast<double>(i) / static_cast<double>(choices.size());
    if (progress && !progress(done)) return std::nullopt;
    const RunResult run = run_tracking(problem, choices[i], ready);
    if (!best || is_better(run, best->run, needed)) best = TunedResult{.tracking = choices[i], .run = run};
  }
  return best;
}

FixedResult smallest_fixed(const Problem& problem) {
  const std::int64_t needed = problem.in_time_needed();
  std::int64_t peak = 0;
  for (std::int64_t second = 0; second < problem.load.seconds(); ++second) {
    peak = std::max(peak, problem.load.at(second));
  }
  // Enough replicas for the peak serve each second's requests at once.
  std::int64_t low = 0;
  std::int64_t high = problem.rate.replicas_for(peak);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (run_fixed(problem, middle).in_time >= needed) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {.replicas = high, .run = run_fixed(problem, high)};
}

}  // namespace berth::scale
