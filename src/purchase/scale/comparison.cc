#include "purchase/scale/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/core/ensure.h"
#include "base/core/figure_text.h"

namespace berth::scale {
namespace {

std::string rate_text(const Problem& problem) {
  return Decimal(problem.rate.numerator(), problem.rate.denominator()).to_string();
}

/// ", 12.3% fewer than tuned (hindsight, 99.01% in time)".
std::string compared(const PolicyResult& ours, const PolicyResult& other) {
  if (other.run.replica_seconds == 0) return "";
  const double share =
      1 - static_cast<double>(ours.run.replica_seconds) / static_cast<double>(other.run.replica_seconds);
  std::string beside = is_hindsight(other.policy) ? "hindsight" : "";
  if (const auto in_time = in_time_text(other)) beside += (beside.empty() ? "" : ", ") + *in_time + " in time";
  return fmt::format(", {:.1f}% {} than {}{}", std::abs(share) * 100, share < 0 ? "more" : "fewer",
                     name_of(other.policy), beside.empty() ? "" : " (" + beside + ")");
}

}  // namespace

std::optional<std::int64_t> Comparison::micro_usd(const PolicyResult& result) const {
  if (!micro_usd_per_replica_hour) return std::nullopt;
  return micro_usd_of(result.run.replica_seconds, *micro_usd_per_replica_hour);
}

bool Comparison::is_enough(const PolicyResult& result) const { return result.run.in_time >= problem.in_time_needed(); }

const PolicyResult* Comparison::result_of(Policy policy) const {
  const auto it = std::ranges::find(results, policy, &PolicyResult::policy);
  return it == results.end() ? nullptr : &*it;
}

const PolicyResult* Comparison::recommended() const {
  const PolicyResult* best = nullptr;
  const auto is_better = [this](const PolicyResult& one, const PolicyResult& other) {
    const bool one_is_enough = is_enough(one);
    if (one_is_enough != is_enough(other)) return one_is_enough;
    return one_is_enough ? one.run.replica_seconds < other.run.replica_seconds : one.run.in_time > other.run.in_time;
  };
  for (const PolicyResult& result : results) {
    if (is_hindsight(result.policy)) continue;
    if (best == nullptr || is_better(result, *best)) best = &result;
  }
  return best;
}

std::optional<double> attainment_of(const PolicyResult& result) {
  if (result.run.requests == 0) return std::nullopt;
  return static_cast<double>(result.run.in_time) / static_cast<double>(result.run.requests);
}

std::optional<std::string> in_time_text(const PolicyResult& result) {
  if (result.run.requests == 0) return std::nullopt;
  // Hundredths of a percent in whole numbers: a double could round a share up to the next one.
  const std::int64_t floored = (Decimal(result.run.in_time) * Decimal(10'000) / Decimal(result.run.requests)).floor();
  return fmt::format("{}.{:02}%", floored / 100, floored % 100);
}

std::optional<std::string> setting_text(const PolicyResult& result) {
  if (result.tracking) {
    return fmt::format("target {:.2f}, hold {} s", static_cast<double>(result.tracking->target_twentieths) / 20,
                       result.tracking->hold_seconds);
  }
  if (result.replicas) return with_separators(*result.replicas) + " replicas";
  if (result.found) return fmt::format("mean margin {}/s", significant(result.found->margin));
  return std::nullopt;
}

std::string question_words(const Comparison& comparison) {
  const Problem& problem = comparison.problem;
  const auto run = problem.load.counts.subspan(static_cast<std::size_t>(problem.load.from_second));
  const std::int64_t peak = run.empty() ? 0 : std::ranges::max(run);
  return fmt::format(
      "{} seconds with {} requests, at most {} in one; {} seconds of history. A replica serves {} a second and starts "
      "in {} s; a request waits at most {} s; {} of them are wanted in time.",
      with_separators(problem.load.seconds()), with_separators(problem.requests()), with_separators(peak),
      with_separators(problem.load.from_second), rate_text(problem), with_separators(problem.start_seconds),
      with_separators(problem.wait_seconds), percent(problem.attainment.to_double()));
}

std::string scale_verdict(const Comparison& comparison) {
  const PolicyResult* best = comparison.recommended();
  if (best == nullptr) return "No policy without hindsight was asked for.";
  std::string text =
      fmt::format("Scale by {}: {} replica-seconds", name_of(best->policy), with_separators(best->run.replica_seconds));
  if (const auto cost = comparison.micro_usd(*best)) text += fmt::format(" ({})", dollars(*cost));
  if (const auto in_time = in_time_text(*best)) text += fmt::format(" with {} in time", *in_time);
  for (const Policy policy : {Policy::kTuned, Policy::kTargetTracking, Policy::kBerth}) {
    const PolicyResult* other = comparison.result_of(policy);
    if (other != nullptr && other != best) text += compared(*best, *other);
  }
  text += ".";
  if (comparison.is_enough(*best)) return text;
  return text + " That is below what is wanted; no policy without hindsight reached it.";
}

std::string scale_assumption(const Comparison& comparison) {
  std::string text = fmt::format(
      "Assumed: the recorded arrivals; each replica serves {} requests a second; starting ones are paid, too",
      rate_text(comparison.problem));
  if (comparison.micro_usd_per_replica_hour) {
    text += fmt::format("; {} per replica-hour", dollars(*comparison.micro_usd_per_replica_hour));
  }
  return text + ".";
}

std::string reason_words(const WantChange& change, std::int64_t before, const Problem& problem) {
  ENSURE(change.reason.has_value());
  const Decision& reason = change.reason.value();
  return fmt::format(
      "From {} to {} replicas: it expected {} requests/s {} s later, and {} {}/s as the margin that covers {} of the "
      "errors of such forecasts.",
      with_separators(before), with_separators(change.want), significant(reason.forecast),
      with_separators(problem.start_seconds), reason.margin < 0 ? "took off" : "added",
      significant(std::abs(reason.margin)), percent(reason.quantile));
}

std::optional<std::size_t> largest_step_up(const PolicyResult& result) {
  const auto& changes = result.changes;
  std::optional<std::size_t> largest;
  const auto step = [&](std::size_t at) { return changes[at].want - changes[at - 1].want; };
  for (std::size_t i = 1; i < changes.size(); ++i) {
    if (step(i) > (largest ? step(*largest) : 0)) largest = i;
  }
  return largest;
}

}  // namespace berth::scale
