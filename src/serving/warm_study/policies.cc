#include "serving/warm_study/policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/proportion.h"
#include "base/core/text.h"
#include "serving/warm_study/caches.h"
#include "serving/warm_study/learned.h"
#include "serving/warm_study/rules.h"

namespace berth::warm {
namespace {

constexpr std::int64_t kSecondsPerHour = 3600;
constexpr std::array<std::int64_t, 15> kCurve = {10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640, 905, 1280};
constexpr std::string_view kOursAtPrice = "berth-";

std::vector<Policy> rules() {
  std::vector<Policy> policies;
  for (const std::int64_t minutes : {5, 10, 20, 60, 120}) {
    policies.push_back({.name = fmt::format("fixed-{}m", minutes), .kind = PolicyKind::kFixed, .minutes = minutes});
  }
  policies.push_back({.name = "hybrid", .kind = PolicyKind::kHybrid, .minutes = 240});
  policies.push_back({.name = "hybrid-1h", .kind = PolicyKind::kHybrid, .minutes = 60});
  policies.push_back({.name = "optimal", .kind = PolicyKind::kOptimal});
  policies.push_back({.name = "berth", .kind = PolicyKind::kBerth});
  return policies;
}

std::vector<Policy> rules_with_memory() {
  return {{.name = "lru", .kind = PolicyKind::kLru},
          {.name = "greedy-dual", .kind = PolicyKind::kGreedyDual},
          {.name = "bound", .kind = PolicyKind::kBound},
          {.name = "berth", .kind = PolicyKind::kBerth}};
}

Policy ours_at(std::int64_t cold_minutes) {
  return {.name = fmt::format("{}{}", kOursAtPrice, cold_minutes), .kind = PolicyKind::kBerth, .minutes = cold_minutes};
}

std::vector<Policy> curve() {
  std::vector<Policy> policies;
  policies.reserve(kCurve.size());
  for (const std::int64_t cold_minutes : kCurve) policies.push_back(ours_at(cold_minutes));
  return policies;
}

std::vector<LoadedMinutes> loaded_by_rule(const Problem& problem, const Policy& policy) {
  const AppTrace& trace = *problem.trace;
  std::vector<LoadedMinutes> loaded;
  loaded.reserve(trace.apps.size());
  for (const AppCounts& app : trace.apps) {
    if (policy.kind == PolicyKind::kOptimal) {
      loaded.push_back(loaded_at_best(app, problem.prices));
    } else {
      const auto rule = policy.kind == PolicyKind::kFixed ? loaded_for : loaded_by_histogram;
      loaded.push_back(rule(app, trace.minutes, policy.minutes.value()));
    }
  }
  return loaded;
}

void count_courses(const Problem& problem, PolicyResult& result) {
  IdleTotals idle;
  for (std::size_t app = 0; app < result.loaded.size(); ++app) {
    const AppCourse course = course_of(problem.trace->apps[app], result.loaded[app]);
    result.app_cold_starts.push_back(course.cold_starts);
    result.cold_starts += course.cold_starts;
    idle.idle_minutes += course.idle_minutes;
    idle.preloads += course.preloads;
  }
  if (!problem.memory) result.idle = idle;
}

void run_cached(const Problem& problem, PolicyResult& result) {
  const bool is_lru = result.policy.kind == PolicyKind::kLru;
  CacheRun run = run_cache(problem, is_lru ? CacheRule::kLru : CacheRule::kGreedyDual);
  result.app_cold_starts = std::move(run.cold_starts);
  result.loaded = std::move(run.loaded);
  for (const std::int64_t cold_starts : result.app_cold_starts) result.cold_starts += cold_starts;
}

/// Ours all at once: the predictor is the same for all prices.
void run_ours(const Problem& problem, std::vector<PolicyResult>& results) {
  std::vector<std::int64_t> prices;
  for (const PolicyResult& result : results) {
    if (result.policy.is_ours()) prices.push_back(result.policy.minutes.value_or(problem.prices.cold_minutes));
  }
  if (prices.empty()) return;
  std::vector<std::vector<LoadedMinutes>> loaded;
  if (problem.memory) loaded.push_back(loaded_by_value(problem));
  if (!problem.memory) loaded = loaded_where_worth(problem, prices);
  auto next = loaded.begin();
  for (PolicyResult& result : results) {
    if (!result.policy.is_ours()) continue;
    ENSURE(next != loaded.end());
    result.loaded = std::move(*next++);
    count_courses(problem, result);
  }
}

void run_other(const Problem& problem, PolicyResult& result) {
  switch (result.policy.kind) {
    case PolicyKind::kFixed:
    case PolicyKind::kHybrid:
    case PolicyKind::kOptimal:
      result.loaded = loaded_by_rule(problem, result.policy);
      return count_courses(problem, result);
    case PolicyKind::kLru:
    case PolicyKind::kGreedyDual:
      return run_cached(problem, result);
    case PolicyKind::kBound:
      result.cold_starts = cold_starts_bound(problem);
      return;
    case PolicyKind::kBerth:
      return;
  }
}

/// The value at a rank of p (n - 1) / 100 among sorted ones. Requires: not empty.
double at_percent(const std::vector<double>& sorted, std::int64_t percent) {
  const std::int64_t hundredths = percent * (std::ssize(sorted) - 1);
  const auto low = static_cast<std::size_t>(hundredths / 100);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double part = static_cast<double>(hundredths % 100) / 100;
  return sorted[low] + part * (sorted[high] - sorted[low]);
}

std::optional<Int128> exact_cost(const Problem& problem, const PolicyResult& result) {
  const auto seconds = idle_seconds(problem, result);
  if (!seconds || !problem.prices.micro_usd_per_idle_hour) return std::nullopt;
  const Int128 worth = Int128{kSecondsPerMinute} * problem.prices.cold_minutes * result.cold_starts + *seconds;
  return multiply_divide_half_even(worth, *problem.prices.micro_usd_per_idle_hour, kSecondsPerHour);
}

bool fits(Int128 cost) { return cost <= std::numeric_limits<std::int64_t>::max(); }

}  // namespace

std::optional<std::vector<Policy>> policies_named(std::string_view word, bool has_memory) {
  auto known = has_memory ? rules_with_memory() : rules();
  if (word == "curve" && !has_memory) return curve();
  if (word == "all") {
    if (!has_memory) std::ranges::move(curve(), std::back_inserter(known));
    return known;
  }
  if (const auto found = std::ranges::find(known, word, &Policy::name); found != known.end()) {
    return std::vector{std::move(*found)};
  }
  if (has_memory || !word.starts_with(kOursAtPrice)) return std::nullopt;
  const auto price = parse_count(word.substr(kOursAtPrice.size()), kColdMinutesMax);
  if (!price || ours_at(*price).name != word) return std::nullopt;
  return std::vector{ours_at(*price)};
}

std::string known_policy_words(bool has_memory) {
  std::vector<std::string> words;
  for (const Policy& policy : has_memory ? rules_with_memory() : rules()) words.push_back(policy.name);
  return has_memory ? fmt::format("all, {}", fmt::join(words, ", "))
                    : fmt::format("all, {}, berth-V or curve", fmt::join(words, ", "));
}

std::vector<PolicyResult> run_policies(const Problem& problem, const std::vector<Policy>& policies) {
  std::vector<PolicyResult> results;
  results.reserve(policies.size());
  for (const Policy& policy : policies) {
    results.emplace_back();
    results.back().policy = policy;
  }
  run_ours(problem, results);
  for (PolicyResult& result : results) {
    run_other(problem, result);
    if (results.size() > 1 && result.policy.name != "berth") result.loaded = {};
  }
  return results;
}

std::optional<ColdShares> cold_shares(const Problem& problem, const PolicyResult& result) {
  if (result.app_cold_starts.empty()) return std::nullopt;
  std::vector<double> shares;
  double avoidable = 0;
  for (std::size_t app = 0; app < result.app_cold_starts.size(); ++app) {
    const auto invocations = static_cast<double>(problem.trace->apps[app].invocations);
    shares.push_back(100 * static_cast<double>(result.app_cold_starts[app]) / invocations);
    avoidable += 100 * static_cast<double>(result.app_cold_starts[app] - 1) / invocations;
  }
  std::ranges::sort(shares);
  return ColdShares{.p50 = at_percent(shares, 50),
                    .p75 = at_percent(shares, 75),
                    .p90 = at_percent(shares, 90),
                    .avoidable = avoidable / static_cast<double>(shares.size())};
}

std::optional<std::int64_t> cost_minutes(const Problem& problem, const PolicyResult& result) {
  if (!result.idle) return std::nullopt;
  return result.idle->idle_minutes + problem.prices.cold_minutes * result.cold_starts;
}

std::optional<std::int64_t> idle_seconds(const Problem& problem, const PolicyResult& result) {
  if (!result.idle) return std::nullopt;
  return kSecondsPerMinute * result.idle->idle_minutes + problem.prices.load_seconds * result.idle->preloads;
}

std::optional<std::int64_t> wait_seconds(const Problem& problem, const PolicyResult& result) {
  if (!result.idle) return std::nullopt;
  return problem.prices.load_seconds * result.cold_starts;
}

std::optional<std::int64_t> cost_micro_usd(const Problem& problem, const PolicyResult& result) {
  const auto cost = exact_cost(problem, result);
  if (!cost || !fits(*cost)) return std::nullopt;
  return static_cast<std::int64_t>(*cost);
}

bool do_costs_fit(const Problem& problem, const std::vector<PolicyResult>& results) {
  return std::ranges::all_of(results, [&](const PolicyResult& result) {
    const auto cost = exact_cost(problem, result);
    return !cost || fits(*cost);
  });
}

}  // namespace berth::warm
