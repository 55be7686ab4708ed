#include "surface/api/device_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace berth::api {
namespace {

using json::Writer;

std::optional<std::string_view> mode_or_null(const std::optional<bool>& is_on) {
  if (!is_on) return std::nullopt;
  return *is_on ? "enabled" : "disabled";
}

void put_mig(Writer& json, const live::DeviceView& device) {
  json.key("mig");
  if (!device.is_mig_on) {
    json.value(nullptr);
    return;
  }
  json.open_object().member("current", mode_or_null(device.is_mig_on));
  json.member("pending", mode_or_null(device.is_mig_pending_on)).close_object();
}

void write_time(Writer& json, const live::DeviceTimeView& time) {
  json.open_object().member("profile", time.profile).member("action", time.is_creation ? "create" : "destroy");
  json.member("assumed_seconds", time.assumed_seconds).member("measured_seconds", time.measured_seconds);
  json.member("planned_seconds", time.planned_seconds).member("count", time.count).close_object();
}

std::optional<double> watts_or_null(const std::optional<std::int64_t>& milliwatts) {
  constexpr double kMillisPerUnit = 1e3;
  return milliwatts ? std::optional(static_cast<double>(*milliwatts) / kMillisPerUnit) : std::nullopt;
}

void put_measured(Writer& json, const std::optional<GpuMeasurement>& measured) {
  json.key("measured");
  if (!measured) {
    json.value(nullptr);
    return;
  }
  json.open_object().member("memory_total_mib", measured->memory_total_mib);
  json.member("memory_used_mib", measured->memory_used_mib);
  json.member("utilization_percent", measured->utilization_percent);
  json.member("memory_utilization_percent", measured->memory_utilization_percent);
  json.member("temperature_celsius", measured->temperature_celsius);
  json.member("memory_temperature_celsius", measured->memory_temperature_celsius);
  json.member("power_watts", watts_or_null(measured->power_milliwatts));
  json.member("power_limit_watts", watts_or_null(measured->power_limit_milliwatts));
  json.member("sm_clock_mhz", measured->sm_clock_mhz);
  json.member("memory_clock_mhz", measured->memory_clock_mhz).close_object();
}

void write_process(Writer& json, const GpuModel& model, const live::DeviceProcessView& process) {
  const auto& slice = process.slice;
  json.open_object().member("pid", process.pid).member("user", process.user).member("name", process.name);
  json.member("memory_mib", process.memory_mib);
  json.member("profile", slice ? std::optional(profile_name(model, slice->profile)) : std::nullopt);
  json.member("start", slice ? std::optional(slice->start) : std::nullopt).close_object();
}

}  // namespace

void put_load(Writer& json, const live::DeviceSource& devices) {
  const char* const word = devices.is_load_measured ? "measured" : "simulated";
  json.member("load", devices.knows_load() ? std::optional(word) : std::nullopt);
}

namespace {

const char* word_of(ProcessPhase phase) {
  switch (phase) {
    case ProcessPhase::kStarting:
      return "starting";
    case ProcessPhase::kReady:
      return "ready";
    case ProcessPhase::kDraining:
      return "draining";
    case ProcessPhase::kStopped:
      return "stopped";
    case ProcessPhase::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace

void put_programs(Writer& json, const live::ServicePrograms& programs) {
  json.open_list("endpoints");
  for (const Endpoint& endpoint : programs.endpoints) {
    json.open_object().member("slice", endpoint.slice).member("generation", endpoint.generation);
    json.member("url", endpoint.url).member("leaving", endpoint.is_leaving);
    json.member("in_flight_max", endpoint.in_flight_max).close_object();
  }
  json.close_list().open_list("programs");
  for (const live::ProgramView& program : programs.programs) {
    json.open_object().member("slice", program.slice).member("generation", program.generation);
    json.member("phase", word_of(program.phase))
        .member("pid", program.pid > 0 ? std::optional(program.pid) : std::nullopt);
    json.member("starts", program.starts).member("failures", program.failures);
    json.member("message", program.message.empty() ? std::nullopt : std::optional(program.message)).close_object();
  }
  json.close_list();
}

void put_use(Writer& json, const GpuModel& model, const live::DeviceView& device, std::size_t processes_max) {
  put_measured(json, device.measured);
  json.key("processes");
  if (!device.processes) {
    json.value(nullptr);
    return;
  }
  const std::span<const live::DeviceProcessView> shown(*device.processes);
  json.list(shown.first(std::min(processes_max, shown.size())),
            [&](Writer& to, const live::DeviceProcessView& process) { write_process(to, model, process); });
}

void put_device(Writer& json, const GpuModel& model, const live::DeviceView& device) {
  json.member("uuid", device.uuid).member("pci_bus_id", device.pci_bus_id);
  if (device.node) json.member("cluster_node", *device.node);
  json.member("managed", !device.why_observed.has_value()).member("managed_reason", device.why_observed);
  put_mig(json, device);
  json.member("recovery_action", device.recovery_action).list("differences", device.differences);
  json.open_object("device_health").member("state", word(device.health.state));
  json.member("reason", device.health.reason).close_object();
  json.list("times", device.times, write_time);
  put_use(json, model, device, SIZE_MAX);
}

void put_device_slice(Writer& json, const live::DeviceSliceView& slice) {
  json.member("uuid", slice.uuid).member("memory_mib", slice.memory_mib);
}

void write_devices(Writer& json, const live::DeviceSource& devices) {
  const live::DeviceLibraryView library = devices.library();
  json.open_object().member("library", library.path).member("version", library.version);
  json.member("driver", library.driver).member("gpus", library.gpu_count).member("reason", library.reason);
  json.member("agent_reason", why_agent_gone(devices));
  if (devices.cluster_away) {
    const auto away = devices.cluster_away();
    json.member("cluster_away_since_wall", away ? std::optional(away->since_wall) : std::nullopt);
    json.member("cluster_away_reason", away ? std::optional(away->message) : std::nullopt);
  }
  // Only what should be seen.
  if (devices.separates_users && !devices.separates_users()) json.member("separate_users", false);
  json.close_object();
}

std::optional<std::string> why_agent_gone(const live::DeviceSource& devices) {
  return devices.agent_gone ? devices.agent_gone() : std::nullopt;
}

ApiError agent_gone_error(std::string why) {
  return {.status = 503, .code = "gpu_agent_gone", .message = std::move(why)};
}

std::optional<ApiError> cluster_away_error(const live::DeviceSource& devices) {
  const auto away = devices.cluster_away ? devices.cluster_away() : std::nullopt;
  if (!away) return std::nullopt;
  return ApiError{.status = 503,
                  .code = "cluster_away",
                  .message = fmt::format("the API server is away since {}: {}", away->since_wall, away->message)};
}

ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device) {
  return {.status = 409,
          .code = "not_managed",
          .message = fmt::format("{} is only observed: {}", gpu, device.why_observed.value_or(""))};
}

}  // namespace berth::api
