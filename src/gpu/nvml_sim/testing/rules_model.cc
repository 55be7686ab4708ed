#include "gpu/nvml_sim/testing/rules_model.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/core/ensure.h"

namespace berth::nvml_sim::testing {
namespace {

constexpr std::uint32_t kProfileNumbers = 18;
constexpr std::uint32_t kComputeProfileNumbers = 9;

/// Kinds of compute instances: NVML's number, which is their id, and their slices.
struct ComputeKind {
  std::uint32_t number;
  int slices;
};
constexpr ComputeKind kComputeKinds[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 7}};

/// The kind of this number that an instance has. Listings: a 2g has 1 and 2 slices, a 3g 1, 2 and 3, a 4g 1, 2 and 4
/// (not 3), a 7g all.
std::optional<ComputeKind> find_kind(int slices, std::uint32_t number) {
  for (const ComputeKind& kind : kComputeKinds) {
    if (kind.number != number || kind.slices > slices) continue;
    if (kind.slices == 3 && slices == 4) continue;
    return kind;
  }
  return std::nullopt;
}

std::vector<Place> places_of(const ComputeKind& kind, int slices, bool is_ampere) {
  const int aligned = kind.slices <= 2 ? kind.slices : kind.slices <= 4 ? 4 : 8;
  std::vector<Place> places;
  for (int start = 0; start + kind.slices <= slices; start += is_ampere ? 1 : aligned) {
    places.emplace_back(start, is_ampere ? kind.slices : aligned);
  }
  return places;
}

bool is_within(int unit, int start, int length) { return start <= unit && unit < start + length; }

bool overlap(const Place& a, const Place& b) {
  constexpr int kUnitsMax = 16;
  for (int unit = 0; unit < kUnitsMax; ++unit) {
    if (is_within(unit, a.first, a.second) && is_within(unit, b.first, b.second)) return true;
  }
  return false;
}

}  // namespace

RulesModel::RulesModel(const KnownGpu& gpu, bool is_mig_on, bool is_before_r510)
    : gpu_(&gpu), is_before_r510_(is_before_r510), mode_{.is_on = is_mig_on, .is_pending_on = is_mig_on} {
  ENSURE(gpu.is_mig_capable() || !is_mig_on);
}

Told<ModelMode> RulesModel::mode() const {
  if (!gpu_->is_mig_capable()) return {.code = Code::kNotSupported};
  return {.value = mode_};
}

Told<Code> RulesModel::set_mode(bool is_on, bool may_change) {
  if (!gpu_->is_mig_capable()) return {.code = Code::kNotSupported};
  if (!may_change) return {.code = Code::kNoPermission};
  if (is_on != mode_.is_on && !instances_.empty()) return {.code = Code::kInUse};
  mode_.is_pending_on = is_on;
  if (is_on == mode_.is_on) return {.value = Code::kSuccess};
  if (!processes_.empty()) return {.value = Code::kInUse};
  if (gpu_->is_ampere) return {.value = Code::kResetRequired};
  mode_.is_on = is_on;
  return {.value = Code::kSuccess};
}

Told<std::uint32_t> RulesModel::profile_id(std::uint32_t number) const {
  if (number >= kProfileNumbers) return {.code = Code::kInvalidArgument};
  for (const KnownProfile& profile : gpu_->profiles) {
    if (profile.number == number) return {.value = profile.id};
  }
  return {.code = Code::kNotSupported};
}

Told<const KnownProfile*> RulesModel::find_profile(std::uint32_t id) const {
  if (!gpu_->is_mig_capable()) return {.code = Code::kNotSupported};
  for (const KnownProfile& profile : gpu_->profiles) {
    if (profile.id == id) return {.value = &profile};
  }
  return {.code = Code::kInvalidArgument};
}

