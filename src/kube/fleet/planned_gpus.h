/// The GPUs of pools on which slices of services can be planned: those with NVIDIA's attributes and counters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/values/gpu.h"
#include "domain/values/slice.h"
#include "kube/devices/inventory.h"

namespace berth::kube {

/// A place on a GPU: a profile of its model at a start.
using GpuPlace = std::pair<ProfileId, int>;

struct PlannedGpu {
  std::string key;  ///< "DRIVER/POOL/UUID", or with the name of its counter set: the same as long as the GPU is there
  PoolName pool;
  std::string node;     ///< where it is
  std::string product;  ///< its attribute productName
  /// The catalogue's, with the profiles and starts for which the pool has devices. It has `full` only without such
  /// profiles.
  GpuModel model;
  std::map<GpuPlace, std::string> devices;  ///< by place: the device's name
  std::map<std::string, GpuPlace> places;   ///< the opposite
  std::string whole;                        ///< the device that is all of the GPU; may be empty
};

/// The catalogue's model of the productName of a driver ("NVIDIA A100-SXM4-80GB"); nothing: it has none, or several.
[[nodiscard]] std::optional<GpuModel> model_of_product(std::string_view product);

/// The GPUs of these pools, by key. Devices belong to one GPU if they consume counters of one set; where a device
/// begins is the least number N of the counters memory-slice-N that it consumes. GPUs without counters, of an unknown
/// product, or with devices on several nodes are left out. O(devices).
[[nodiscard]] std::vector<PlannedGpu> planned_gpus(const Inventory& inventory, const std::set<PoolName>& pools);

/// The place that a held device takes; the largest profile for the whole GPU. Nothing: the place is not known.
[[nodiscard]] std::optional<GpuPlace> place_of(const PlannedGpu& gpu, const std::string& device);

}  // namespace berth::kube
