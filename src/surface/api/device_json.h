/// What is known of the devices of a world of real GPUs, as JSON.
#pragma once

#include <string>

#include "base/json/writer.h"
#include "live/local/device_source.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// Adds `load`: what the load of services is: "simulated", or null where nothing is known of it.
void put_load(json::Writer& json, const live::DeviceSource& devices);

/// Adds to the status of a Gpu what its device says.
void put_device(json::Writer& json, const live::DeviceView& device);
/// Adds to the status of a GpuSlice what its device says.
void put_device_slice(json::Writer& json, const live::DeviceSliceView& slice);
/// Writes the value of `devices` of /v1/status.
void write_library(json::Writer& json, const live::DeviceLibraryView& library);

/// 409: the GPU is only observed.
[[nodiscard]] ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device);

}  // namespace berth::api