Told<std::vector<Place>> RulesModel::placements(std::uint32_t id) const {
  const auto profile = find_profile(id);
  if (profile.code != Code::kSuccess) return {.code = profile.code};
  std::vector<Place> places;
  places.reserve(profile.value->starts.size());
  for (const int start : profile.value->starts) places.emplace_back(start, profile.value->length);
  return {.value = places};
}

Told<int> RulesModel::capacity(std::uint32_t id) const {
  const auto profile = find_profile(id);
  if (profile.code != Code::kSuccess) return {.code = profile.code};
  return {.value = most_of(*profile.value, 0)};
}

int RulesModel::most_of(const KnownProfile& profile, std::size_t from) const {
  int most = 0;
  for (std::size_t i = from; i < profile.starts.size(); ++i) {
    if (!fits(profile, profile.starts[i])) continue;
    most = std::max(most, 1 + with(profile, profile.starts[i]).most_of(profile, i + 1));
    const auto rest = std::span(profile.starts).subspan(i + 1);
    if (std::ranges::count_if(rest, [&](int start) { return fits(profile, start); }) <= most) break;
  }
  return most;
}

bool RulesModel::fits(const KnownProfile& profile, int start) const {
  int others = 0;
  for (const auto& [id, standing] : instances_) {
    if (overlap({start, profile.length}, {standing.start, standing.profile->length})) return false;
    if (standing.profile == &profile) ++others;
    if (is_before_r510_ && profile.slices + standing.profile->slices == 7 && profile.slices != 7) return false;
  }
  return others < profile.instances_max && has_engines_for(profile);
}

bool RulesModel::has_engines_for(const KnownProfile& profile) const {
  const KnownProfile* whole = &gpu_->profiles.front();
  for (const KnownProfile& other : gpu_->profiles) {
    if (other.slices == gpu_->slices) whole = &other;
  }
  const auto suffices = [&](std::optional<int> KnownEngines::* kind) {
    if (!(whole->engines.*kind)) return true;
    int sum = (profile.engines.*kind).value_or(0);
    for (const auto& [id, standing] : instances_) sum += (standing.profile->engines.*kind).value_or(0);
    return sum <= *(whole->engines.*kind);
  };
  return suffices(&KnownEngines::copy) && suffices(&KnownEngines::decoders) && suffices(&KnownEngines::encoders) &&
         suffices(&KnownEngines::jpeg) && suffices(&KnownEngines::optical_flow);
}

int RulesModel::possibilities() const {
  int count = 0;
  for (const KnownProfile& profile : gpu_->profiles) {
    for (const int start : profile.starts) count += fits(profile, start) ? 1 : 0;
  }
  return count;
}

/// The driver preserves as many placements as possible; ties: the lowest start. This reproduces the guide's listings.
std::optional<int> RulesModel::chosen_start(const KnownProfile& profile) const {
  std::optional<int> chosen;
  int left_max = -1;
  for (const int start : profile.starts) {
    if (!fits(profile, start)) continue;
    const int left = with(profile, start).possibilities();
    if (left <= left_max) continue;
    left_max = left;
    chosen = start;
  }
  return chosen;
}

RulesModel RulesModel::with(const KnownProfile& profile, int start) const {
  RulesModel fuller = *this;
  // The place in the tree of halves, counted row by row: 4g@0 1, 3g@4 2, 2g@0 3 and so on.
  fuller.instances_[gpu_->units / profile.length - 1 + start / profile.length] = {.profile = &profile, .start = start};
  return fuller;
}

Told<std::vector<int>> RulesModel::gpu_instances(std::uint32_t id) const {
  const auto profile = find_profile(id);
  if (profile.code != Code::kSuccess) return {.code = profile.code};
  std::vector<int> ids;
  for (const auto& [gpu_instance, standing] : instances_) {
    if (standing.profile == profile.value) ids.push_back(gpu_instance);
  }
  return {.value = ids};
}

