#include "gpu/nvml_sim_library/event_sets.h"

#include <algorithm>

namespace berth::edges {

std::optional<std::uint64_t> EventSets::create() {
  const std::lock_guard lock(mutex_);
  if (sets_.size() >= kSetsMax) return std::nullopt;
  sets_.emplace(++made_, Set{});
  return made_;
}

bool EventSets::free(std::uint64_t set) {
  const std::lock_guard lock(mutex_);
  return sets_.erase(set) == 1;
}

bool EventSets::add(std::uint64_t set, std::uint32_t gpu, std::uint64_t types, const nvml_sim::MachineRecord& machine) {
  const std::lock_guard lock(mutex_);
  const auto found = sets_.find(set);
  if (found == sets_.end()) return false;
  Set& wanted = found->second;
  const bool is_first = std::ranges::all_of(wanted.types, [](std::uint64_t bits) { return bits == 0; });
  if (is_first) wanted.position = machine.events.posted;
  if (wanted.types[gpu] == 0) wanted.from[gpu] = machine.events.posted;
  wanted.types[gpu] |= types;
  return true;
}

std::uint64_t EventSets::gpus_of(std::uint64_t set) {
  const std::lock_guard lock(mutex_);
  const auto found = sets_.find(set);
  std::uint64_t gpus = 0;
  if (found == sets_.end()) return gpus;
  for (std::size_t gpu = 0; gpu < nvml_sim::kGpusMax; ++gpu) {
    if (found->second.types[gpu] != 0) gpus |= std::uint64_t{1} << gpu;
  }
  return gpus;
}

EventSets::Next EventSets::take(std::uint64_t set, const nvml_sim::MachineRecord& machine) {
  const std::lock_guard lock(mutex_);
  const auto found = sets_.find(set);
  if (found == sets_.end()) return {Found::kNoSet, {}};
  Set& wanted = found->second;
  const auto is_wanted = [&](const nvml_sim::EventRecord& event, std::uint64_t position) {
    return event.gpu < nvml_sim::kGpusMax && (wanted.types[event.gpu] & event.type) != 0 &&
           position >= wanted.from[event.gpu];
  };
  const auto next = nvml_sim::next_event(machine.events, wanted.position, is_wanted);
  wanted.position = next.position;
  if (!next.event) return {Found::kNothing, {}};
  return {Found::kEvent, *next.event};
}

void EventSets::clear() {
  const std::lock_guard lock(mutex_);
  sets_.clear();
}

}  // namespace berth::edges
