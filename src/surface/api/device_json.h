/// What is known of the devices of a world of real GPUs, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "live/local/device_source.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// What the load of services is: "simulated", or null where nothing is known of it.
[[nodiscard]] nlohmann::ordered_json load_json(const live::DeviceSource& devices);

/// Adds to the status of a Gpu what its device says.
void add_device(nlohmann::ordered_json& status, const live::DeviceView& device);
/// Adds to the status of a GpuSlice what its device says.
void add_device_slice(nlohmann::ordered_json& status, const live::DeviceSliceView& slice);
/// `devices` of /v1/status.
[[nodiscard]] nlohmann::ordered_json library_json(const live::DeviceLibraryView& library);

/// 409: the GPU is only observed.
[[nodiscard]] ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device);

}  // namespace berth::api
