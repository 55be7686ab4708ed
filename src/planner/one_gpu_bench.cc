// The search for one GPU on random problems of detail/test_problems.h: time by percentile, gap by percentile and the
// share that is proven optimal. And, problem by problem, its rival: the integer program of the same model
// (integer_model.h), which takes from seconds to many minutes for a problem of 20 slots. Those are run one at a time by
// name (--benchmark_filter=against_integer_program/seed:7/), with `timeout` where that has to end.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "planner/detail/test_problems.h"
#include "planner/integer_model.h"
#include "planner/one_gpu.h"

namespace berth::planner {
namespace {

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

template <typename Solve>
double ms_of(const Solve& solve) {
  const auto begin = std::chrono::steady_clock::now();
  solve();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// Arguments: services, slots, nodes, problems, 0 for no retraining, and the gap that is good enough in 1/100 %.
void solve(benchmark::State& state) {
  std::vector<double> ms;
  std::vector<double> gaps;
  int proven = 0;
  const SearchLimits limits{.nodes_max = state.range(2), .gap = static_cast<double>(state.range(5)) / 10'000};
  for (auto _ : state) {
    for (std::int64_t seed = 0; seed < state.range(3); ++seed) {
      Problem problem = testing::one_gpu_problem(Rng(static_cast<std::uint64_t>(seed)),
                                                 static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
      if (state.range(4) == 0) {
        for (ServiceTerms& service : problem.services) service.retraining.reset();
      }
      Answer answer;
      ms.push_back(ms_of([&] { answer = solve_one_gpu(problem, limits); }));
      const double gap = (answer.bound - answer.objective) / std::max(answer.bound, 1e-9);
      gaps.push_back(100 * gap);
      if (gap < 1e-9) ++proven;
    }
  }
  state.counters["ms_p50"] = percentile(ms, 0.5);
  state.counters["ms_p99"] = percentile(ms, 0.99);
  state.counters["gap%_p50"] = percentile(gaps, 0.5);
  state.counters["gap%_p99"] = percentile(gaps, 0.99);
  state.counters["proven%"] = 100.0 * proven / static_cast<double>(gaps.size());
}
BENCHMARK(solve)
    ->ArgNames({"services", "slots", "nodes", "problems", "retraining", "gap"})
    ->Args({4, 20, 20'000'000, 20, 1, 0})
    ->Args({4, 20, 20'000'000, 20, 0, 0})
    ->Args({4, 200, 5'000, 100, 1, 40})
    ->Args({4, 200, 5'000, 100, 0, 40})
    ->Args({4, 200, 5'000, 100, 0, 0})
    ->Args({4, 200, 100'000, 50, 1, 0})
    ->Args({4, 200, 100'000, 50, 0, 0})
    ->Args({8, 200, 20'000, 20, 1, 0})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Argument: the seed of a problem of 4 services and 20 slots. Counters: milliseconds of both, their ratio, and 1 where
/// the optimum is the same.
void against_integer_program(benchmark::State& state) {
  const Problem problem = testing::one_gpu_problem(Rng(static_cast<std::uint64_t>(state.range(0))), 4, 20);
  Answer ours;
  Answer rival;
  const double ours_ms = ms_of([&] { ours = solve_one_gpu(problem, {.nodes_max = 20'000'000}); });
  double rival_ms = 0;
  for (auto _ : state) {
    rival_ms = ms_of([&] { rival = solve_by_integer_program(problem, {}); });
  }
  const double scale = std::max(1.0, std::abs(rival.objective));
  state.counters["ours_ms"] = ours_ms;
  state.counters["rival_ms"] = rival_ms;
  state.counters["ratio"] = rival_ms / ours_ms;
  state.counters["ours_proven"] = ours.bound - ours.objective <= 1e-9 * scale ? 1 : 0;
  state.counters["rival_proven"] = rival.bound - rival.objective <= 1e-6 * scale ? 1 : 0;
  state.counters["same"] = std::abs(ours.objective - rival.objective) <= 1e-6 * scale ? 1 : 0;
}
BENCHMARK(against_integer_program)->ArgName("seed")->DenseRange(0, 99)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::planner
