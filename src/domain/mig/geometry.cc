#include "domain/mig/geometry.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/core/ensure.h"
#include "domain/mig/detail/occupancy.h"
#include "domain/values/gpu.h"

namespace berth::mig {
namespace {

std::string name_of(const GpuModel& model, const Placement& placement) {
  return profile_name(model, placement.profile) + "@" + std::to_string(placement.start);
}

/// "3g.40gb@4 (units 4 to 7)".
std::string name_with_units(const GpuModel& model, const Placement& placement) {
  if (placement.profile.is_full()) return name_of(model, placement) + " (the whole GPU)";
  const int length = model.profiles[placement.profile.index].length;
  const std::string first = std::to_string(placement.start);
  if (length == 1) return name_of(model, placement) + " (unit " + first + ")";
  return name_of(model, placement) + " (units " + first + " to " + std::to_string(placement.start + length - 1) + ")";
}

std::string list_of(const std::vector<int>& starts) {
  std::string text;
  for (const int start : starts) text += (text.empty() ? "" : ", ") + std::to_string(start);
  return text;
}

/// Why an instance is illegal even alone.
std::optional<std::string> find_fault(const GpuModel& model, const Placement& placement) {
  if (placement.profile.is_full()) {
    if (placement.start == 0) return std::nullopt;
    return std::string(kFullProfileName) + " can only start at 0, found " + std::to_string(placement.start);
  }
  if (placement.profile.index >= model.profiles.size()) {
    return model.name + " has no profile number " + std::to_string(placement.profile.index);
  }
  const MigProfile& profile = model.profiles[placement.profile.index];
  if (std::ranges::find(profile.starts, placement.start) != profile.starts.end()) return std::nullopt;
  return profile.name + " can start at " + list_of(profile.starts) + " on " + model.name + ", found " +
         std::to_string(placement.start);
}

/// Why two instances cannot exist together. Requires: each is legal alone.
std::optional<std::string> find_pair_clash(const GpuModel& model, const Placement& a, const Placement& b,
                                           bool is_before_r510) {
  if ((detail::units_of(model, a) & detail::units_of(model, b)) != 0) {
    return name_with_units(model, a) + " and " + name_with_units(model, b) + " overlap";
  }
  const MigProfile& first = model.profiles[a.profile.index];
  const MigProfile& second = model.profiles[b.profile.index];
  const std::string both = name_of(model, a) + " and " + name_of(model, b);
  if (detail::takes_media_budget(first) && detail::takes_media_budget(second)) {
    return both + " clash: a GPU has the media engines for one instance with +me or +me.all";
  }
  const auto [least, most] = std::minmax(first.compute_slices, second.compute_slices);
  if (is_before_r510 && least == 3 && most == 4) {
    return both + " clash: drivers before R510 refuse 4g next to 3g";
  }
  return std::nullopt;
}

/// A profile that occurs more often than it may. Requires: a sorted state, each instance legal alone.
std::optional<std::string> find_surplus(const GpuModel& model, const State& state) {
  std::vector<int> counts(model.profiles.size());
  for (const Placement& last : state) {
    if (last.profile.is_full()) continue;
    const MigProfile& profile = model.profiles[last.profile.index];
    if (++counts[last.profile.index] <= profile.instances_max) continue;
    const auto is_same = [&](const Placement& other) { return other.profile == last.profile; };
    return name_of(model, *std::ranges::find_if(state, is_same)) + " and " + name_of(model, last) + " clash: at most " +
           std::to_string(profile.instances_max) + " " + profile.name + " may exist on one " + model.name;
  }
  return std::nullopt;
}

detail::Occupancy occupancy_of(const GpuModel& model, const State& state, bool is_before_r510) {
  detail::Occupancy occupancy(model, is_before_r510);
  for (const Placement& placement : state) occupancy.add({placement, detail::units_of(model, placement)});
  return occupancy;
}

int free_unit_count(const GpuModel& model, std::uint32_t occupied) {
  if (model.units == 0) return 0;
  return std::popcount(detail::unit_mask(0, model.units) & ~occupied);
}

}  // namespace

Rules plain_rules(const GpuModel& model) {
  Rules rules;
  for (const ProfileId id : all_rules(model).profiles) {
    if (model.profiles[id.index].is_plain()) rules.profiles.push_back(id);
  }
  return rules;
}

Rules all_rules(const GpuModel& model) {
  Rules rules;
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    rules.profiles.push_back(ProfileId{static_cast<std::uint16_t>(i)});
  }
  return rules;
}

std::optional<std::string> find_clash(const GpuModel& model, const State& state, bool is_before_r510) {
  State sorted = state;
  std::ranges::sort(sorted);
  for (const Placement& placement : sorted) {
    if (auto fault = find_fault(model, placement)) return fault;
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = i + 1; j < sorted.size(); ++j) {
      if (auto clash = find_pair_clash(model, sorted[i], sorted[j], is_before_r510)) return clash;
    }
  }
  return find_surplus(model, sorted);
}

std::vector<Placement> placements_that_fit(const GpuModel& model, const State& state, const Rules& rules) {
  const detail::Occupancy occupancy = occupancy_of(model, state, rules.is_before_r510);
  std::vector<Placement> fitting;
  for (const detail::Candidate& candidate : detail::candidates_of(model, rules)) {
    if (occupancy.accepts(candidate)) fitting.push_back(candidate.placement);
  }
  return fitting;
}

Difference difference_between(const State& from, const State& to) {
  Difference difference;
  std::ranges::set_intersection(from, to, std::back_inserter(difference.kept));
  std::ranges::set_difference(from, to, std::back_inserter(difference.destroyed));
  std::ranges::set_difference(to, from, std::back_inserter(difference.created));
  return difference;
}

Room room_for(const GpuModel& model, const State& state, ProfileId profile) {
  const int free_units = free_unit_count(model, occupied_units(model, state));
  if (profile.is_full()) return {.free_units = free_units, .fits = state.empty()};
  return {.free_units = free_units, .fits = !placements_that_fit(model, state, Rules{.profiles = {profile}}).empty()};
}

BlockedLength blocked_length(const GpuModel& model, const State& state, const Rules& rules) {
  const std::uint32_t occupied = occupied_units(model, state);
  const int free_units = free_unit_count(model, occupied);
  BlockedLength sum;
  for (const detail::Candidate& candidate : detail::candidates_of(model, rules)) {
    const int length = model.profiles[candidate.placement.profile.index].length;
    if (length > free_units) continue;
    sum.eligible += length;
    if ((candidate.units & occupied) != 0) sum.blocked += length;
  }
  return sum;
}

double fragmentation(const GpuModel& model, const State& state, const Rules& rules) {
  const BlockedLength sum = blocked_length(model, state, rules);
  return sum.eligible == 0 ? 0.0 : static_cast<double>(sum.blocked) / sum.eligible;
}

std::uint32_t occupied_units(const GpuModel& model, const State& state) {
  std::uint32_t occupied = 0;
  for (const Placement& placement : state) occupied |= detail::units_of(model, placement);
  return occupied;
}

}  // namespace berth::mig
