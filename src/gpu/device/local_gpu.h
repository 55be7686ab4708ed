/// A GPU of this machine as a model of ours: the catalogue says what it is, the device says how much of it there is.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/gpu_library.h"
#include "domain/values/gpu.h"
#include "domain/values/scenario.h"

namespace berth::device {

struct LocalGpu {
  std::string uuid;
  std::string name;        ///< as its library has it: "NVIDIA A100-SXM4-80GB"
  std::string pci_bus_id;  ///< "00000000:07:00.0"
  GpuModel model;          ///< with the device's own figures
  /// What the device says otherwise than our table, each in a few words; it counts.
  std::vector<std::string> differences;
  friend bool operator==(const LocalGpu&, const LocalGpu&) = default;
};

/// The model is that of the catalogue with the device's PCI id; a profile is that of the catalogue with the same id and
/// as many compute slices. It has `full` (GpuModel::has_full) only without such profiles. A device that the catalogue
/// does not know is a model named like the device ("NVIDIA-X100"), with the profiles that it lists.
[[nodiscard]] LocalGpu local_gpu_of(const GpuFacts& facts);

/// How a GPU is not what it was when a world began with it, each in a few words: a driver of another version may list
/// other profiles, or give them more or less memory.
[[nodiscard]] std::vector<std::string> changes_since(const GpuModel& then, const GpuModel& now);

/// Whether both have the same profiles at the same places, whatever their memory and SMs: what is legal on one is legal
/// on the other.
[[nodiscard]] bool have_same_placements(const GpuModel& one, const GpuModel& other);

/// Gives a scenario the GPUs of this machine: an empty fleet becomes all of them; another must be these, in the
/// library's order. Its layout and pins name the device's profiles then. Error: the first GPU that differs, or how many
/// there are; a slice that the device cannot have, such as `full` on one that MIG partitions.
[[nodiscard]] Result<void> put_fleet(Scenario& scenario, const std::vector<LocalGpu>& gpus);

}  // namespace berth::device
