#include "surface/api/device_json.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

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

}  // namespace

void put_load(Writer& json, const live::DeviceSource& devices) {
  json.member("load", devices.knows_load() ? std::optional("simulated") : std::nullopt);
}

void put_device(Writer& json, const live::DeviceView& device) {
  json.member("uuid", device.uuid).member("pci_bus_id", device.pci_bus_id);
  json.member("managed", !device.why_observed.has_value()).member("managed_reason", device.why_observed);
  put_mig(json, device);
  json.member("recovery_action", device.recovery_action).list("differences", device.differences);
  json.list("times", device.times, write_time);
}

void put_device_slice(Writer& json, const live::DeviceSliceView& slice) {
  json.member("uuid", slice.uuid).member("memory_mib", slice.memory_mib);
}

void write_library(Writer& json, const live::DeviceLibraryView& library) {
  json.open_object().member("library", library.path).member("version", library.version);
  json.member("driver", library.driver).member("gpus", library.gpu_count).member("reason", library.reason);
  json.close_object();
}

ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device) {
  return {.status = 409,
          .code = "not_managed",
          .message = fmt::format("{} is only observed: {}", gpu, device.why_observed.value_or(""))};
}

}  // namespace berth::api
