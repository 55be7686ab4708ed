// Figures of any plan.
#include <algorithm>
#include <utility>

#include "domain/mig/geometry.h"
#include "domain/values/scenario.h"
#include "planner/packing/pack.h"

namespace berth::packing {
namespace {

mig::State state_of(const Packing& packing, std::uint32_t gpu) {
  mig::State state;
  const auto first = std::ranges::lower_bound(packing.slices, GpuId{gpu}, {},
                                              [](const PackedSlice& packed) { return packed.slice.gpu; });
  for (auto it = first; it != packing.slices.end() && it->slice.gpu.index == gpu; ++it) {
    state.push_back({it->slice.start, it->slice.profile});
  }
  return state;
}

/// Whether one slice counts as larger than another: more SMs, then more units.
bool is_larger_slice(const GpuModel& a_model, ProfileId a, const GpuModel& b_model, ProfileId b) {
  const auto size_of = [](const GpuModel& model, ProfileId profile) {
    return std::pair(profile_sms(model, profile), model.profiles[profile.index].length);
  };
  return size_of(a_model, a) > size_of(b_model, b);
}

}  // namespace

std::vector<Slice> empty_places(const PackingProblem& problem, const Packing& packing) {
  std::vector<Slice> empty;
  for (std::uint32_t g = 0; g < packing.gpu_offers.size(); ++g) {
    const GpuModel& model = problem.offers[packing.gpu_offers[g]].model;
    if (!model.is_mig_capable()) continue;
    const mig::Rules rules = mig::plain_rules(model);
    mig::State state = state_of(packing, g);
    for (auto fits = mig::placements_that_fit(model, state, rules); !fits.empty();
         fits = mig::placements_that_fit(model, state, rules)) {
      const mig::Placement largest = *std::ranges::max_element(
          fits, [&](const auto& a, const auto& b) { return is_larger_slice(model, b.profile, model, a.profile); });
      empty.push_back({GpuId{g}, largest.start, largest.profile});
      state.push_back(largest);
      std::ranges::sort(state);
    }
  }
  return empty;
}

PackScore score_of(const PackingProblem& problem, const Packing& packing) {
  PackScore score{.gpus = std::ssize(packing.gpu_offers),
                  .micro_usd_per_hour = std::nullopt,
                  .largest_free = std::nullopt,
                  .slices = std::ssize(packing.slices)};
  const auto model_of = [&](const Slice& slice) -> const GpuModel& {
    return problem.offers[packing.gpu_offers[slice.gpu.index]].model;
  };
  for (const std::uint32_t offer : packing.gpu_offers) {
    const std::optional<std::int64_t>& price = problem.offers[offer].micro_usd_per_hour;
    if (price) score.micro_usd_per_hour = score.micro_usd_per_hour.value_or(0) + *price;
  }
  for (const Slice& slice : empty_places(problem, packing)) {
    const std::optional<Slice>& best = score.largest_free;
    if (!best || is_larger_slice(model_of(slice), slice.profile, model_of(*best), best->profile)) {
      score.largest_free = slice;
    }
  }
  return score;
}

}  // namespace berth::packing
