/// The memory of a world whose process ended, for the next process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "domain/values/slice.h"
#include "sim/world/world_memory.h"
#include "world/slices/device_memory.h"

namespace berth::sim {

struct WorldLeft {
  WorldMemory world;
  std::vector<world::DeviceMemory> devices;  ///< by GpuId
  std::map<GpuId, std::string> losses = {};  ///< why GPUs are lost, where no fault was the cause
};

}  // namespace berth::sim
