/// Device readings of a world of real GPUs, as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/json/writer.h"
#include "domain/values/gpu.h"
#include "live/local/device_source.h"
#include "surface/api/api_error.h"

namespace berth::api {

/// Adds `load`, the kind of load that services have: "simulated", or null if unknown.
void put_load(json::Writer& json, const live::DeviceSource& devices);
/// Adds `endpoints` and `programs` of a service with `run`.
void put_programs(json::Writer& json, const live::ServicePrograms& programs);

/// Adds the reading of its device to the status of a Gpu.
void put_device(json::Writer& json, const GpuModel& model, const live::DeviceView& device);
/// Adds `measured` and the first `processes_max` of `processes`, each of them null if it is unknown.
void put_use(json::Writer& json, const GpuModel& model, const live::DeviceView& device, std::size_t processes_max);
/// Adds the reading of its device to the status of a GpuSlice.
void put_device_slice(json::Writer& json, const live::DeviceSliceView& slice);
/// Writes the value of `devices` of /v1/status. Requires: a local world.
void write_devices(json::Writer& json, const live::DeviceSource& devices);

/// Why the GPU agent is gone; nothing: it is not, or none is wanted.
[[nodiscard]] std::optional<std::string> why_agent_gone(const live::DeviceSource& devices);
/// 503: GPUs cannot be changed now.
[[nodiscard]] ApiError agent_gone_error(std::string why);
/// 503: the API server of the cluster of these devices is away; nothing: it is not, or there is none.
[[nodiscard]] std::optional<ApiError> cluster_away_error(const live::DeviceSource& devices);

/// 409: the GPU is observed, not managed.
[[nodiscard]] ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device);

}  // namespace berth::api
