#include "domain/mig/detail/occupancy.h"

#include "base/core/ensure.h"

namespace berth::mig::detail {

std::uint32_t unit_mask(int start, int length) {
  constexpr int kUnitsMax = 32;
  ENSURE(start >= 0 && length > 0 && start + length <= kUnitsMax);
  return static_cast<std::uint32_t>(((std::uint64_t{1} << length) - 1) << start);
}

std::uint32_t units_of(const GpuModel& model, const Placement& placement) {
  if (placement.profile.is_full()) return UINT32_MAX;
  return unit_mask(placement.start, model.profiles[placement.profile.index].length);
}

std::vector<Candidate> candidates_of(const GpuModel& model, const Rules& rules) {
  std::vector<Candidate> candidates;
  for (const ProfileId id : rules.profiles) {
    ENSURE(id.index < model.profiles.size());
    for (const int start : model.profiles[id.index].starts) {
      const Placement placement = {start, id};
      candidates.push_back({placement, units_of(model, placement)});
    }
  }
  return candidates;
}

bool takes_media_budget(const MigProfile& profile) {
  return profile.media == MediaEngines::kExtended || profile.media == MediaEngines::kAll;
}

Occupancy::Occupancy(const GpuModel& model, bool is_before_r510)
    : model_(&model), is_before_r510_(is_before_r510), instance_counts_(model.profiles.size()) {}

bool Occupancy::accepts(const Candidate& candidate) const {
  if ((units_ & candidate.units) != 0) return false;
  const ProfileId id = candidate.placement.profile;
  if (id.is_full()) return true;
  const MigProfile& profile = model_->profiles[id.index];
  if (instance_counts_[id.index] >= profile.instances_max) return false;
  if (takes_media_budget(profile) && media_count_ > 0) return false;
  if (!is_before_r510_) return true;
  return !(profile.compute_slices == 4 && three_slice_count_ > 0) &&
         !(profile.compute_slices == 3 && four_slice_count_ > 0);
}

void Occupancy::count(const Candidate& candidate, int by) {
  units_ ^= candidate.units;
  const ProfileId id = candidate.placement.profile;
  if (id.is_full()) return;
  const MigProfile& profile = model_->profiles[id.index];
  instance_counts_[id.index] += by;
  if (takes_media_budget(profile)) media_count_ += by;
  if (profile.compute_slices == 3) three_slice_count_ += by;
  if (profile.compute_slices == 4) four_slice_count_ += by;
}

}  // namespace berth::mig::detail
