// The search for one GPU on random problems of planner/window/testing/problems.h: time by percentile, gap by percentile
// and the share that is proven optimal. And, problem by problem, its rival: the integer program of the same model
// (planner/window/testing/integer_model.h), which takes from seconds to hours for a problem of 20 slots. One of them by
// name: --benchmark_filter=against_integer_program/seed:7/, with the rival stopped after BERTH_RIVAL_SECONDS of
// processor time if that is set; all of them: tests/planner/integer_program.py.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "planner/one_gpu/one_gpu.h"
#include "planner/window/testing/integer_model.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

/// Processor time.
template <typename Solve>
double ms_of(const Solve& solve) {
  const std::clock_t begin = std::clock();
  solve();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
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

/// After this much processor time the rival stops with its best solution so far.
double rival_seconds_max() {
  const char* text = std::getenv("BERTH_RIVAL_SECONDS");
  return text == nullptr ? solver::kInfinity : std::stod(text);
}

/// Argument: the seed of a problem of 4 services and 20 slots. Counters of both: objective, bound and milliseconds of
/// processor time.
void against_integer_program(benchmark::State& state) {
  const Problem problem = testing::one_gpu_problem(Rng(static_cast<std::uint64_t>(state.range(0))), 4, 20);
  Answer ours;
  Answer rival;
  state.counters["ours_ms"] = ms_of([&] { ours = solve_one_gpu(problem, {.nodes_max = 20'000'000}); });
  for (auto _ : state) {
    state.counters["rival_ms"] =
        ms_of([&] { rival = solve_by_integer_program(problem, {.seconds_max = rival_seconds_max()}); });
  }
  state.counters["ours"] = ours.objective;
  state.counters["ours_bound"] = ours.bound;
  state.counters["rival"] = rival.objective;
  state.counters["rival_bound"] = rival.bound;
}
BENCHMARK(against_integer_program)->ArgName("seed")->DenseRange(0, 99)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::planner
