#include "gpu/nvml_sim/testing/gpus.h"

#include "base/core/ensure.h"
#include "domain/mig/catalogue.h"
#include "gpu/nvml_sim/gpu_instances.h"

namespace berth::nvml_sim::testing {

GpuRecord gpu_of(std::string_view model, std::uint32_t index) {
  const Result<GpuModel> found = mig::find_gpu_model(model);
  ENSURE(found.has_value());
  return make_gpu({.model = &*found, .index = index, .is_mig_on = found->is_mig_capable(), .is_before_r510 = false});
}

std::uint32_t profile_id(const GpuRecord& gpu, std::string_view profile) {
  const GpuModel& model = model_of(gpu);
  const auto found = mig::find_profile(model, profile);
  ENSURE(found.has_value());
  return static_cast<std::uint32_t>(model.profiles[found->index].device_profile_id);
}

int create_anywhere(GpuRecord& gpu, std::string_view profile) {
  const Answer<int> id = create_gpu_instance(gpu, profile_id(gpu, profile), std::nullopt, {.may_change = true});
  if (!id) ENSURE(id.error() == nvml_abi::Code::kInsufficientResources);
  return id ? place_of(gpu, *id).start : -1;
}

}  // namespace berth::nvml_sim::testing
