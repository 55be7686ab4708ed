// The cost of reading a line, for traces of 1.2 million seconds or half a million requests.
#include "domain/trace/readers.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace berth {
namespace {

constexpr std::int64_t kLines = 1'200'000;

void rps_text(benchmark::State& state) {
  std::string text;
  for (std::int64_t line = 0; line < kLines; ++line) text += fmt::format("{}\n", line * 7919 % 389);
  for (auto _ : state) benchmark::DoNotOptimize(read_rps_text(text, "f"));
}
BENCHMARK(rps_text)->Unit(benchmark::kMillisecond);

void count_csv(benchmark::State& state) {
  std::string text = "second,requests\n";
  for (std::int64_t line = 0; line < kLines; ++line) text += fmt::format("{},{}\n", line, line * 7919 % 389);
  for (auto _ : state) benchmark::DoNotOptimize(read_count_csv(text, "f"));
}
BENCHMARK(count_csv)->Unit(benchmark::kMillisecond);

void azure_llm(benchmark::State& state) {
  std::string text = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  for (int line = 0; line < 500'000; ++line) {
    text +=
        fmt::format("2023-11-16 {:02}:{:02}:{:02}.6805900,374,44\n", line / 36'000, line / 600 % 60, line / 10 % 60);
  }
  for (auto _ : state) benchmark::DoNotOptimize(read_azure_llm(text, "f"));
}
BENCHMARK(azure_llm)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth
