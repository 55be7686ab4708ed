// Random states of random GPUs: the functions of geometry.h agree with each other.

#include "domain/mig/geometry.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "domain/mig/catalogue.h"
#include "domain/mig/multiset.h"

namespace berth::mig {
namespace {

GpuModel any_gpu() { return *rc::gen::elementOf(gpu_models()); }

Rules any_rules(const GpuModel& model) {
  Rules rules = *rc::gen::arbitrary<bool>() ? all_rules(model) : plain_rules(model);
  rules.is_before_r510 = *rc::gen::arbitrary<bool>();
  return rules;
}

/// Adds placements that fit, a random one each time, until there is a random number of them or nothing fits.
State any_state(const GpuModel& model, const Rules& rules) {
  State state;
  for (int left = *rc::gen::inRange(0, 9); left > 0; --left) {
    const std::vector<Placement> fitting = placements_that_fit(model, state, rules);
    if (fitting.empty()) break;
    state.push_back(*rc::gen::elementOf(fitting));
    std::ranges::sort(state);
  }
  return state;
}

RC_GTEST_PROP(Geometry, APlacementFitsExactlyWhenTheLargerStateHasNoClash, ()) {
  const GpuModel model = any_gpu();
  const Rules rules = any_rules(model);
  const State state = any_state(model, rules);
  const std::vector<Placement> fitting = placements_that_fit(model, state, rules);
  RC_ASSERT(std::ranges::is_sorted(fitting, {}, [](const Placement& p) { return std::pair(p.profile, p.start); }));
  for (const ProfileId id : rules.profiles) {
    for (int start = -1; start <= model.units; ++start) {
      State larger = state;
      larger.push_back({start, id});
      const bool is_fitting = std::ranges::find(fitting, Placement{start, id}) != fitting.end();
      RC_ASSERT(is_fitting == !find_clash(model, larger, rules.is_before_r510).has_value());
    }
  }
}

RC_GTEST_PROP(Geometry, EveryLegalStateStaysLegalWithoutOneInstance, ()) {
  const GpuModel model = any_gpu();
  const Rules rules = any_rules(model);
  State state = any_state(model, rules);
  RC_ASSERT(!find_clash(model, state, rules.is_before_r510));
  RC_PRE(!state.empty());
  state.erase(state.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, std::ssize(state)));
  RC_ASSERT(!find_clash(model, state, rules.is_before_r510));
}

RC_GTEST_PROP(Geometry, ATransitionLeadsFromOneStateToTheOther, ()) {
  const GpuModel model = any_gpu();
  const State from = any_state(model, all_rules(model));
  const State to = any_state(model, all_rules(model));
  const Difference difference = difference_between(from, to);
  State state;
  for (const Placement& placement : from) {
    if (std::ranges::find(difference.destroyed, placement) == difference.destroyed.end()) state.push_back(placement);
  }
  RC_ASSERT(state == difference.kept);
  state.insert(state.end(), difference.created.begin(), difference.created.end());
  std::ranges::sort(state);
  RC_ASSERT(state == to);
  RC_ASSERT(difference.destroyed.size() + difference.kept.size() == from.size());
}

RC_GTEST_PROP(Geometry, ATextReadsBackAsTheSameState, ()) {
  const GpuModel model = any_gpu();
  const State state = any_state(model, all_rules(model));
  const auto read = parse_state(model, to_string(model, state));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == state);
}

RC_GTEST_PROP(Geometry, FragmentationIsAShareAndNothingIsBlockedOnAnEmptyGpu, ()) {
  const GpuModel model = any_gpu();
  const Rules rules = any_rules(model);
  const State state = any_state(model, rules);
  const BlockedLength sum = blocked_length(model, state, rules);
  RC_ASSERT(0 <= sum.blocked && sum.blocked <= sum.eligible);
  RC_ASSERT(fragmentation(model, {}, rules) == 0.0);
  for (const ProfileId id : rules.profiles) {
    const Room room = room_for(model, state, id);
    RC_ASSERT(!room.fits || room.free_units >= model.profiles[id.index].length);
  }
}

RC_GTEST_PROP(Multiset, WhatStandsSomewhereCanBePlaced, ()) {
  const GpuModel model = any_gpu();
  const Rules rules = any_rules(model);
  const State state = any_state(model, rules);
  const auto placed = place_multiset(model, multiset_of(state), rules.is_before_r510);
  RC_ASSERT(placed.has_value());
  RC_ASSERT(multiset_of(*placed) == multiset_of(state));
  RC_ASSERT(!find_clash(model, *placed, rules.is_before_r510));
  RC_ASSERT(blocked_length(model, *placed, plain_rules(model)).blocked <=
            blocked_length(model, state, plain_rules(model)).blocked);
}

}  // namespace
}  // namespace berth::mig
