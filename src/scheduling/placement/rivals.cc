#include "scheduling/placement/rivals.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/core/whole_division.h"

namespace berth::placement {
namespace {

// CPU and GPUs are added in units of a node of 128 cores and 8 GPUs.
constexpr std::int64_t kCpuUnit = 128'000;
constexpr std::int64_t kGpuUnit = std::int64_t{8} * kGpuMilli;
constexpr std::int64_t kCpuPerGpu = kCpuUnit / kGpuUnit;
constexpr std::int64_t kHundred = 100;

/// Free milli in hundredths of a GPU, summed over the GPUs that a pod takes which are partly used, or how many are not.
struct TakenGpus {
  int whole = 0;
  std::int64_t centi = 0;
};

TakenGpus tightest_gpus(const NodeState& state, const Shape& shape) {
  std::array<std::int16_t, kNodeGpusMax> suitable = {};
  std::size_t count = 0;
  for (const std::int16_t free : state.free_of) {
    if (free >= shape.gpu_milli && free > 0) suitable[count++] = free;
  }
  std::sort(suitable.begin(), suitable.begin() + static_cast<std::ptrdiff_t>(count));
  TakenGpus taken;
  for (int i = 0; i < shape.gpu_count; ++i) {
    const std::int16_t free = suitable[static_cast<std::size_t>(i)];
    taken.whole += free == kGpuMilli ? 1 : 0;
    taken.centi += free / 10;
  }
  return taken;
}

}  // namespace

NodeScore dot_product_score(const NodeState& state, const Shape& shape) {
  constexpr std::int64_t kMost = 2 * kCpuUnit * kCpuUnit;
  const std::int64_t product =
      state.cpu_free * shape.cpu_milli + kCpuPerGpu * kCpuPerGpu * state.gpu_free * shape.demand_milli();
  return floor_divide(kMost - product, kMost / kHundred);
}

NodeScore best_fit_score(const NodeState& state, const Shape& shape) {
  constexpr std::int64_t kMost = 2 * kCpuUnit;
  const std::int64_t rest = (state.cpu_free - shape.cpu_milli) + kCpuPerGpu * (state.gpu_free - shape.demand_milli());
  return floor_divide(kMost - rest, kMost / kHundred);
}

NodeScore packing_score(const NodeState& state, const Shape& shape) {
  constexpr int kEmptyNode = 33;
  constexpr int kUsedNode = 50;
  if (shape.gpu_count == 0) return 0;
  const int gpus = state.gpu_count;
  if (std::popcount(state.whole_free) == gpus) return std::max(kEmptyNode - gpus, gpus);
  const TakenGpus taken = tightest_gpus(state, shape);
  if (taken.whole > 0) return std::max(kUsedNode - taken.whole, kEmptyNode);
  return std::max<std::int64_t>(kHundred - taken.centi / 10, kUsedNode);
}

NodeScore clustering_score(const NodeState& state, const std::array<std::int32_t, kNodeGpusMax + 1>& pods_by_gpus,
                           const Shape& shape) {
  constexpr std::int64_t kBand = 25;
  if (shape.gpu_count == 0) return 0;
  const std::int64_t base = floor_divide(kBand * (kGpuUnit - state.gpu_free), kGpuUnit);
  const std::int32_t alike = pods_by_gpus[shape.is_shared() ? 0 : static_cast<std::size_t>(shape.gpu_count)];
  const std::int32_t all = std::accumulate(pods_by_gpus.begin(), pods_by_gpus.end(), 0);
  if (all == 0) return base + kBand;
  if (alike == 0) return base;
  return base + (alike == all ? 3 : 2) * kBand;
}

}  // namespace berth::placement
