#include "tier/hardware/slice_share.h"

#include <fmt/format.h>

#include <optional>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"

namespace berth::tier {
namespace {

/// The profile, and the model that has it.
struct ProfileOfModel {
  GpuModel model;
  MigProfile profile;
};

std::string profiles_text(const GpuModel& model) {
  std::string text;
  for (const MigProfile& profile : model.profiles) text += profile.name + ", ";
  return text + kFullProfileName;
}

/// Nothing: the whole GPU.
Result<std::optional<ProfileOfModel>> profile_of(const GpuFigures& gpu, std::string_view name) {
  if (name == kFullProfileName) return std::nullopt;
  const auto model = mig::find_gpu_model(gpu.gpu);
  const auto profile = model ? mig::find_profile(*model, name) : std::nullopt;
  if (profile) return ProfileOfModel{.model = *model, .profile = model->profiles[profile->index]};
  return invalid(fmt::format("wanted a profile of {} ({}), found {}", gpu.gpu,
                             model ? profiles_text(*model) : std::string(kFullProfileName), in_quotes(name)));
}

SliceShare share_of(const ProfileOfModel& of) {
  return {.compute = Decimal(of.profile.compute_slices, of.model.compute_slices),
          .memory = Decimal(of.profile.length, of.model.units)};
}

}  // namespace

Result<SliceShare> slice_share(const GpuFigures& gpu, std::string_view profile) {
  const auto found = profile_of(gpu, profile);
  if (!found) return pass_on(found.error());
  return *found ? share_of(**found) : SliceShare{};
}

Result<Decimal> slice_memory_mib(const GpuFigures& gpu, std::string_view profile) {
  const auto found = profile_of(gpu, profile);
  if (!found) return pass_on(found.error());
  if (!*found) return gpu.memory_mib;
  if (const auto known = (*found)->profile.memory_mib) return Decimal(*known);
  return gpu.memory_mib * share_of(**found).memory;
}

}  // namespace berth::tier
