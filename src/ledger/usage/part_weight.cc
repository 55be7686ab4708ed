#include "ledger/usage/part_weight.h"

#include "ledger/weights/weights.h"

namespace berth::ledger {

bool is_whole_slice(const GpuModel& model, const live::UsagePart& part) {
  if (!part.slice) return false;
  const ProfileId profile = part.slice->profile;
  return (profile.is_full() ? live::usage_units(model) : model.profiles[profile.index].length) == part.units;
}

std::int64_t weight_of_part(const GpuModel& model, const live::UsagePart& part) {
  if (is_whole_slice(model, part)) return weight_of(model, part.slice->profile).weight;
  return capacity_of(model) / live::usage_units(model) * part.units;
}

std::optional<std::int64_t> billed_weight(const GpuModel& model, const live::UsagePart& part) {
  if (part.state == live::UsageState::kFree) return std::nullopt;
  return weight_of_part(model, part);
}

}  // namespace berth::ledger
