#include "domain/values/gpu.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth {

std::string profile_name(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) return kFullProfileName;
  ENSURE(profile.index < model.profiles.size());
  return model.profiles[profile.index].name;
}

int profile_sms(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) return model.sms;
  ENSURE(profile.index < model.profiles.size());
  const MigProfile& wanted = model.profiles[profile.index];
  if (wanted.sms) return *wanted.sms;
  for (const MigProfile& smallest : model.profiles) {
    if (smallest.compute_slices == 1 && smallest.is_plain() && smallest.sms) {
      return std::min(model.sms, *smallest.sms * wanted.compute_slices);
    }
  }
  return model.sms * wanted.compute_slices / std::max(1, model.compute_slices);
}

}  // namespace berth
