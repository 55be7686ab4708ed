// Simulated requests per second of real time on one core, by load, drops, services and dispatch. The reference draws
// the same arrivals and does nothing with them.
#include <benchmark/benchmark.h>

#include "domain/trace/arrival_stream.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::generated;
using testing::holding_of;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

constexpr std::int64_t kSeconds = 200;

/// `services` services, each with a 1g slice of two processes that serves 3,200 requests per second in batches of 16,
/// and 2 x 125 = 250 in batches of 1; `percent`: the load.
Scenario loaded(std::int64_t services, std::int64_t percent) {
  const std::vector<testing::Row> rows = {{.batch = 1, .processes = 2, .latency_ms = 4},
                                          {.batch = 16, .processes = 2, .latency_ms = 10}};
  std::vector<ServiceSpec> specs;
  std::vector<Holding> layout;
  for (std::int64_t i = 0; i < services; ++i) {
    const Decimal rate(32 * percent);
    specs.push_back(service_of("s" + std::to_string(i), rows, generated(Generator::Kind::kPoisson, rate, kSeconds)));
    layout.push_back(holding_of(slice_at(0, "1g.10gb", static_cast<int>(i)), {static_cast<std::uint32_t>(i)}));
  }
  return scenario_of(std::move(specs), std::move(layout));
}

void replay(benchmark::State& state, const Scenario& scenario, Dispatch dispatch = Dispatch::kPull) {
  std::int64_t requests = 0;
  for (auto _ : state) {
    sim::RunOptions options;
    options.loop.world.dispatch = dispatch;
    const auto outcome = sim::run_scenario(scenario, testing::fixed_stages(scenario), options);
    for (const sim::ServiceMeter& meter : outcome->world->meters()) requests += meter.totals().requests;
  }
  state.SetItemsProcessed(requests);
}

void draw_only(benchmark::State& state) {
  const Scenario scenario = loaded(1, 50);
  std::int64_t requests = 0;
  for (auto _ : state) {
    const ArrivalStream stream(scenario.services[0].arrivals, Rng(1));
    std::vector<std::uint32_t> offsets;
    for (std::int64_t second = 0; second < kSeconds; ++second) {
      stream.offsets(second, offsets);
      benchmark::DoNotOptimize(offsets.data());
      requests += static_cast<std::int64_t>(offsets.size());
    }
  }
  state.SetItemsProcessed(requests);
}
BENCHMARK(draw_only);

void low_load_batches_of_one(benchmark::State& state) { replay(state, loaded(1, 3)); }
BENCHMARK(low_load_batches_of_one);

void half_load(benchmark::State& state) { replay(state, loaded(1, 50)); }
BENCHMARK(half_load);

void high_load(benchmark::State& state) { replay(state, loaded(1, 95)); }
BENCHMARK(high_load);

void overload_with_early_drop(benchmark::State& state) { replay(state, loaded(1, 150)); }
BENCHMARK(overload_with_early_drop);

void four_services_low_load(benchmark::State& state) { replay(state, loaded(4, 3)); }
BENCHMARK(four_services_low_load);

void four_services_half_load(benchmark::State& state) { replay(state, loaded(4, 50)); }
BENCHMARK(four_services_half_load);

void four_services_high_load(benchmark::State& state) { replay(state, loaded(4, 95)); }
BENCHMARK(four_services_high_load);

void pushed_half_load(benchmark::State& state) { replay(state, loaded(1, 50), Dispatch::kPush); }
BENCHMARK(pushed_half_load);

void by_rates(benchmark::State& state) {
  Scenario scenario = loaded(4, 95);
  scenario.fidelity = Fidelity::kRates;
  replay(state, scenario);
}
BENCHMARK(by_rates);

}  // namespace
}  // namespace berth::study
