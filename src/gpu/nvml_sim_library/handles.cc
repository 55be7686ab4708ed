#include "gpu/nvml_sim_library/handles.h"

#include <sys/mman.h>

#include "base/core/ensure.h"

namespace berth::edges {

using nvml_sim::GpuInstanceRecord;
using nvml_sim::kComputeInstancesMax;
using nvml_sim::kGpuInstancesMax;
using nvml_sim::kGpusMax;
using nvml_sim::MachineRecord;

namespace {

// Indices of targets: a GPU, then its GPU instances, their compute instances, and the MIG devices of these.
constexpr int kComputeInstances = kGpuInstancesMax * kComputeInstancesMax;
constexpr int kTargetsPerGpu = 1 + kGpuInstancesMax + 2 * kComputeInstances;
constexpr int kTargets = kTargetsPerGpu * kGpusMax;
/// The number of handles of one target: one for each of this many successive generations.
constexpr std::uintptr_t kGenerations = 256;

int number_of(const Target& target) {
  const int first = static_cast<int>(target.gpu) * kTargetsPerGpu;
  const int compute = target.gpu_instance * kComputeInstancesMax + target.compute_instance;
  switch (target.kind) {
    case HandleKind::kGpu:
      return first;
    case HandleKind::kGpuInstance:
      return first + 1 + target.gpu_instance;
    case HandleKind::kComputeInstance:
      return first + 1 + kGpuInstancesMax + compute;
    case HandleKind::kMigDevice:
      return first + 1 + kGpuInstancesMax + kComputeInstances + compute;
  }
  return first;
}

Target target_with(int number) {
  const auto gpu = static_cast<std::uint32_t>(number / kTargetsPerGpu);
  int rest = number % kTargetsPerGpu;
  if (rest == 0) return {.kind = HandleKind::kGpu, .gpu = gpu};
  rest -= 1;
  if (rest < kGpuInstancesMax) return {.kind = HandleKind::kGpuInstance, .gpu = gpu, .gpu_instance = rest};
  rest -= kGpuInstancesMax;
  const HandleKind kind = rest < kComputeInstances ? HandleKind::kComputeInstance : HandleKind::kMigDevice;
  rest %= kComputeInstances;
  return {.kind = kind,
          .gpu = gpu,
          .gpu_instance = rest / kComputeInstancesMax,
          .compute_instance = rest % kComputeInstancesMax};
}

/// The generation of an existing object; a GPU has none.
std::optional<std::uint32_t> generation_of(const MachineRecord& machine, const Target& target) {
  if (target.gpu >= machine.gpu_count) return std::nullopt;
  if (target.kind == HandleKind::kGpu) return 0;
  const GpuInstanceRecord& instance = machine.gpus[target.gpu].gpu_instances[target.gpu_instance];
  if (instance.is_there == 0) return std::nullopt;
  if (target.kind == HandleKind::kGpuInstance) return instance.generation;
  const auto& compute = instance.compute_instances[target.compute_instance];
  if (compute.is_there == 0) return std::nullopt;
  return compute.generation;
}

}  // namespace

Handles::Handles() : looked_up_(kTargets) {
  void* const region =
      ::mmap(nullptr, kTargets * kGenerations, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ENSURE(region != MAP_FAILED);
  begin_ = static_cast<char*>(region);
}

void* Handles::handle_of(const MachineRecord& machine, const Target& target) {
  const std::optional<std::uint32_t> generation = generation_of(machine, target);
  ENSURE(generation.has_value());
  const int number = number_of(target);
  const std::lock_guard lock(mutex_);
  looked_up_[static_cast<std::size_t>(number)] = {
      .session = session_, .boots = machine.boots, .generation = *generation};
  return begin_ + static_cast<std::uintptr_t>(number) * kGenerations + *generation % kGenerations;
}

std::optional<Target> Handles::target_of(const MachineRecord& machine, const void* handle) {
  // A null handle is far before the region: the distance wraps around.
  const std::uintptr_t distance = reinterpret_cast<std::uintptr_t>(handle) - reinterpret_cast<std::uintptr_t>(begin_);
  if (distance >= kTargets * kGenerations) return std::nullopt;
  const std::uintptr_t number = distance / kGenerations;
  const Target target = target_with(static_cast<int>(number));
  const std::optional<std::uint32_t> generation = generation_of(machine, target);
  const std::lock_guard lock(mutex_);
  const LookedUp& looked_up = looked_up_[number];
  const bool is_current = generation == looked_up.generation && distance % kGenerations == *generation % kGenerations;
  if (!is_current || looked_up.session != session_ || looked_up.boots != machine.boots) return std::nullopt;
  return target;
}

void Handles::end_session() {
  const std::lock_guard lock(mutex_);
  ++session_;
}

}  // namespace berth::edges
