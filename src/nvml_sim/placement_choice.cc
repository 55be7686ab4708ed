#include "nvml_sim/placement_choice.h"

#include <algorithm>

namespace berth::nvml_sim {
namespace {

mig::Rules rules_of(const GpuModel& model, bool is_before_r510) {
  mig::Rules rules = mig::all_rules(model);
  rules.is_before_r510 = is_before_r510;
  return rules;
}

/// Placements of all profiles that still fit beside the instances and this one.
std::size_t left_with(const GpuModel& model, const mig::State& state, const mig::Placement& added,
                      const mig::Rules& rules) {
  mig::State with = state;
  with.insert(std::ranges::upper_bound(with, added), added);
  return mig::placements_that_fit(model, with, rules).size();
}

}  // namespace

std::vector<mig::Placement> fitting_placements(const GpuModel& model, const mig::State& state, ProfileId profile,
                                               bool is_before_r510) {
  mig::Rules rules = rules_of(model, is_before_r510);
  rules.profiles = {profile};
  return mig::placements_that_fit(model, state, rules);
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
