#include "gpu/nvml_sim/placement_choice.h"

#include <algorithm>

#include "domain/mig/board.h"

namespace berth::nvml_sim {
namespace {

mig::Rules rules_of(const GpuModel& model, bool is_before_r510) {
  mig::Rules rules = mig::all_rules(model);
  rules.is_before_r510 = is_before_r510;
  return rules;
}

/// Whether the engines suffice for the instances and one more of a profile: a GPU has those of its largest instance,
/// and instances do not share theirs.
bool has_engines_for(const GpuModel& model, const mig::State& state, ProfileId profile) {
  mig::Engines most;
  mig::Engines sum;
  const auto each = [](auto&& visit) {
    visit(&mig::Engines::copy);
    visit(&mig::Engines::decoders);
    visit(&mig::Engines::encoders);
    visit(&mig::Engines::jpeg);
    visit(&mig::Engines::optical_flow);
  };
  for (std::uint16_t i = 0; i < model.profiles.size(); ++i) {
    if (model.profiles[i].compute_slices == model.compute_slices) most = mig::profile_engines(model, ProfileId{i});
  }
  const auto add = [&](ProfileId taken) {
    const mig::Engines engines = mig::profile_engines(model, taken);
    each([&](auto kind) { sum.*kind = (sum.*kind).value_or(0) + (engines.*kind).value_or(0); });
  };
  add(profile);
  for (const mig::Placement& placement : state) add(placement.profile);
  bool suffices = true;
  each([&](auto kind) { suffices = suffices && (!(most.*kind) || sum.*kind <= most.*kind); });
  return suffices;
}

std::vector<mig::Placement> fitting(const GpuModel& model, const mig::State& state, const mig::Rules& rules) {
  std::vector<mig::Placement> all = mig::placements_that_fit(model, state, rules);
  std::erase_if(all, [&](const mig::Placement& p) { return !has_engines_for(model, state, p.profile); });
  return all;
}

/// The placements of all profiles that still fit next to the instances and this one.
std::size_t left_with(const GpuModel& model, const mig::State& state, const mig::Placement& added,
                      const mig::Rules& rules) {
  mig::State with = state;
  with.insert(std::ranges::upper_bound(with, added), added);
  return fitting(model, with, rules).size();
}

}  // namespace

std::vector<mig::Placement> fitting_placements(const GpuModel& model, const mig::State& state, ProfileId profile,
                                               bool is_before_r510) {
  mig::Rules rules = rules_of(model, is_before_r510);
  rules.profiles = {profile};
  return fitting(model, state, rules);
}

std::optional<mig::Placement> chosen_placement(const GpuModel& model, const mig::State& state, ProfileId profile,
                                               bool is_before_r510) {
  const mig::Rules rules = rules_of(model, is_before_r510);
  std::optional<mig::Placement> best;
  std::size_t best_left = 0;
  for (const mig::Placement& candidate : fitting_placements(model, state, profile, is_before_r510)) {
    const std::size_t left = left_with(model, state, candidate, rules);
    if (best && left <= best_left) continue;
    best = candidate;
    best_left = left;
  }
  return best;
}

}  // namespace berth::nvml_sim
