#include "scheduling/placement/study.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "scheduling/placement/arrivals.h"

namespace berth::placement {
namespace {

Result<Arrivals> arrivals_of(const Problem& problem, const StudyOptions& options, std::uint64_t seed) {
  switch (options.order) {
    case ArrivalOrder::kGiven:
      return given_arrivals(problem);
    case ArrivalOrder::kSeeded:
      return seeded_arrivals(problem, options.demand, seed);
    case ArrivalOrder::kChurn:
      break;
  }
  return churning_arrivals(problem, options.demand, seed);
}

/// By nearest rank. Requires: not empty, share above 0.
double percentile_us(const std::vector<std::uint32_t>& sorted_ns, double share) {
  constexpr double kNsPerUs = 1000.0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted_ns.size())));
  return static_cast<double>(sorted_ns[rank - 1]) / kNsPerUs;
}

std::optional<DecisionTimes> times_of(const std::vector<RunFigures>& runs) {
  constexpr double kNsPerSecond = 1e9;
  std::vector<std::uint32_t> all;
  for (const RunFigures& run : runs) all.insert(all.end(), run.decision_ns.begin(), run.decision_ns.end());
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all);
  const auto sum = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  return DecisionTimes{.p50_us = percentile_us(all, 0.5),
                       .p99_us = percentile_us(all, 0.99),
                       .per_second = kNsPerSecond * static_cast<double>(all.size()) /
                                     static_cast<double>(std::max<std::uint64_t>(1, sum))};
}

/// The summary of one figure over the runs that have it.
template <class Figure>
std::optional<Summary> summary_over(const std::vector<RunFigures>& runs, const Figure& figure) {
  std::vector<double> values;
  for (const RunFigures& run : runs) {
    if (const std::optional<double> value = figure(run)) values.push_back(*value);
  }
  return summary_of(values);
}

PolicyResult result_of(Policy policy, bool has_slices, std::vector<RunFigures> runs) {
  PolicyResult result{.policy = policy};
  result.allocated_at_100 = summary_over(runs, [](const RunFigures& run) { return run.allocated_at_100; });
  result.allocated_at_130 = summary_over(runs, [](const RunFigures& run) { return run.allocated_at_130; });
  result.allocated_churn = summary_over(runs, [](const RunFigures& run) { return run.allocated_churn; });
  result.units_at_130 = summary_over(runs, [](const RunFigures& run) { return run.units_at_130; });
  result.units_churn = summary_over(runs, [](const RunFigures& run) { return run.units_churn; });
  result.fragmented = summary_over(runs, [](const RunFigures& run) { return run.fragmented; });
  result.failed =
      summary_over(runs, [](const RunFigures& run) { return std::optional(static_cast<double>(run.failed)); });
  if (has_slices) {
    result.moves =
        summary_over(runs, [](const RunFigures& run) { return std::optional(static_cast<double>(run.moves)); });
  }
  result.times = times_of(runs);
  result.runs = std::move(runs);
  return result;
}

}  // namespace

std::optional<Summary> summary_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  Summary summary{.mean = std::accumulate(values.begin(), values.end(), 0.0) / count};
  if (values.size() == 1) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.sd = std::sqrt(squares / (count - 1));
  return summary;
}

Result<std::optional<std::vector<PolicyResult>>> run_study(const Problem& problem, const StudyOptions& options,
                                                           std::span<const Policy> policies, const RunHook& hook) {
  const bool is_given = options.order == ArrivalOrder::kGiven;
  const std::vector<std::uint64_t> seeds = is_given ? std::vector<std::uint64_t>{0} : options.seeds;
  std::vector<PolicyResult> results;
  for (const Policy policy : policies) {
    std::vector<RunFigures> runs;
    for (const std::uint64_t seed : seeds) {
      const auto arrivals = arrivals_of(problem, options, seed);
      if (!arrivals) return pass_on(arrivals.error());
      const RunListener listener = hook(policy, is_given ? std::nullopt : std::optional(seed), *arrivals);
      auto figures =
          run_placement(problem, *arrivals, {.policy = policy, .seed = seed, .moves_max = options.moves_max}, listener);
      if (!figures) return std::optional<std::vector<PolicyResult>>();
      runs.push_back(std::move(*figures));
    }
    results.push_back(result_of(policy, problem.has_cuts(), std::move(runs)));
  }
  return std::optional(std::move(results));
}

}  // namespace berth::placement