Told<int> RulesModel::create_gpu_instance(std::uint32_t id, const std::optional<Place>& place, bool may_change) {
  const auto profile = find_profile(id);
  if (profile.code != Code::kSuccess) return {.code = profile.code};
  if (!mode_.is_on) return {.code = Code::kNotSupported};
  if (!may_change) return {.code = Code::kNoPermission};
  std::optional<int> start;
  if (place) {
    const std::vector<Place> legal = placements(id).value;
    if (std::ranges::find(legal, *place) == legal.end()) return {.code = Code::kInvalidArgument};
    if (fits(*profile.value, place->first)) start = place->first;
  } else {
    start = chosen_start(*profile.value);
  }
  if (!start) return {.code = Code::kInsufficientResources};
  const std::map<int, ModelGpuInstance> before = std::exchange(instances_, with(*profile.value, *start).instances_);
  const auto is_new = [&](const auto& entry) { return !before.contains(entry.first); };
  return {.value = std::ranges::find_if(instances_, is_new)->first};
}

Code RulesModel::destroy_gpu_instance(int gpu_instance, bool may_change) {
  if (!may_change) return Code::kNoPermission;
  const auto found = instances_.find(gpu_instance);
  if (found == instances_.end()) return Code::kNotFound;
  if (!found->second.compute.empty() || has_process_on(gpu_instance)) return Code::kInUse;
  instances_.erase(found);
  return Code::kSuccess;
}

bool RulesModel::has_process_on(int gpu_instance) const {
  return std::ranges::any_of(
      processes_, [&](const ModelProcess& process) { return process.device && process.device->first == gpu_instance; });
}

const ModelGpuInstance& RulesModel::instance(int gpu_instance) const {
  const auto found = instances_.find(gpu_instance);
  ENSURE(found != instances_.end());
  return found->second;
}

Told<std::uint32_t> RulesModel::compute_profile_id(int gpu_instance, std::uint32_t number) const {
  if (number >= kComputeProfileNumbers) return {.code = Code::kInvalidArgument};
  if (!find_kind(instance(gpu_instance).profile->slices, number)) return {.code = Code::kNotSupported};
  return {.value = number};
}

Told<std::vector<Place>> RulesModel::compute_placements(int gpu_instance, std::uint32_t id) const {
  const int slices = instance(gpu_instance).profile->slices;
  const std::optional<ComputeKind> kind = find_kind(slices, id);
  if (!kind) return {.code = Code::kInvalidArgument};
  return {.value = places_of(*kind, slices, gpu_->is_ampere)};
}

std::vector<Place> RulesModel::free_places(int gpu_instance, std::uint32_t id) const {
  std::vector<Place> places = compute_placements(gpu_instance, id).value;
  std::erase_if(places, [&](const Place& place) {
    return std::ranges::any_of(instance(gpu_instance).compute,
                               [&](const auto& taken) { return overlap(place, taken.second.place); });
  });
  return places;
}

/// All of one kind have equal length, so placing them from the lowest start on gives the maximum.
Told<int> RulesModel::compute_capacity(int gpu_instance, std::uint32_t id) const {
  const auto places = compute_placements(gpu_instance, id);
  if (places.code != Code::kSuccess) return {.code = places.code};
  std::vector<Place> taken;
  for (const Place& place : free_places(gpu_instance, id)) {
    if (taken.empty() || !overlap(taken.back(), place)) taken.push_back(place);
  }
  return {.value = static_cast<int>(taken.size())};
}

Told<std::vector<int>> RulesModel::compute_instances(int gpu_instance, std::uint32_t id) const {
  const auto places = compute_placements(gpu_instance, id);
  if (places.code != Code::kSuccess) return {.code = places.code};
  std::vector<int> ids;
  for (const auto& [compute_instance, standing] : instance(gpu_instance).compute) {
    if (standing.profile_id == id) ids.push_back(compute_instance);
  }
  return {.value = ids};
}

