#include "world/slices/slice_reports.h"

#include <algorithm>
#include <tuple>

namespace berth::world {
namespace {

GpuObserved observed_on(const SlicePlaces& places, GpuId gpu, std::uint64_t known_number) {
  GpuObserved observed{.gpu = gpu, .known_number = known_number, .slices = {}};
  const auto add = [&](const TrackedSlice& slice, bool is_pending) {
    observed.slices.push_back({.slice = slice.slice,
                               .generation = slice.created_as,
                               .is_foreign = slice.is_foreign,
                               .is_pending = is_pending,
                               .is_leaving = slice.is_unwanted});
  };
  for (const auto& [start, index] : places.existing(gpu)) {
    add(places.at(index), places.at(index).phase == SlicePhase::kCreating);
  }
  for (const SliceIndex index : places.waiting(gpu)) add(places.at(index), true);
  const auto place = [](const SeenSlice& seen) { return std::tie(seen.slice, seen.generation); };
  std::ranges::sort(observed.slices, {}, place);
  return observed;
}

}  // namespace

void SliceReports::add_ready(const TrackedSlice& slice, Instant now) {
  events_.push_back({.at = now, .what = SliceReady{.slice = slice.slice, .assignment = slice.assigned_as}});
}

void SliceReports::add_gone(const TrackedSlice& slice, Instant now) {
  events_.push_back({.at = now, .what = SliceGone{.slice = slice.slice, .generation = slice.created_as}});
}

void SliceReports::add_failed(const TrackedSlice& slice, ActionKind kind, std::string why, Instant now) {
  add_failed({.kind = kind,
              .slice = slice.slice,
              .generation = slice.created_as,
              .assignment = slice.assigned_as,
              .message = std::move(why)},
             now);
  want_observed(slice.slice.gpu);
}

void SliceReports::add_observed(const SlicePlaces& places, const std::vector<std::uint64_t>& known_numbers,
                                Instant now) {
  if (to_observe_.empty()) return;
  std::vector<GpuId> gpus = std::exchange(to_observe_, {});
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  for (const GpuId gpu : gpus) {
    events_.push_back({.at = now, .what = observed_on(places, gpu, known_numbers[gpu.index])});
  }
}

}  // namespace berth::world
