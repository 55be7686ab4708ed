/// A GPU of this machine as one of our models: the catalogue identifies it, the device gives the figures.
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
  std::string name;        ///< as given by the library: "NVIDIA A100-SXM4-80GB"
  std::string pci_bus_id;  ///< "00000000:07:00.0"
  GpuModel model;          ///< with the device's own figures
  /// Where the device differs from our table, each in a few words; the device's value is used.
  std::vector<std::string> differences;
  friend bool operator==(const LocalGpu&, const LocalGpu&) = default;
};

/// The model is the catalogue's entry for the device's PCI id; a profile is the catalogue's with the same id and number
/// of compute slices. It has `full` (GpuModel::has_full) only without such profiles. A device missing from the
/// catalogue becomes a model named like the device ("NVIDIA-X100"), with the profiles that it lists.
[[nodiscard]] LocalGpu local_gpu_of(const GpuFacts& facts);

/// How a GPU differs from when a world began with it, each in a few words: another driver version may list other
/// profiles, or give them more or less memory.
[[nodiscard]] std::vector<std::string> changes_since(const GpuModel& then, const GpuModel& now);

/// Whether both have the same profiles at the same places, regardless of memory and SMs: a layout is legal on one if
/// and only if it is on the other.
[[nodiscard]] bool have_same_placements(const GpuModel& one, const GpuModel& other);

/// Gives a scenario the GPUs of this machine: an empty fleet becomes all of them; any other fleet must match them in
/// the library's order. Afterwards its layout and pins name the device's profiles. Error: the first GPU that differs,
/// or a different number of GPUs; a slice that the device cannot have, such as `full` on a GPU that MIG partitions.
[[nodiscard]] Result<void> put_fleet(Scenario& scenario, const std::vector<LocalGpu>& gpus);
/// The same with the fleet of a world to which GPUs may have been added since it began: a fleet of the scenario must
/// match the first ones.
[[nodiscard]] Result<void> put_recorded_fleet(Scenario& scenario, const std::vector<LocalGpu>& gpus);

}  // namespace berth::device