std::optional<Place> RulesModel::chosen_place(int gpu_instance, std::uint32_t id) const {
  std::optional<Place> chosen;
  int left_max = -1;
  for (const Place& candidate : free_places(gpu_instance, id)) {
    if (gpu_->is_ampere) return candidate;
    int left = 0;
    for (const ComputeKind& kind : kComputeKinds) {
      const std::vector<Place> free = free_places(gpu_instance, kind.number);
      left +=
          static_cast<int>(std::ranges::count_if(free, [&](const Place& place) { return !overlap(place, candidate); }));
    }
    if (left <= left_max) continue;
    left_max = left;
    chosen = candidate;
  }
  return chosen;
}

Told<int> RulesModel::create_compute_instance(int gpu_instance, std::uint32_t id, const std::optional<Place>& place,
                                              bool may_change) {
  const auto legal = compute_placements(gpu_instance, id);
  if (legal.code != Code::kSuccess) return {.code = legal.code};
  if (!may_change) return {.code = Code::kNoPermission};
  std::optional<Place> chosen;
  if (place) {
    if (std::ranges::find(legal.value, *place) == legal.value.end()) return {.code = Code::kInvalidArgument};
    const std::vector<Place> free = free_places(gpu_instance, id);
    if (std::ranges::find(free, *place) != free.end()) chosen = place;
  } else {
    chosen = chosen_place(gpu_instance, id);
  }
  if (!chosen) return {.code = Code::kInsufficientResources};
  ModelGpuInstance& standing = instances_.at(gpu_instance);
  int lowest = 0;
  while (standing.compute.contains(lowest)) ++lowest;
  const int slices = find_kind(standing.profile->slices, id)->slices;
  standing.compute.emplace(lowest, ModelComputeInstance{.profile_id = id, .slices = slices, .place = *chosen});
  return {.value = lowest};
}

Code RulesModel::destroy_compute_instance(int gpu_instance, int compute_instance, bool may_change) {
  if (!may_change) return Code::kNoPermission;
  std::map<int, ModelComputeInstance>& standing = instances_.at(gpu_instance).compute;
  if (!standing.contains(compute_instance)) return Code::kNotFound;
  for (const ModelProcess& process : processes_) {
    if (process.device == Device{gpu_instance, compute_instance}) return Code::kInUse;
  }
  standing.erase(compute_instance);
  return Code::kSuccess;
}

void RulesModel::add_process(const ModelProcess& process) {
  for (ModelProcess& standing : processes_) {
    if (standing.pid != process.pid || standing.device != process.device) continue;
    standing.memory_mib = process.memory_mib;
    return;
  }
  processes_.push_back(process);
}

bool RulesModel::remove_process(std::uint32_t pid) {
  return std::erase_if(processes_, [&](const ModelProcess& process) { return process.pid == pid; }) > 0;
}

std::vector<ModelProcess> RulesModel::processes() const {
  std::vector<ModelProcess> sorted = processes_;
  std::ranges::sort(sorted);
  return sorted;
}

void RulesModel::reset() {
  instances_.clear();
  processes_.clear();
  mode_.is_on = mode_.is_pending_on;
}

void RulesModel::reboot() {
  if (!gpu_->is_ampere) mode_.is_pending_on = false;
  reset();
}

std::vector<Device> RulesModel::devices() const {
  std::vector<Device> all;
  for (const auto& [gpu_instance, standing] : instances_) {
    for (const auto& [compute_instance, compute] : standing.compute) all.emplace_back(gpu_instance, compute_instance);
  }
  return all;
}

std::string RulesModel::to_string() const {
  std::string text = gpu_->model + (mode_.is_on ? ", MIG on:" : ", MIG off:");
  for (const auto& [id, standing] : instances_) {
    text += " " + standing.profile->name + "@" + std::to_string(standing.start) + " (" + std::to_string(id);
    for (const auto& [compute_instance, compute] : standing.compute) {
      text += ", CI " + std::to_string(compute_instance) + " " + std::to_string(compute.slices) + "c@" +
              std::to_string(compute.place.first);
    }
    text += ")";
  }
  return text;
}

}  // namespace berth::nvml_sim::testing
