/// A node's GPUs as NVIDIA's driver publishes them, from the catalogue: a slice with counters, and one with devices.
#pragma once

#include <string>

#include "base/yaml/document.h"
#include "kube/client/reflector.h"
#include "kube/devices/inventory.h"

namespace berth::kube::testing {

struct NvidiaPool {
  std::string node = "a";
  std::string model = "A100-80GB";  ///< of the catalogue
  std::string product = "NVIDIA A100-SXM4-80GB";
  int gpu_count = 1;
};

/// The two ResourceSlices as JSON. Devices are "gpu-0" and "gpu-0-mig-1g.10gb-19-6", all placements of the profiles
/// without media and graphics variants; GPU i has the uuid "GPU-NODE-i".
[[nodiscard]] std::string nvidia_counters(const NvidiaPool& pool, int generation = 1);
[[nodiscard]] std::string nvidia_devices(const NvidiaPool& pool, int generation = 1);
void put_pool(Inventory& inventory, const NvidiaPool& pool);

/// An object as a change that a watch brings. Requires: it can be read.
[[nodiscard]] Change change_of(const std::string& object, ChangeKind kind = ChangeKind::kAdded);

}  // namespace berth::kube::testing
