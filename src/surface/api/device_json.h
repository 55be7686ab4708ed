/// Device readings of a world of real GPUs, as JSON.
#pragma once

#include <string>

#include "base/json/writer.h"
#include "live/local/device_source.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// Adds `load`, the kind of load that services have: "simulated", or null if unknown.
void put_load(json::Writer& json, const live::DeviceSource& devices);

/// Adds the reading of its device to the status of a Gpu.
void put_device(json::Writer& json, const live::DeviceView& device);
/// Adds the reading of its device to the status of a GpuSlice.
void put_device_slice(json::Writer& json, const live::DeviceSliceView& slice);
/// Writes the value of `devices` of /v1/status.
void write_library(json::Writer& json, const live::DeviceLibraryView& library);

/// 409: the GPU is observed, not managed.
[[nodiscard]] ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device);

}  // namespace berth::api
