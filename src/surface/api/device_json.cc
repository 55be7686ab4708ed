#include "surface/api/device_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json/text.h"

namespace berth::api {
namespace {

using Json = nlohmann::ordered_json;

Json mode_or_null(const std::optional<bool>& is_on) {
  if (!is_on) return nullptr;
  return *is_on ? "enabled" : "disabled";
}

}  // namespace

Json load_json(const live::DeviceSource& devices) { return devices.knows_load() ? Json("simulated") : Json(nullptr); }

void add_device(Json& status, const live::DeviceView& device) {
  status["uuid"] = device.uuid;
  status["pci_bus_id"] = json::or_null(device.pci_bus_id);
  status["managed"] = !device.why_observed.has_value();
  status["managed_reason"] = json::or_null(device.why_observed);
  status["mig"] = device.is_mig_on ? Json{{"current", mode_or_null(device.is_mig_on)},
                                          {"pending", mode_or_null(device.is_mig_pending_on)}}
                                   : Json(nullptr);
  status["recovery_action"] = json::or_null(device.recovery_action);
  status["differences"] = device.differences;
  status["times"] = Json::array();
  for (const live::DeviceTimeView& time : device.times) {
    status["times"].push_back({{"profile", time.profile},
                               {"action", time.is_creation ? "create" : "destroy"},
                               {"assumed_seconds", time.assumed_seconds},
                               {"measured_seconds", time.measured_seconds},
                               {"planned_seconds", time.planned_seconds},
                               {"count", time.count}});
  }
}

void add_device_slice(Json& status, const live::DeviceSliceView& slice) {
  status["uuid"] = json::or_null(slice.uuid);
  status["memory_mib"] = json::or_null(slice.memory_mib);
}

Json library_json(const live::DeviceLibraryView& library) {
  return {{"library", json::or_null(library.path)},
          {"version", json::or_null(library.version)},
          {"driver", json::or_null(library.driver)},
          {"gpus", library.gpu_count},
          {"reason", json::or_null(library.reason)}};
}

ApiError not_managed_error(const std::string& gpu, const live::DeviceView& device) {
  return {.status = 409,
          .code = "not_managed",
          .message = fmt::format("{} is only observed: {}", gpu, device.why_observed.value_or(""))};
}

}  // namespace berth::api
