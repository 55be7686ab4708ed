/// What stands in a cluster, as an operator that does not lead shows it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "base/yaml/document.h"
#include "domain/values/gpu_state.h"
#include "domain/values/slice.h"
#include "gpu/device/local_gpu.h"
#include "kube/client/resource.h"
#include "kube/devices/device.h"
#include "live/session/service_watch.h"

namespace berth::kube {

struct StandbyGpu {
  device::LocalGpu known;  ///< `uuid` is PlannedGpu::key
  std::string node;        ///< empty: it is lost
  std::optional<std::string> closed = std::nullopt;
  GpuState state = {};  ///< `since`: when this operator saw it
  bool is_drained = false;
};

/// A slice that a claim has, or is about to get.
struct StandbySlice {
  Slice slice;
  std::uint64_t generation = 0;                      ///< by the name that the leader gave it; 0: foreign
  std::optional<ObjectName> service = std::nullopt;  ///< that it is for; nothing: foreign
  bool is_retraining = false;
  live::SliceState state = live::SliceState::kForeign;
  DeviceName device;
  Instant seen_at = {};  ///< by this operator
};

/// Everything by its order in lists of the API.
struct StandbyPicture {
  Instant at;
  std::vector<StandbyGpu> gpus = {};      ///< by number
  std::vector<StandbySlice> slices = {};  ///< by place
  /// The objects of tenants; null: there is none, and services are in its namespace.
  std::map<std::string, std::shared_ptr<const yaml::Node>> tenants = {};
  /// The objects of services that the leader has accepted, or has not seen yet.
  std::map<ObjectName, std::shared_ptr<const yaml::Node>> services = {};
};

}  // namespace berth::kube
