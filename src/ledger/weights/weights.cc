#include "ledger/weights/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger {
namespace {

/// The part of the capacity for `slices` of all slices of one kind.
std::int64_t part_of(std::int64_t capacity, int slices, int all_slices) {
  ENSURE(capacity % all_slices == 0);
  return capacity / all_slices * slices;
}

ProfileWeight whole_gpu(const GpuModel& model) {
  return {.profile = ProfileId::full(),
          .weight = capacity_of(model),
          .compute_slices = model.compute_slices,
          .memory_slices = model.units};
}

LayoutWeight layout_weight(const GpuModel& model, const mig::State& state) {
  LayoutWeight layout;
  for (const mig::Placement& placement : state) {
    layout.profiles.push_back(placement.profile);
    layout.weight += weight_of(model, placement.profile).weight;
  }
  return layout;
}

bool is_heavier(const LayoutWeight& a, const LayoutWeight& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.profiles.size() < b.profiles.size();
}

}  // namespace

std::int64_t capacity_of(const GpuModel& model) {
  if (!model.is_mig_capable()) return kCapacityWithoutMig;
  return std::lcm<std::int64_t>(model.compute_slices, model.units);
}

ProfileWeight weight_of(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) return whole_gpu(model);
  ENSURE(profile.index < model.profiles.size());
  const MigProfile& wanted = model.profiles[profile.index];
  const std::int64_t capacity = capacity_of(model);
  const std::int64_t compute = part_of(capacity, wanted.compute_slices, model.compute_slices);
  const std::int64_t memory = part_of(capacity, wanted.length, model.units);
  const Dominance larger = compute > memory ? Dominance::kCompute : Dominance::kMemory;
  return {.profile = profile,
          .weight = std::max(compute, memory),
          .compute_slices = wanted.compute_slices,
          .memory_slices = wanted.length,
          .dominance = compute == memory ? Dominance::kBoth : larger,
          .is_unverified = std::ranges::find(wanted.unverified, "length") != wanted.unverified.end()};
}

std::vector<ProfileWeight> weights_of(const GpuModel& model) {
  std::vector<ProfileWeight> weights;
  for (const ProfileId profile : mig::all_rules(model).profiles) weights.push_back(weight_of(model, profile));
  weights.push_back(whole_gpu(model));
  return weights;
}

Result<std::int64_t> weight_of_share(const SoftwareShare& share, std::int64_t capacity) {
  ENSURE(capacity >= 1 && capacity <= kCapacityMax);
  const auto [part, whole] = share;
  if (part < 1 || part > whole || whole > kCapacityMax) {
    return invalid(
        fmt::format("wanted a share above 0, at most 1, of at most {} parts, found {}/{}", kCapacityMax, part, whole));
  }
  if (capacity * part % whole == 0) return capacity * part / whole;
  const std::int64_t larger = std::lcm(capacity, whole / std::gcd(part, whole));
  std::string message =
      fmt::format("wanted a share that is whole in a capacity of {}, found {}/{}", capacity, part, whole);
  if (larger <= kCapacityMax) message += fmt::format("; in a capacity of {} it is {}", larger, larger * part / whole);
  return invalid(std::move(message));
}

LayoutWeight heaviest_layout(const GpuModel& model, const mig::Rules& rules) {
  LayoutWeight heaviest;
  for (const mig::State& state : mig::maximal_layouts(model, rules)) {
    LayoutWeight layout = layout_weight(model, state);
    if (is_heavier(layout, heaviest)) heaviest = std::move(layout);
  }
  std::ranges::sort(heaviest.profiles, {},
                    [&model](ProfileId profile) { return std::pair(-weight_of(model, profile).weight, profile); });
  return heaviest;
}

std::vector<LayoutWeight> layouts_over_capacity(const GpuModel& model) {
  std::vector<LayoutWeight> layouts;
  std::int64_t bar = capacity_of(model);
  for (const mig::Rules& rules : {mig::plain_rules(model), mig::all_rules(model)}) {
    LayoutWeight layout = heaviest_layout(model, rules);
    if (layout.weight <= bar) continue;
    bar = layout.weight;
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

}  // namespace berth::ledger
