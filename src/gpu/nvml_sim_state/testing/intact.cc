#include "gpu/nvml_sim_state/testing/intact.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

namespace berth::edges::testing {

using nvml_sim::ComputeInstanceRecord;
using nvml_sim::GpuInstanceRecord;
using nvml_sim::GpuRecord;
using nvml_sim::kComputeInstancesMax;
using nvml_sim::kGpuInstancesMax;
using nvml_sim::ProcessRecord;

namespace {

/// Units or slices, each for one only.
class Ground {
 public:
  [[nodiscard]] bool take(int start, int length, int end) {
    bool is_free = start >= 0 && start + length <= end;
    for (int place = start; place < start + length; ++place) is_free = taken_.insert(place).second && is_free;
    return is_free;
  }

 private:
  std::set<int> taken_;
};

std::string fault_of_compute(const GpuRecord& gpu, const GpuInstanceRecord& instance, const MigProfile& profile,
                             std::set<std::uint32_t>& generations) {
  Ground slices;
  for (const ComputeInstanceRecord& compute : instance.compute_instances) {
    if (compute.is_there == 0) continue;
    if (instance.is_there == 0) return "a compute instance without its GPU instance";
    if (compute.slices == 0 || !slices.take(compute.start, compute.slices, profile.compute_slices)) {
      return "a compute instance outside of its GPU instance, or over another";
    }
    if (compute.generation <= instance.generation || compute.generation > gpu.generations ||
        !generations.insert(compute.generation).second) {
      return "a generation of a compute instance";
    }
  }
  return {};
}

std::string fault_of_instances(const GpuRecord& gpu) {
  const GpuModel& model = nvml_sim::model_of(gpu);
  Ground units;
  std::set<std::uint32_t> generations;
  std::map<int, int> counts;
  for (const GpuInstanceRecord& instance : gpu.gpu_instances) {
    const MigProfile& profile = model.profiles[instance.profile];
    if (std::string fault = fault_of_compute(gpu, instance, profile, generations); !fault.empty()) return fault;
    if (instance.is_there == 0) continue;
    if (gpu.is_mig_on == 0) return "an instance without MIG mode";
    if (!std::ranges::count(profile.starts, instance.start)) return "an illegal placement";
    if (!units.take(instance.start, profile.length, model.units)) return "overlapping GPU instances";
    if (++counts[instance.profile] > profile.instances_max) return "too many instances of a profile";
    if (instance.generation == 0 || instance.generation > gpu.generations ||
        !generations.insert(instance.generation).second) {
      return "a generation of a GPU instance";
    }
  }
  return {};
}

std::string fault_of_processes(const GpuRecord& gpu) {
  for (const ProcessRecord& process : gpu.processes) {
    if (process.pid == 0) continue;
    const bool is_on_instance =
        process.gpu_instance < kGpuInstancesMax && process.compute_instance < kComputeInstancesMax &&
        gpu.gpu_instances[process.gpu_instance].compute_instances[process.compute_instance].is_there != 0;
    if (!is_on_instance) return "a process on no instance";
  }
  return {};
}

}  // namespace

std::string fault_of(const GpuRecord& gpu) {
  std::string fault = fault_of_instances(gpu);
  return fault.empty() ? fault_of_processes(gpu) : fault;
}

}  // namespace berth::edges::testing
