/// The fleet, the layout and other slices that a scenario names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/yaml/reader.h"
#include "domain/mig/geometry.h"
#include "domain/values/scenario.h"

namespace berth::scenario::detail {

[[nodiscard]] std::vector<FleetEntry> read_fleet(const yaml::Value& value, bool is_empty_allowed);

/// Slices that must be able to exist together, by GPU.
using Occupied = std::map<GpuId, mig::State>;

/// `profile` and `start` of a slice on a GPU of the fleet. It must be legal together with those in `occupied`, to which
/// it is added.
[[nodiscard]] Slice read_slice(const yaml::Value& value, GpuId gpu, const Scenario& scenario, Occupied& occupied);

/// The `gpu` of a layout entry or pin: its number in the fleet.
[[nodiscard]] GpuId read_gpu_id(const yaml::Value& value, const Scenario& scenario);

/// `layout:`, sorted by slice. Requires: fleet and services are read.
[[nodiscard]] std::vector<Holding> read_layout(const yaml::Value& value, const Scenario& scenario);

}  // namespace berth::scenario::detail
