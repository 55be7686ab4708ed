// One minute of 100,000 apps: their invocations taken, and what is loaded in the next minute decided, at a price or in
// a memory. Histories have up to 200 gaps, many more than are remembered: the worst case.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/core/rng.h"
#include "serving/warm/predictor.h"
#include "serving/warm/worth.h"

namespace berth::warm {
namespace {

constexpr std::size_t kApps = 100'000;
constexpr std::int64_t kHistoryMinutes = 2000;

/// Invocations of a minute, one app in ten, each app at its own random times.
std::vector<Invoked> draw_minute(Rng& rng) {
  std::vector<Invoked> invoked;
  for (std::size_t app = 0; app < kApps; ++app) {
    if (rng.below(10) == 0) invoked.push_back({.key = app});
  }
  return invoked;
}

Predictor with_history(Rng& rng) {
  Predictor predictor(kApps);
  for (std::int64_t minute = 0; minute < kHistoryMinutes; minute += 10) {
    predictor.finish_minute(minute, draw_minute(rng));
  }
  return predictor;
}

void decide_at_a_price(benchmark::State& state) {
  Rng rng(1);
  Predictor predictor = with_history(rng);
  std::int64_t minute = kHistoryMinutes;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<Invoked> invoked = draw_minute(rng);
    state.ResumeTiming();
    predictor.finish_minute(minute++, invoked);
    std::size_t loaded = 0;
    for (std::size_t app = 0; app < kApps; ++app) {
      const auto probability = predictor.probability(app);
      if (probability && is_worth_loading(*probability, 30)) ++loaded;
    }
    benchmark::DoNotOptimize(loaded);
  }
}
BENCHMARK(decide_at_a_price)->Unit(benchmark::kMillisecond)->Iterations(20);

void decide_in_a_memory(benchmark::State& state) {
  Rng rng(1);
  Predictor predictor = with_history(rng);
  std::int64_t minute = kHistoryMinutes;
  std::vector<Loadable> loadables;
  for (auto _ : state) {
    state.PauseTiming();
    const std::vector<Invoked> invoked = draw_minute(rng);
    state.ResumeTiming();
    predictor.finish_minute(minute++, invoked);
    loadables.clear();
    for (std::size_t app = 0; app < kApps; ++app) {
      const auto probability = predictor.probability(app);
      if (probability) loadables.push_back({.key = app, .value = *probability, .size = 100});
    }
    benchmark::DoNotOptimize(most_valuable(loadables, 3'000'000).size());
  }
}
BENCHMARK(decide_in_a_memory)->Unit(benchmark::kMillisecond)->Iterations(20);

}  // namespace
}  // namespace berth::warm
