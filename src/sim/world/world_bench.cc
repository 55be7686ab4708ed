// Simulated seconds per second of real time in a large fleet whose partitions change, by GPUs, services and GPUs that
// change per second. The reference is the same fleet without changes.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "sim/world/testing/scenarios.h"
#include "sim/world/world.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;
using testing::slice_at;

constexpr std::int64_t kSeconds = 20;
constexpr int kSlicesPerGpu = 7;

struct Size {
  std::uint32_t gpus = 0;
  std::uint32_t services = 0;
  std::uint32_t changing_per_second = 0;
};

/// The service that holds a slice; each GPU has several, and each service is on many GPUs.
std::uint32_t holder_of(const Size& size, std::uint32_t gpu, int start) {
  return (gpu * kSlicesPerGpu + static_cast<std::uint32_t>(start)) % size.services;
}

Scenario fleet_of(const Size& size, const Decimal& per_second) {
  const std::vector<testing::Row> rows = {{.batch = 1, .processes = 1, .latency_ms = 4},
                                          {.batch = 16, .processes = 1, .latency_ms = 10}};
  std::vector<ServiceSpec> services;
  for (std::uint32_t i = 0; i < size.services; ++i) {
    services.push_back(testing::service_of("s" + std::to_string(i), rows,
                                           testing::generated(Generator::Kind::kConstant, per_second, kSeconds)));
    Retraining retraining;
    retraining.every = Micros::seconds(7);
    services.back().retraining = retraining;
  }
  return testing::scenario_of(std::move(services), {}, size.gpus);
}

Plan first_layout(const Size& size) {
  Plan plan;
  for (std::uint32_t gpu = 0; gpu < size.gpus; ++gpu) {
    for (int start = 0; start < kSlicesPerGpu; ++start) {
      const Slice slice = slice_at(gpu, "1g.10gb", start);
      plan.actions.push_back(create(slice));
      plan.actions.push_back(assign(holding_of(slice, {holder_of(size, gpu, start)})));
    }
  }
  return plan;
}

/// Destroys and recreates one slice of the GPU that is due at the `turn`th change.
Plan change_of(const Size& size, std::int64_t turn) {
  const auto gpu = static_cast<std::uint32_t>(turn % size.gpus);
  const Slice slice = slice_at(gpu, "1g.10gb", 3);
  Plan plan;
  plan.actions.push_back(destroy(slice));
  plan.actions.push_back(create(slice));
  plan.actions.push_back(assign(holding_of(slice, {holder_of(size, gpu, 3)})));
  return plan;
}

void run_to(World& world, Instant until) {
  while (world.advance(until) != until) benchmark::DoNotOptimize(world.take_events());
  benchmark::DoNotOptimize(world.take_events());
}

/// One second, whose changes begin one by one at equal intervals.
void run_second(World& world, const Size& size, std::int64_t second) {
  const std::int64_t count = size.changing_per_second;
  for (std::int64_t i = 0; i < count; ++i) {
    const Instant at = Instant::at_second(second) + Micros((2 * i + 1) * kMicrosPerSecond / (2 * count));
    run_to(world, at);
    world.act(change_of(size, second * count + i), at, false);
  }
  run_to(world, Instant::at_second(second + 1));
}

/// `per_second`: requests of each service.
void simulate(benchmark::State& state, const Decimal& per_second, bool is_by_rates) {
  const Size size{.gpus = static_cast<std::uint32_t>(state.range(0)),
                  .services = static_cast<std::uint32_t>(state.range(1)),
                  .changing_per_second = static_cast<std::uint32_t>(state.range(2))};
  Scenario scenario = fleet_of(size, per_second);
  if (is_by_rates) scenario.fidelity = Fidelity::kRates;
  const Plan layout = first_layout(size);
  for (auto _ : state) {
    state.PauseTiming();
    WorldOptions options;
    options.is_rough = is_by_rates;
    World world(scenario, 1, options, {});
    world.act(layout, Instant(), true);
    state.ResumeTiming();
    for (std::int64_t second = 0; second < kSeconds; ++second) run_second(world, size, second);
    world.finish();
  }
  state.SetItemsProcessed(state.iterations() * kSeconds);
}

void changes_alone(benchmark::State& state) { simulate(state, Decimal(0), false); }
BENCHMARK(changes_alone)
    ->ArgNames({"gpus", "services", "changing"})
    ->Args({1000, 100, 0})
    ->Args({1000, 100, 10})
    ->Args({1000, 100, 100})
    ->Args({10'000, 1000, 0})
    ->Args({10'000, 1000, 100})
    ->Unit(benchmark::kMillisecond);

void by_requests(benchmark::State& state) { simulate(state, Decimal(100), false); }
BENCHMARK(by_requests)
    ->ArgNames({"gpus", "services", "changing"})
    ->Args({1000, 100, 0})
    ->Args({1000, 100, 10})
    ->Unit(benchmark::kMillisecond);

void by_rates(benchmark::State& state) { simulate(state, Decimal(10'000), true); }
BENCHMARK(by_rates)
    ->ArgNames({"gpus", "services", "changing"})
    ->Args({1000, 100, 0})
    ->Args({1000, 100, 10})
    ->Args({10'000, 1000, 100})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::sim
