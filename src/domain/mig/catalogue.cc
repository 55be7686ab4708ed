#include "domain/mig/catalogue.h"

#include <algorithm>
#include <string>

#include "base/core/text.h"
#include "domain/mig/detail/device_tables.h"
#include "domain/mig/detail/field_names.h"

namespace berth::mig {
namespace {

constexpr std::int64_t kMibPerGib = 1024;

/// A name of two boards, and the one that is meant.
constexpr std::string_view kH100Name = "H100-80GB";
constexpr std::string_view kH100Meant = "H100-80GB-SXM5";

constexpr detail::FieldName kProfileFields[] = {
    {detail::kStarts, "starts"},
    {detail::kLength, "length"},
    {detail::kSms, "sms"},
    {detail::kMemory, "memory_mib"},
    {detail::kCopyEngines, "copy_engines"},
    {detail::kDecoders, "decoders"},
    {detail::kJpeg, "jpeg"},
};

MediaEngines media_of(std::string_view name) {
  if (name.ends_with("+me.all")) return MediaEngines::kAll;
  if (name.ends_with("+me")) return MediaEngines::kExtended;
  if (name.ends_with("-me")) return MediaEngines::kNone;
  return MediaEngines::kOwnShare;
}

MigProfile profile_from(const detail::ProfileRow& row) {
  MigProfile profile;
  profile.name = row.name;
  profile.compute_slices = row.compute_slices;
  profile.length = row.shape->length;
  profile.starts.assign(row.shape->starts.begin(), row.shape->starts.end());
  profile.instances_max = row.instances_max;
  if (row.sms != detail::kUnknown) profile.sms = row.sms;
  if (row.centigib != detail::kUnknown) profile.memory_mib = (row.centigib * kMibPerGib + 50) / 100;
  profile.media = media_of(profile.name);
  profile.is_graphics = profile.name.ends_with("+gfx");
  profile.is_double_memory = std::string_view(row.nvml_enum) == "1_SLICE_REV2";
  profile.device_profile_id = row.device_profile_id;
  profile.nvml_enum = row.nvml_enum;
  profile.unverified = detail::names_of(row.unverified, kProfileFields);
  return profile;
}

GpuModel model_from(const detail::DeviceRow& row) {
  GpuModel model;
  model.name = row.name;
  model.units = row.units;
  model.compute_slices = row.compute_slices;
  model.sms = row.sms;
  model.is_sms_unverified = row.is_sms_unverified;
  model.memory_mib = row.gigabytes * kMibPerGib;
  for (const detail::ProfileRow& profile : row.profiles) model.profiles.push_back(profile_from(profile));
  model.notes.assign(row.notes.begin(), row.notes.end());
  return model;
}

std::vector<GpuModel> build_models() {
  std::vector<GpuModel> models;
  for (const detail::DeviceRow& row : detail::device_rows()) models.push_back(model_from(row));
  return models;
}

/// The model, known by name only, that a user means: exactly, or by a prefix of at least four letters ("GB300").
const detail::NamedDeviceRow* find_named_device(std::string_view name) {
  constexpr std::size_t kPrefixMin = 4;
  for (const detail::NamedDeviceRow& row : detail::named_device_rows()) {
    const std::string_view full_name = row.name;
    if (full_name == name || (name.size() >= kPrefixMin && full_name.starts_with(name))) return &row;
  }
  return nullptr;
}

std::string list_of(const std::vector<const GpuModel*>& models) {
  std::string text;
  for (const GpuModel* model : models) text += (text.empty() ? "" : ", ") + model->name;
  return text;
}

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  static const std::vector<GpuModel> models = build_models();
  return models;
}

Result<GpuModel> find_gpu_model(std::string_view name) {
  if (name == kH100Name) name = kH100Meant;
  std::vector<const GpuModel*> all;
  std::vector<const GpuModel*> candidates;
  for (const GpuModel& model : gpu_models()) {
    if (model.name == name) return model;
    all.push_back(&model);
    if (!name.empty() && model.name.starts_with(name)) candidates.push_back(&model);
  }
  // Before the prefixes: "H20" is a different GPU, not short for H200.
  const detail::NamedDeviceRow* named = find_named_device(name);
  if (named != nullptr && (candidates.empty() || named->name == name)) {
    return invalid("GPU " + std::string(named->name) +
                   " is known by name only: no source states where its instances can be placed");
  }
  if (candidates.size() == 1) return *candidates.front();
  // "L4" is L4-24GB, though L40S-48GB begins with it, too.
  const auto is_whole_word = [&](const GpuModel* model) { return model->name.substr(name.size()).starts_with('-'); };
  if (std::ranges::count_if(candidates, is_whole_word) == 1) return **std::ranges::find_if(candidates, is_whole_word);
  if (candidates.size() > 1) {
    return invalid("wanted one GPU, found " + in_quotes(name) + ", which begins the names of " + list_of(candidates));
  }
  return invalid("wanted a GPU, found " + in_quotes(name) + "; known are " + list_of(all));
}

std::optional<std::string> gpu_name_remark(std::string_view name) {
  if (name != kH100Name) return std::nullopt;
  return in_quotes(name) + " is taken as " + std::string(kH100Meant) + "; the other board is H100-80GB-PCIe";
}

std::optional<ProfileId> find_profile(const GpuModel& model, std::string_view name) {
  if (name == kFullProfileName) return ProfileId::full();
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    if (model.profiles[i].name == name) return ProfileId{static_cast<std::uint16_t>(i)};
  }
  return std::nullopt;
}

std::vector<std::uint16_t> pci_device_ids(std::string_view model_name) {
  for (const detail::DeviceRow& row : detail::device_rows()) {
    if (row.name == model_name) return {row.pci_device_ids.begin(), row.pci_device_ids.end()};
  }
  return {};
}

std::vector<std::string> gpus_with_profile(std::string_view profile_name) {
  std::vector<std::string> names;
  for (const GpuModel& model : gpu_models()) {
    if (profile_name != kFullProfileName && find_profile(model, profile_name)) names.push_back(model.name);
  }
  for (const detail::NamedDeviceRow& row : detail::named_device_rows()) {
    if (std::ranges::find(row.profiles, profile_name) != row.profiles.end()) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace berth::mig
