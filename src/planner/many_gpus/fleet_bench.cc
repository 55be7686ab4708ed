// Fleets: the proven gap and the time of solve_fleet, seed by seed. scripts/bench planner --only fleet
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "base/core/ensure.h"
#include "planner/many_gpus/fleet.h"
#include "planner/many_gpus/testing/fleets.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

constexpr std::uint64_t kSeeds = 50;

/// Statistics over the answers of all seeds.
struct Gaps {
  std::vector<double> gaps;
  std::vector<double> times;  ///< processor time, ms
  int misses = 0;

  void add(const Problem& problem, const Answer& answer) {
    if (answer.misses_floors) {
      ++misses;
      return;
    }
    ENSURE(!find_fault(problem, answer.schedule));
    gaps.push_back((answer.bound - answer.objective) / std::max(1e-9, answer.bound));
  }

  void report(benchmark::State& state) {
    std::ranges::sort(times);
    state.counters["ms_median"] = times[times.size() / 2];
    state.counters["ms_worst"] = times.back();
    std::ranges::sort(gaps);
    state.counters["misses_floors"] = misses;
    if (gaps.empty()) return;
    state.counters["gap_median_percent"] = 100 * gaps[gaps.size() / 2];
    state.counters["gap_worst_percent"] = 100 * gaps.back();
  }
};

/// Solves; only this is timed.
void solve_timed(benchmark::State& state, const Problem& problem, const SearchLimits& limits, Gaps& gaps) {
  const std::clock_t begin = std::clock();
  state.ResumeTiming();
  const Answer answer = solve_fleet(problem, limits);
  state.PauseTiming();
  gaps.times.push_back(1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  gaps.add(problem, answer);
}

/// 1,000 GPUs of three models, 100 services, 200 slots, floors on. Argument: percent of services that retrain; then
/// services take 5 to 20 s to start, else 5 s.
void large_fleet_of_three_models(benchmark::State& state) {
  Gaps gaps;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int retraining = static_cast<int>(state.range(0));
    const Problem problem = testing::large_fleet(Rng(seed++), 1000, 100, retraining, 5, retraining > 0 ? 20 : 5);
    solve_timed(state, problem, {}, gaps);
    state.ResumeTiming();
  }
  gaps.report(state);
}
BENCHMARK(large_fleet_of_three_models)->Arg(0)->Arg(50)->Iterations(kSeeds)->Unit(benchmark::kMillisecond);

/// Arguments: GPUs, services, limit of nodes.
void small_fleet(benchmark::State& state) {
  Gaps gaps;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const Problem problem =
        testing::fleet_problem(Rng(seed++), static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 200, 0);
    solve_timed(state, problem, {.nodes_max = state.range(2)}, gaps);
    state.ResumeTiming();
  }
  gaps.report(state);
}
BENCHMARK(small_fleet)
    ->ArgsProduct({{2, 4, 8}, {4, 8}, {3'000, 1'000'000}})
    ->Iterations(20)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::planner
