// Rows of 1 KiB appended per second, in batches of 1, 50 and 256, each synced; and the rival: 4 KiB written in place
// and synced, which is the limit of the device. In the folder of the environment's TMPDIR, else /tmp.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "edges/sqlite_store/sqlite_store.h"
#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

constexpr std::size_t kRowBytes = 1024;

void append(benchmark::State& state) {
  const testing::Scratch scratch;
  auto opened = open_sqlite_store(scratch.database());
  const auto writer = opened->store->open_writer(1).value();
  JournalBatch batch;
  for (std::int64_t row = 0; row < state.range(0); ++row) {
    batch.entries.push_back({Instant(row), row, "ArrivalsObserved", 1, std::string(kRowBytes, 'x')});
  }
  for (auto _ : state) {
    if (!writer->append(batch)) state.SkipWithError("refused");
  }
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * state.range(0)), benchmark::Counter::kIsRate);
  state.counters["commits/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void sync(benchmark::State& state) {
  const testing::Scratch scratch;
  const int file = ::open(scratch.database().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string block(4096, 'x');
  for (auto _ : state) {
    if (::pwrite(file, block.data(), block.size(), 0) < 0 || ::fdatasync(file) != 0) state.SkipWithError("refused");
  }
  ::close(file);
  state.counters["syncs/s"] = benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

/// The cost of rows without a device: how fast they are read back and checked.
void read(benchmark::State& state) {
  const testing::Scratch scratch;
  auto opened = open_sqlite_store(scratch.database());
  const auto writer = opened->store->open_writer(1).value();
  JournalBatch batch;
  for (std::int64_t row = 0; row < 256; ++row) {
    batch.entries.push_back({Instant(row), row, "ArrivalsObserved", 1, std::string(kRowBytes, 'x')});
  }
  for (int count = 0; count < 8; ++count) {
    if (!writer->append(batch)) state.SkipWithError("refused");
  }
  const auto reader = opened->store->open_reader().value();
  std::uint64_t from = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader->read(from, 256));
    from = (from + 256) % 2048;
  }
  state.counters["rows/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * 256), benchmark::Counter::kIsRate);
}

BENCHMARK(append)->Arg(1)->Arg(50)->Arg(256)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(sync)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(read)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::edges
