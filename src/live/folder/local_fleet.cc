#include "live/folder/local_fleet.h"

#include <nlohmann/json.hpp>

#include "base/json/text.h"

namespace berth::live {
namespace {

using Json = nlohmann::ordered_json;

Json fleet_json_of(const MigProfile& profile) {
  return {{"name", profile.name},
          {"compute_slices", profile.compute_slices},
          {"length", profile.length},
          {"starts", profile.starts},
          {"instances_max", profile.instances_max},
          {"sms", json::or_null(profile.sms)},
          {"memory_mib", json::or_null(profile.memory_mib)},
          {"media", static_cast<int>(profile.media)},
          {"is_graphics", profile.is_graphics},
          {"is_double_memory", profile.is_double_memory},
          {"device_profile_id", profile.device_profile_id},
          {"nvml_enum", profile.nvml_enum}};
}

template <class Value>
std::optional<Value> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<Value>());
}

MigProfile profile_of(const Json& json) {
  MigProfile profile;
  profile.name = json.at("name").get<std::string>();
  profile.compute_slices = json.at("compute_slices").get<int>();
  profile.length = json.at("length").get<int>();
  profile.starts = json.at("starts").get<std::vector<int>>();
  profile.instances_max = json.at("instances_max").get<int>();
  profile.sms = optional_of<int>(json.at("sms"));
  profile.memory_mib = optional_of<std::int64_t>(json.at("memory_mib"));
  profile.media = static_cast<MediaEngines>(json.at("media").get<int>());
  profile.is_graphics = json.at("is_graphics").get<bool>();
  profile.is_double_memory = json.at("is_double_memory").get<bool>();
  profile.device_profile_id = json.at("device_profile_id").get<int>();
  profile.nvml_enum = json.at("nvml_enum").get<std::string>();
  return profile;
}

Json fleet_json_of(const GpuModel& model) {
  Json profiles = Json::array();
  for (const MigProfile& profile : model.profiles) profiles.push_back(fleet_json_of(profile));
  return {{"name", model.name},
          {"units", model.units},
          {"compute_slices", model.compute_slices},
          {"sms", model.sms},
          {"is_sms_unverified", model.is_sms_unverified},
          {"memory_mib", model.memory_mib},
          {"profiles", std::move(profiles)},
          {"has_full", model.has_full},
          {"notes", model.notes}};
}

GpuModel model_of(const Json& json) {
  GpuModel model;
  model.name = json.at("name").get<std::string>();
  model.units = json.at("units").get<int>();
  model.compute_slices = json.at("compute_slices").get<int>();
  model.sms = json.at("sms").get<int>();
  model.is_sms_unverified = json.at("is_sms_unverified").get<bool>();
  model.memory_mib = json.at("memory_mib").get<std::int64_t>();
  for (const Json& profile : json.at("profiles")) model.profiles.push_back(profile_of(profile));
  model.has_full = json.value("has_full", true);  // earlier versions did not know it
  model.notes = json.at("notes").get<std::vector<std::string>>();
  return model;
}

}  // namespace

std::string fleet_json(const std::vector<device::LocalGpu>& gpus) {
  Json fleet = Json::array();
  for (const device::LocalGpu& gpu : gpus) {
    fleet.push_back(
        {{"uuid", gpu.uuid}, {"name", gpu.name}, {"pci_bus_id", gpu.pci_bus_id}, {"model", fleet_json_of(gpu.model)}});
  }
  return Json{{"gpus", std::move(fleet)}}.dump();
}

Result<std::vector<device::LocalGpu>> read_fleet_json(const std::string& text) {
  try {
    std::vector<device::LocalGpu> gpus;
    const Json root = Json::parse(text);
    for (const Json& json : root.at("gpus")) {
      gpus.push_back({.uuid = json.at("uuid").get<std::string>(),
                      .name = json.at("name").get<std::string>(),
                      .pci_bus_id = json.at("pci_bus_id").get<std::string>(),
                      .model = model_of(json.at("model")),
                      .differences = {}});
    }
    return gpus;
  } catch (const Json::exception&) {
    return fail(ErrorCode::kUnavailable, "the recorded fleet is not what this version writes");
  }
}

}  // namespace berth::live
