#include "live/folder/local_fleet.h"

#include <cstdint>
#include <string_view>

#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"

namespace berth::live {
namespace {

using json::Writer;

// ---- written

void write_profile(Writer& json, const MigProfile& profile) {
  json.open_object().member("name", profile.name).member("compute_slices", profile.compute_slices);
  json.member("length", profile.length).list("starts", profile.starts);
  json.member("instances_max", profile.instances_max);
  json.member("sms", profile.sms).member("memory_mib", profile.memory_mib);
  json.member("media", static_cast<int>(profile.media)).member("is_graphics", profile.is_graphics);
  json.member("is_double_memory", profile.is_double_memory).member("device_profile_id", profile.device_profile_id);
  json.member("nvml_enum", profile.nvml_enum).close_object();
}

void write_model(Writer& json, const GpuModel& model) {
  json.open_object().member("name", model.name).member("units", model.units);
  json.member("compute_slices", model.compute_slices).member("sms", model.sms);
  json.member("is_sms_unverified", model.is_sms_unverified).member("memory_mib", model.memory_mib);
  json.list("profiles", model.profiles, write_profile);
  json.member("has_full", model.has_full).list("notes", model.notes).close_object();
}

// ---- read

int int_at(const yaml::Value& value, std::string_view key) {
  return static_cast<int>(value.at(key).whole({.min = INT32_MIN, .max = INT32_MAX}));
}

std::string text_at(const yaml::Value& value, std::string_view key) { return value.at(key).text("a text"); }

/// Nothing if it is null; the key must be present.
std::optional<std::int64_t> whole_or_null(const yaml::Value& value) {
  if (!value.is_written()) value.refuse("a number, or null");
  return value.is_present() ? std::optional(value.whole({})) : std::nullopt;
}

MigProfile read_profile(const yaml::Value& json) {
  MigProfile profile;
  profile.name = text_at(json, "name");
  profile.compute_slices = int_at(json, "compute_slices");
  profile.length = int_at(json, "length");
  for (const yaml::Value& start : json.at("starts").items("starts")) {
    profile.starts.push_back(static_cast<int>(start.whole({.max = INT32_MAX})));
  }
  profile.instances_max = int_at(json, "instances_max");
  if (const auto sms = whole_or_null(json.at("sms"))) profile.sms = static_cast<int>(*sms);
  profile.memory_mib = whole_or_null(json.at("memory_mib"));
  profile.media = static_cast<MediaEngines>(int_at(json, "media"));
  profile.is_graphics = json.at("is_graphics").truth();
  profile.is_double_memory = json.at("is_double_memory").truth();
  profile.device_profile_id = int_at(json, "device_profile_id");
  profile.nvml_enum = text_at(json, "nvml_enum");
  return profile;
}

GpuModel read_model(const yaml::Value& json) {
  GpuModel model;
  model.name = text_at(json, "name");
  model.units = int_at(json, "units");
  model.compute_slices = int_at(json, "compute_slices");
  model.sms = int_at(json, "sms");
  model.is_sms_unverified = json.at("is_sms_unverified").truth();
  model.memory_mib = json.at("memory_mib").whole({});
  for (const yaml::Value& profile : json.at("profiles").items("profiles")) {
    model.profiles.push_back(read_profile(profile));
  }
  const yaml::Value has_full = json.at("has_full");
  model.has_full = !has_full.is_written() || has_full.truth();  // earlier versions did not write it
  for (const yaml::Value& remark : json.at("notes").items("texts")) model.notes.push_back(remark.text("a text"));
  return model;
}

}  // namespace

std::string fleet_json(const std::vector<device::LocalGpu>& gpus) {
  Writer json;
  json.open_object().list("gpus", gpus, [](Writer& to, const device::LocalGpu& gpu) {
    to.open_object().member("uuid", gpu.uuid).member("name", gpu.name).member("pci_bus_id", gpu.pci_bus_id);
    write_model(to.key("model"), gpu.model);
    to.close_object();
  });
  return json.close_object().take();
}

Result<std::vector<device::LocalGpu>> read_fleet_json(const std::string& text) {
  const auto wrong = [] { return fail(ErrorCode::kUnavailable, "the recorded fleet is not what this version writes"); };
  const auto tree = json::parse_document(text, "fleet", json::kNoLimits);
  if (!tree) return wrong();
  yaml::Report report("fleet");
  std::vector<device::LocalGpu> gpus;
  for (const yaml::Value& gpu : yaml::Value(*tree, report).at("gpus").items("GPUs")) {
    gpus.push_back({.uuid = text_at(gpu, "uuid"),
                    .name = text_at(gpu, "name"),
                    .pci_bus_id = text_at(gpu, "pci_bus_id"),
                    .model = read_model(gpu.at("model")),
                    .differences = {}});
  }
  if (report.has_failed()) return wrong();
  return gpus;
}

}  // namespace berth::live
