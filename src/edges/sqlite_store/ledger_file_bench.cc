// A ledger of lines of 190 bytes: batches of 10,000 appended, each synced; all texts read back; single lines. The
// bounds: the same bytes written and synced, and their SHA-256. In the folder of the environment's TMPDIR, else /tmp;
// one in memory shows the cost without the device.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/core/rng.h"
#include "edges/sqlite_store/ledger_file.h"
#include "edges/sqlite_store/test_scratch.h"
#include "live/chain/field_hash.h"

namespace berth::edges {
namespace {

constexpr std::size_t kLineBytes = 190;
constexpr std::uint64_t kLinesPerBatch = 10'000;
constexpr std::uint64_t kBatches = 50;

std::string ten_thousand_lines() {
  std::string text;
  for (std::uint64_t line = 0; line < kLinesPerBatch; ++line) text += std::string(kLineBytes - 1, 'x') + '\n';
  return text;
}

void append_batches(LedgerFile& file, std::uint64_t count, benchmark::State& state) {
  const std::string text = ten_thousand_lines();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!file.append({.text = text, .lines = kLinesPerBatch, .run = 1})) state.SkipWithError("refused");
  }
}

void count_bytes(benchmark::State& state, std::uint64_t bytes_per_iteration) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes_per_iteration) * state.iterations());
}

void append(benchmark::State& state) {
  const testing::Scratch scratch;
  const auto file = LedgerFile::open(scratch.database()).value();
  for (auto _ : state) append_batches(*file, 1, state);
  count_bytes(state, kLinesPerBatch * kLineBytes);
}

void write_and_sync(benchmark::State& state) {
  const testing::Scratch scratch;
  const int file = ::open(scratch.database().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string text = ten_thousand_lines();
  if (file < 0) return state.SkipWithError("cannot make it");
  off_t at = 0;
  for (auto _ : state) {
    if (::pwrite(file, text.data(), text.size(), at) < 0 || ::fdatasync(file) != 0) state.SkipWithError("refused");
    at += static_cast<off_t>(text.size());
  }
  ::close(file);
  count_bytes(state, text.size());
}

void hash(benchmark::State& state) {
  const std::string text = ten_thousand_lines();
  for (auto _ : state) benchmark::DoNotOptimize(chain::sha256(text));
  count_bytes(state, text.size());
}

template <class Read>
void read(benchmark::State& state, Read read_once) {
  const testing::Scratch scratch;
  const auto file = LedgerFile::open(scratch.database()).value();
  append_batches(*file, kBatches, state);
  for (auto _ : state) {
    if (!read_once(*file)) state.SkipWithError("refused");
  }
}

void for_each_text(benchmark::State& state) {
  read(state, [](LedgerFile& file) {
    return file.for_each_text([](std::string_view text) { return text.back() == '\n'; }).has_value();
  });
  count_bytes(state, kBatches * kLinesPerBatch * kLineBytes);
}

void verify(benchmark::State& state) {
  read(state, [](LedgerFile& file) { return file.verify().has_value(); });
  count_bytes(state, kBatches * kLinesPerBatch * kLineBytes);
}

void sources(benchmark::State& state) {
  read(state, [](LedgerFile& file) { return file.sources().has_value(); });
}

void line_anywhere(benchmark::State& state) {
  read(state, [rng = Rng(1)](LedgerFile& file) mutable {
    return file.line_at(kLineBytes * rng.below(kBatches * kLinesPerBatch)).has_value();
  });
}

void line_behind(benchmark::State& state) {
  read(state, [line = std::uint64_t{0}](LedgerFile& file) mutable {
    return file.line_at(kLineBytes * (line++ % (kBatches * kLinesPerBatch))).has_value();
  });
}

BENCHMARK(append)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(write_and_sync)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(hash)->Unit(benchmark::kMillisecond);
BENCHMARK(for_each_text)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(verify)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sources)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(line_anywhere)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(line_behind)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::edges
