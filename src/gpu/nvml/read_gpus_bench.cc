// The time to read all GPUs of a machine, each with seven slices. scripts/bench local runs it on a simulated machine.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "domain/ports/gpu_changer.h"
#include "domain/ports/gpu_library.h"
#include "gpu/nvml/open_gpu_changer.h"

namespace berth::edges {
namespace {

constexpr std::uint32_t kSmallest = 19;  // the profile id of an A100's 1g
constexpr int kSlices = 7;

/// The machine's GPUs, each partitioned into as many slices as possible.
struct Machine {
  ChangeableGpus gpus;
  std::vector<std::string> uuids;
};

bool fill(const Machine& machine, const std::string& uuid) {
  for (int start = 0; start < kSlices; ++start) {
    const auto instance = machine.gpus.changer->create_gpu_instance(uuid, kSmallest, start, 1);
    if (!instance || !machine.gpus.changer->create_compute_instance(uuid, *instance)) return false;
  }
  return true;
}

/// Opened and filled once for all benchmarks; null: there are no such GPUs, or they cannot be changed.
const Machine* machine() {
  static const std::unique_ptr<const Machine> opened = []() -> std::unique_ptr<const Machine> {
    auto gpus = open_gpu_changer(std::nullopt);
    if (!gpus) return nullptr;
    auto found = std::make_unique<Machine>(Machine{.gpus = std::move(*gpus), .uuids = {}});
    const auto listed = found->gpus.library->list();
    if (!listed) return nullptr;
    for (const GpuLibrary::Listed& gpu : *listed) {
      if (!fill(*found, gpu.uuid)) return nullptr;
      found->uuids.push_back(gpu.uuid);
    }
    return found;
  }();
  return opened.get();
}

bool is_read(const std::string& uuid) {
  const auto reading = machine()->gpus.library->read(uuid);
  return reading && reading->instances.size() == kSlices;
}

bool is_there(benchmark::State& state) {
  if (machine() != nullptr) return true;
  state.SkipWithError("wanted A100s in MIG mode without instances, and root: run it below berth-nvml-sim run");
  return false;
}

void note(benchmark::State& state) {
  state.counters["gpus"] = static_cast<double>(machine()->uuids.size());
  state.counters["slices"] = static_cast<double>(machine()->uuids.size() * kSlices);
}

/// One GPU after the other.
void read_all(benchmark::State& state) {
  if (!is_there(state)) return;
  for (auto _ : state) {
    for (const std::string& uuid : machine()->uuids) {
      if (!is_read(uuid)) state.SkipWithError("a GPU cannot be read, or has not seven slices");
    }
  }
  note(state);
}
BENCHMARK(read_all)->Unit(benchmark::kMillisecond)->UseRealTime();

/// As `berth up` reads them: one thread per GPU. Starting the threads is part of the time.
void read_all_at_once(benchmark::State& state) {
  if (!is_there(state)) return;
  const std::vector<std::string>& uuids = machine()->uuids;
  for (auto _ : state) {
    std::vector<char> read(uuids.size(), 0);
    {
      std::vector<std::jthread> threads;
      threads.reserve(uuids.size());
      for (std::size_t index = 0; index < uuids.size(); ++index) {
        threads.emplace_back([&read, &uuids, index] { read[index] = is_read(uuids[index]) ? 1 : 0; });
      }
    }
    if (std::ranges::find(read, 0) != read.end()) state.SkipWithError("a GPU cannot be read, or has not seven slices");
  }
  note(state);
}
BENCHMARK(read_all_at_once)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace berth::edges
