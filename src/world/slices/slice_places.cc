#include "world/slices/slice_places.h"

#include <algorithm>
#include <utility>

#include "domain/mig/geometry.h"

namespace berth::world {

SlicePlaces::SlicePlaces(const Scenario& scenario)
    : scenario_(scenario), existing_(scenario.gpu_count()), waiting_(scenario.gpu_count()) {}

// ---- indices

SliceIndex SlicePlaces::add_again(const Slice& slice, std::uint64_t sequence) {
  sequence_ = std::max(sequence_, sequence + 1);
  return add_as(slice, sequence);
}

SliceIndex SlicePlaces::add_as(const Slice& added, std::uint64_t sequence) {
  SliceIndex index{static_cast<std::uint32_t>(slices_.size())};
  if (free_.empty()) {
    slices_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  TrackedSlice& slice = at(index);
  const std::uint64_t generation = slice.generation;
  slice = TrackedSlice();
  slice.slice = added;
  slice.holding.slice = added;
  slice.sequence = sequence;
  slice.generation = generation;
  slice.sms = profile_sms(scenario_.model_of(added.gpu), added.profile);
  return index;
}

void SlicePlaces::release(SliceIndex index) {
  TrackedSlice& slice = at(index);
  slice.phase = SlicePhase::kGone;
  ++slice.generation;
  free_.push_back(index);
}

// ---- places

std::optional<SliceIndex> SlicePlaces::find_existing(const Slice& slice) const {
  const auto it = existing(slice.gpu).find(slice.start);
  if (it == existing(slice.gpu).end() || at(it->second).slice != slice) return std::nullopt;
  return it->second;
}

std::optional<SliceIndex> SlicePlaces::find(const Slice& slice) const {
  for (const SliceIndex index : waiting(slice.gpu)) {
    if (at(index).slice == slice) return index;
  }
  return find_existing(slice);
}

bool SlicePlaces::has_room(const Slice& slice) const {
  if (slice.profile.is_full()) return existing(slice.gpu).empty();
  mig::State state{{.start = slice.start, .profile = slice.profile}};
  for (const auto& [start, index] : existing(slice.gpu)) {
    const Slice& other = at(index).slice;
    if (other.profile.is_full()) return false;
    state.push_back({.start = other.start, .profile = other.profile});
  }
  std::sort(state.begin(), state.end());
  return !mig::find_clash(scenario_.model_of(slice.gpu), state).has_value();
}

bool SlicePlaces::clashes_with_staying(const Slice& slice) const {
  return std::ranges::any_of(existing(slice.gpu), [&](const auto& entry) {
    const TrackedSlice& other = at(entry.second);
    if (other.is_unwanted) return false;
    if (slice.profile.is_full() || other.slice.profile.is_full()) return true;
    mig::State both{{.start = slice.start, .profile = slice.profile},
                    {.start = other.slice.start, .profile = other.slice.profile}};
    std::sort(both.begin(), both.end());
    return mig::find_clash(scenario_.model_of(slice.gpu), both).has_value();
  });
}

void SlicePlaces::place(SliceIndex index) {
  const Slice& slice = at(index).slice;
  existing_[slice.gpu.index].emplace(slice.start, index);
}

void SlicePlaces::remove(SliceIndex index) {
  const Slice& slice = at(index).slice;
  existing_[slice.gpu.index].erase(slice.start);
  roomier_gpus_.push_back(slice.gpu);
}

void SlicePlaces::wait(SliceIndex index) {
  const GpuId gpu = at(index).slice.gpu;
  waiting_[gpu.index].push_back(index);
  roomier_gpus_.push_back(gpu);
}

void SlicePlaces::stop_waiting(SliceIndex index) { std::erase(waiting_[at(index).slice.gpu.index], index); }

SlicePlaces::Cleared SlicePlaces::clear(GpuId gpu) {
  return {.waiting = std::exchange(waiting_[gpu.index], {}), .existing = std::exchange(existing_[gpu.index], {})};
}

std::vector<SliceIndex> SlicePlaces::take_candidates() {
  std::vector<GpuId> gpus = std::exchange(roomier_gpus_, {});
  std::sort(gpus.begin(), gpus.end());
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  std::vector<SliceIndex> candidates;
  for (const GpuId gpu : gpus) {
    candidates.insert(candidates.end(), waiting_[gpu.index].begin(), waiting_[gpu.index].end());
  }
  std::sort(candidates.begin(), candidates.end(),
            [this](SliceIndex a, SliceIndex b) { return at(a).sequence < at(b).sequence; });
  return candidates;
}

}  // namespace berth::world
