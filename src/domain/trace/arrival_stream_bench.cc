// The cost of drawing a request, compared with drawing and std::sort, and of counting a second.
#include "domain/trace/arrival_stream.h"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace berth {
namespace {

constexpr std::int64_t kSeconds = 10'000;

Arrivals recorded(std::uint32_t count) {
  return {.source = CountTrace{std::vector<std::uint32_t>(kSeconds, count)}, .seconds = kSeconds};
}

Arrivals generated(Generator::Kind kind, std::int64_t rate) {
  return {.source = Generator{.kind = kind, .requests_per_second = Decimal(rate)}, .seconds = kSeconds};
}

void draw_offsets(benchmark::State& state, const Arrivals& arrivals) {
  const ArrivalStream stream(arrivals, Rng(1));
  std::vector<std::uint32_t> offsets;
  std::int64_t second = 0;
  std::int64_t request_count = 0;
  for (auto _ : state) {
    stream.offsets(second, offsets);
    benchmark::DoNotOptimize(offsets.data());
    request_count += std::ssize(offsets);
    second = (second + 1) % kSeconds;
  }
  state.SetItemsProcessed(request_count);
}

/// The rival: the same draws, sorted by std::sort.
void offsets_by_std_sort(benchmark::State& state) {
  std::vector<std::uint32_t> offsets(static_cast<std::size_t>(state.range(0)));
  Rng rng(1);
  std::int64_t request_count = 0;
  for (auto _ : state) {
    for (std::uint32_t& offset : offsets) offset = static_cast<std::uint32_t>(rng.below(1'000'000));
    std::sort(offsets.begin(), offsets.end());
    benchmark::DoNotOptimize(offsets.data());
    request_count += std::ssize(offsets);
  }
  state.SetItemsProcessed(request_count);
}
BENCHMARK(offsets_by_std_sort)->Arg(8)->Arg(64)->Arg(1'000)->Arg(100'000);

void offsets_of_counts(benchmark::State& state) {
  draw_offsets(state, recorded(static_cast<std::uint32_t>(state.range(0))));
}
BENCHMARK(offsets_of_counts)->Arg(8)->Arg(64)->Arg(1'000)->Arg(100'000);

void offsets_of_constant(benchmark::State& state) {
  draw_offsets(state, generated(Generator::Kind::kConstant, state.range(0)));
}
BENCHMARK(offsets_of_constant)->Arg(64)->Arg(1'000);

void offsets_of_bursty(benchmark::State& state) {
  draw_offsets(state, generated(Generator::Kind::kBursty, state.range(0)));
}
BENCHMARK(offsets_of_bursty)->Arg(64)->Arg(1'000);

void count_seconds(benchmark::State& state, const Arrivals& arrivals) {
  const ArrivalStream stream(arrivals, Rng(1));
  std::int64_t second = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(stream.count(second));
    second = (second + 1) % kSeconds;
  }
}

void count_of_recorded(benchmark::State& state) { count_seconds(state, recorded(64)); }
BENCHMARK(count_of_recorded);

void count_of_scaled(benchmark::State& state) {
  Arrivals arrivals = recorded(64);
  arrivals.scale = Decimal(3, 2);
  count_seconds(state, arrivals);
}
BENCHMARK(count_of_scaled);

void count_of_constant(benchmark::State& state) { count_seconds(state, generated(Generator::Kind::kConstant, 64)); }
BENCHMARK(count_of_constant);

void count_of_poisson(benchmark::State& state) { count_seconds(state, generated(Generator::Kind::kPoisson, 64)); }
BENCHMARK(count_of_poisson);

void count_of_bursty(benchmark::State& state) { count_seconds(state, generated(Generator::Kind::kBursty, 64)); }
BENCHMARK(count_of_bursty);

void count_of_diurnal(benchmark::State& state) { count_seconds(state, generated(Generator::Kind::kDiurnal, 64)); }
BENCHMARK(count_of_diurnal);

}  // namespace
}  // namespace berth
