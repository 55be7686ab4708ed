#include "serving/warm_study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/core/count_words.h"
#include "base/core/figure_text.h"

namespace berth::warm {
namespace {

/// What a policy is judged by: its cost in minutes, with a memory its cold starts.
std::int64_t measure_of(const Problem& problem, const PolicyResult& result) {
  return cost_minutes(problem, result).value_or(result.cold_starts);
}

const PolicyResult* result_named(const std::vector<PolicyResult>& results, std::string_view name) {
  const auto found = std::ranges::find_if(results, [&](const PolicyResult& each) { return each.policy.name == name; });
  return found == results.end() ? nullptr : &*found;
}

/// "25% less", "3% more".
std::string difference_words(double ours, double rival, std::string_view less, std::string_view more) {
  if (ours == rival) return fmt::format("no {}", less);
  const double share = rival == 0 ? 1 : std::abs(ours - rival) / rival;
  return fmt::format("{} {}", percent(share), ours < rival ? less : more);
}

std::string cost_verdict(const Problem& problem, const PolicyResult& ours, const PolicyResult& rival) {
  const std::int64_t our_cost = measure_of(problem, ours);
  const std::int64_t rival_cost = measure_of(problem, rival);
  const auto words = [&](std::string_view less, std::string_view more) {
    return difference_words(static_cast<double>(our_cost), static_cast<double>(rival_cost), less, more);
  };
  if (problem.memory) {
    return fmt::format(
        "In {} MiB, berth has {} cold starts than {}, the best policy that does not know the future: {}, not {}.",
        with_separators(problem.memory->mib), words("fewer", "more"), rival.policy.name, with_separators(our_cost),
        with_separators(rival_cost));
  }
  return fmt::format(
      "At {} a cold start, berth costs {} than {}, the best policy that does not know the future: {} minutes, not {}.",
      counted_noun(problem.prices.cold_minutes, "idle minute"), words("less", "more"), rival.policy.name,
      with_separators(our_cost), with_separators(rival_cost));
}

/// Ours with most idle minutes among those with no more than a rival.
const PolicyResult* ours_within(const std::vector<PolicyResult>& results, const PolicyResult& rival) {
  const PolicyResult* best = nullptr;
  for (const PolicyResult& each : results) {
    if (!each.policy.is_ours() || !each.idle || each.idle->idle_minutes > rival.idle->idle_minutes) continue;
    if (best == nullptr || each.idle->idle_minutes > best->idle->idle_minutes) best = &each;
  }
  return best;
}

std::string apps_verdict(const Problem& problem, const PolicyResult& ours, const PolicyResult& rival) {
  const auto our_shares = cold_shares(problem, ours);
  const auto rival_shares = cold_shares(problem, rival);
  if (!our_shares || !rival_shares) return "The trace has no invocations.";
  return fmt::format(
      "With {} idle minutes (hybrid: {}), {} has a mean avoidable cold share over apps of {:.2f}%, hybrid {:.2f}%: {}.",
      with_separators(ours.idle->idle_minutes), with_separators(rival.idle->idle_minutes), ours.policy.name,
      our_shares->avoidable, rival_shares->avoidable,
      difference_words(our_shares->avoidable, rival_shares->avoidable, "less", "more"));
}

}  // namespace

const PolicyResult* best_rival(const Problem& problem, const std::vector<PolicyResult>& results) {
  const PolicyResult* best = nullptr;
  for (const PolicyResult& each : results) {
    if (each.policy.is_ours() || each.policy.is_hindsight()) continue;
    if (best == nullptr || measure_of(problem, each) < measure_of(problem, *best)) best = &each;
  }
  return best;
}

std::string warm_question(const Problem& problem) {
  const AppTrace& trace = *problem.trace;
  std::int64_t invocations = 0;
  for (const AppCounts& app : trace.apps) invocations += app.invocations;
  std::string text = fmt::format("{} with {} in {}.", counted_noun(std::ssize(trace.apps), "app"),
                                 counted_noun(invocations, "invocation"), counted_noun(trace.minutes, "minute"));
  if (problem.memory) return text + fmt::format(" Loaded apps share {} MiB.", with_separators(problem.memory->mib));
  return text + fmt::format(" A cold start is worth {}; an app loads in {} s.",
                            counted_noun(problem.prices.cold_minutes, "idle minute"), problem.prices.load_seconds);
}

std::string warm_assumption() {
  return "Assumed: the recorded invocations; an app is loaded for whole minutes, and in a minute at most one of its "
         "invocations is a cold start.";
}

std::string warm_verdict(const Problem& problem, const std::vector<PolicyResult>& results) {
  if (problem.trace->apps.empty()) return "The trace has no invocations.";
  const PolicyResult* hybrid = result_named(results, "hybrid");
  if (problem.weigh == Weigh::kApps && hybrid != nullptr) {
    if (const PolicyResult* ours = ours_within(results, *hybrid)) return apps_verdict(problem, *ours, *hybrid);
  }
  const PolicyResult* ours = result_named(results, "berth");
  const PolicyResult* rival = best_rival(problem, results);
  if (ours != nullptr && rival != nullptr) return cost_verdict(problem, *ours, *rival);
  return "To see what berth saves, run it together with a policy that does not know the future.";
}

}  // namespace berth::warm
