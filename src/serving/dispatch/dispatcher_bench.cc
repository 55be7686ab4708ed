// The cost of an arrival at a device with many models: `arrive` and `decide`, and the calls until its batch has ended.
#include <benchmark/benchmark.h>

#include <vector>

#include "base/core/rng.h"
#include "serving/dispatch/dispatcher.h"

namespace berth::serving {
namespace {

Dispatcher loaded_dispatcher(int models) {
  std::vector<Micros> times;
  for (int rows = 1; rows <= 64; ++rows) times.emplace_back(1000 + 100 * rows);
  Dispatcher dispatcher({}, {{"default", 1}}, {.policy = {}, .memory = models, .lanes = 4});
  for (int model = 0; model < models; ++model) {
    (void)dispatcher.add_model({.name = "m", .bytes = 1, .load = Micros(1000), .latency = LatencyTable(times)});
  }
  dispatcher.place_initially();
  return dispatcher;
}

/// When the first running batch ends.
Instant first_end(const Dispatcher& dispatcher) {
  Instant first = Instant::never();
  for (const auto& batch : dispatcher.device().lanes()) {
    if (batch) first = std::min(first, batch->end);
  }
  return first;
}

/// Everything until the device is idle again.
void finish(Dispatcher& dispatcher) {
  while (true) {
    const Instant now = std::min(dispatcher.wake_at(), first_end(dispatcher));
    if (now == Instant::never()) return;
    for (const LaneIndex lane : Indices<LaneIndex>(dispatcher.device().lanes().size())) {
      const auto& batch = dispatcher.device().lanes()[static_cast<std::size_t>(lane)];
      if (batch && batch->end <= now) dispatcher.end_batch(lane, now);
    }
    dispatcher.decide(now);
    benchmark::DoNotOptimize(dispatcher.take_orders());
  }
}

/// Each request comes to an idle device. With `until_end` the decisions until its batch has ended count, too.
void bench_arrival(benchmark::State& state, bool until_end) {
  Dispatcher dispatcher = loaded_dispatcher(static_cast<int>(state.range(0)));
  Rng rng(1);
  std::int64_t number = 0;
  for (auto _ : state) {
    const Instant now(number * 100'000);
    const ModelIndex model(rng.below(static_cast<std::uint64_t>(state.range(0))));
    dispatcher.arrive({.number = number, .model = model, .arrival = now, .target = Micros(50'000)}, now);
    dispatcher.decide(now);
    ++number;
    if (!until_end) state.PauseTiming();
    finish(dispatcher);
    if (!until_end) state.ResumeTiming();
  }
}

/// A request comes while so many wait and all lanes are busy; then a batch ends and the next begins. With `mixed` they
/// have different priorities and rows.
void bench_long_queue(benchmark::State& state, bool mixed) {
  Dispatcher dispatcher = loaded_dispatcher(1);
  std::int64_t number = 0;
  const auto arrive = [&](Instant now) {
    Request request{.number = number, .arrival = now, .target = Micros::seconds(1000)};
    if (mixed) request.priority = 1 + number % 3;
    if (mixed) request.rows = static_cast<RowCount>(1 + number % 2);
    dispatcher.arrive(request, now);
    ++number;
  };
  for (int waiting = 0; waiting < state.range(0); ++waiting) arrive(Instant(0));
  dispatcher.decide(Instant(0));
  std::int64_t refill = 0;
  Instant now(0);
  for (auto _ : state) {
    now = std::max(now, std::min(dispatcher.wake_at(), first_end(dispatcher)));
    for (const LaneIndex lane : Indices<LaneIndex>(dispatcher.device().lanes().size())) {
      const auto& batch = dispatcher.device().lanes()[static_cast<std::size_t>(lane)];
      if (batch && batch->end <= now) refill += std::ssize(dispatcher.end_batch(lane, now).requests);
    }
    for (; refill > 0; --refill) arrive(now);
    dispatcher.decide(now);
    benchmark::DoNotOptimize(dispatcher.take_orders());
  }
  state.counters["per_request"] = benchmark::Counter(static_cast<double>(number - state.range(0)),
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(bench_long_queue, alike, false)->Arg(100)->Arg(1000)->Arg(10'000);
BENCHMARK_CAPTURE(bench_long_queue, mixed, true)->Arg(100)->Arg(1000)->Arg(10'000);
BENCHMARK_CAPTURE(bench_arrival, arrive_and_decide, false)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK_CAPTURE(bench_arrival, until_its_batch_ended, true)->Arg(1)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace berth::serving
