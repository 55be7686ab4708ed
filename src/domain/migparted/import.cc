#include "domain/migparted/import.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/core/text.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/other_names.h"

namespace berth::migparted {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// "1c.3g.20gb".
bool is_compute_instance(std::string_view name) { return name.substr(1).starts_with("c."); }

bool has_compute_instances(const ConfigEntry& entry) {
  return std::ranges::any_of(entry.instances, is_compute_instance, &InstanceCount::profile);
}

/// The labels of a file, at most a dozen.
std::string labels_of(const std::vector<Config>& configs) {
  constexpr std::size_t kShownMax = 12;
  std::vector<std::string> labels(std::min(configs.size(), kShownMax));
  std::ranges::transform(configs.begin(), configs.begin() + std::ssize(labels), labels.begin(), &Config::label);
  return join(labels) + (configs.size() > kShownMax ? ", ..." : "");
}

/// "0x20B210DE" -> 0x20B2: the device is in the upper half, NVIDIA's vendor id in the lower.
std::optional<std::uint16_t> device_of(std::string_view filter) {
  filter = filter.substr(0, filter.find(':'));
  if (!filter.starts_with("0x") && !filter.starts_with("0X")) return std::nullopt;
  filter.remove_prefix(2);
  std::uint32_t packed = 0;
  const auto [end, error] = std::from_chars(filter.data(), filter.data() + filter.size(), packed, 16);
  if (error != std::errc() || end != filter.data() + filter.size()) return std::nullopt;
  return static_cast<std::uint16_t>(packed >> 16U);
}

/// The entry's counts in terms of the model's profiles; nothing if it does not have one of them. Two names of one
/// profile count together.
std::optional<mig::Multiset> multiset_on(const GpuModel& model, const ConfigEntry& entry) {
  std::map<ProfileId, int> counts;
  for (const InstanceCount& item : entry.instances) {
    const auto profile = mig::find_profile_by_any_name(model, item.profile);
    if (!profile || profile->is_full()) return std::nullopt;
    counts[*profile] += item.count;
  }
  mig::Multiset wanted;
  for (const auto& [profile, count] : counts) wanted.push_back({profile, count});
  return wanted;
}

/// The GPUs that have a profile of that name, also those whose placements are not known.
std::vector<std::string> owners_of(std::string_view profile) {
  std::vector<std::string> owners = mig::gpus_with_profile(profile);
  for (const GpuModel& model : mig::gpu_models()) {
    const bool is_listed = std::ranges::find(owners, model.name) != owners.end();
    if (!is_listed && mig::find_profile_by_any_name(model, profile)) owners.push_back(model.name);
  }
  return owners;
}

std::vector<std::string> names_of(const std::vector<GpuModel>& models) {
  std::vector<std::string> names;
  for (const GpuModel& model : models) names.push_back(model.name);
  return names;
}

/// The GPUs of a filter whose placements are not known.
std::vector<std::string> gpus_known_by_name(const std::vector<std::string>& device_filter) {
  std::vector<std::string> names;
  for (const std::string& filter : device_filter) {
    const auto device = device_of(filter);
    const auto name = device ? mig::gpu_known_by_name(*device) : std::nullopt;
    if (name && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
  }
  return names;
}

/// Places the entries of one file as they are read.
class Importer {
 public:
  explicit Importer(const ImportOptions& options) : options_(options) {}

  void see(std::string_view label, const ConfigEntry& entry, const yaml::Value& counts) {
    if (!options_.label.empty() && options_.label != label) return;
    if (configs_.empty() || configs_.back().label != label) configs_.push_back({std::string(label), {}});
    configs_.back().entries.push_back(place(entry, counts));
  }

  [[nodiscard]] std::vector<PlacedConfig> take() { return std::move(configs_); }

 private:
  PlacedEntry place(const ConfigEntry& entry, const yaml::Value& counts) const {
    PlacedEntry placed = {.entry = entry, .layouts = {}, .is_for_other_gpus = false};
    if (options_.gpu && !is_selected(entry.device_filter, *options_.gpu)) {
      placed.is_for_other_gpus = true;
      return placed;
    }
    if (!entry.is_mig_enabled || (entry.instances.empty() && !options_.gpu)) return placed;
    const std::vector<GpuModel> models = candidates(entry);
    bool has_profiles = false;
    for (const GpuModel& model : models) {
      const auto wanted = multiset_on(model, entry);
      if (!wanted) continue;
      has_profiles = true;
      if (auto state = mig::place_multiset(model, *wanted)) placed.layouts.push_back({model, std::move(*state)});
    }
    if (!has_profiles && options_.skips_other_gpus && may_be_for_others(entry, models)) {
      placed.is_for_other_gpus = true;
    } else if (!has_profiles) {
      refuse_profiles(entry, models, counts);
    } else if (placed.layouts.empty()) {
      counts.fail(cannot_exist(entry, models));
    }
    return placed;
  }

  [[nodiscard]] std::vector<GpuModel> candidates(const ConfigEntry& entry) const {
    if (options_.gpu) return {*options_.gpu};
    std::vector<GpuModel> models;
    for (const GpuModel& model : mig::gpu_models()) {
      if (model.is_mig_capable() && is_selected(entry.device_filter, model)) models.push_back(model);
    }
    return models;
  }

  /// Whether an entry whose profiles none of the models has can be meant for other GPUs.
  static bool may_be_for_others(const ConfigEntry& entry, const std::vector<GpuModel>& models) {
    return (entry.device_filter.empty() || models.empty()) && !has_compute_instances(entry);
  }

  /// Refuses the first profile that none of the models has, at its position.
  void refuse_profiles(const ConfigEntry& entry, const std::vector<GpuModel>& models, const yaml::Value& counts) const {
    const std::string_view hint = may_be_for_others(entry, models) ? options_.skip_hint : "";
    const auto refuse = [&](const yaml::Value& at, const std::string& message) {
      at.fail(message + std::string(hint));
    };
    if (models.empty()) return refuse(counts, unknown_devices(entry.device_filter));
    for (const InstanceCount& item : entry.instances) {
      const auto has_profile = [&item](const GpuModel& model) {
        return mig::find_profile_by_any_name(model, item.profile).has_value();
      };
      if (std::ranges::none_of(models, has_profile)) {
        return refuse(counts.at(item.profile),
                      entry.device_filter.empty() ? unknown_profile(item.profile) : misfit(item.profile, models));
      }
    }
    // Each one belongs to some GPU, but no GPU has them all.
    refuse(counts, "wanted the profiles of one GPU, found profiles that no " +
                       std::string(entry.device_filter.empty() ? "known GPU" : "GPU of the device filter") +
                       " has together");
  }

  static std::string unknown_devices(const std::vector<std::string>& device_filter) {
    const std::vector<std::string> names = gpus_known_by_name(device_filter);
    return "the device filter names no GPU whose placements are known" + (names.empty() ? "" : ", only " + join(names));
  }

  [[nodiscard]] std::string unknown_profile(std::string_view name) const {
    const std::vector<std::string> owners = owners_of(name);
    const std::string found = ", found " + in_quotes(name);
    if (is_compute_instance(name)) return wrong_kind(name);
    if (owners.empty()) return "wanted a profile of " + (options_.gpu ? options_.gpu->name : "a known GPU") + found;
    if (!options_.gpu) return "wanted a GPU whose placements are known" + found + " of " + join(owners);
    return "wanted a profile of " + options_.gpu->name + found + " of " + join(owners);
  }

  /// Of an entry whose filter names GPUs that do not have the profile.
  static std::string misfit(std::string_view name, const std::vector<GpuModel>& models) {
    if (is_compute_instance(name)) return wrong_kind(name);
    std::vector<std::string> profiles;
    for (const MigProfile& profile : models.front().profiles) profiles.push_back(profile.name);
    const std::vector<std::string> owners = owners_of(name);
    return "wanted a profile of " + join(names_of(models)) + ", which the device filter names" +
           (models.size() == 1 ? " (" + join(profiles) + ")" : "") + ", found " + in_quotes(name) +
           (owners.empty() ? "" : " of " + join(owners));
  }

  static std::string wrong_kind(std::string_view name) {
    return "wanted whole GPU instances, found " + in_quotes(name) + ", which is a compute instance";
  }

  [[nodiscard]] std::string cannot_exist(const ConfigEntry& entry, const std::vector<GpuModel>& models) const {
    std::string gpus = "a known GPU";
    if (options_.gpu) gpus = "a " + options_.gpu->name;
    if (!options_.gpu && !entry.device_filter.empty()) {
      gpus = (models.size() == 1 ? "a " : "one of ") + join(names_of(models));
    }
    return "wanted instances that can exist together on " + gpus + ", found a set that has no placement";
  }

  const ImportOptions& options_;
  std::vector<PlacedConfig> configs_;
};

}  // namespace

Result<std::vector<PlacedConfig>> import_config_file(std::string_view text, std::string_view file,
                                                     const ImportOptions& options) {
  Importer importer(options);
  const auto configs = parse_config_file(
      text, file, [&importer](std::string_view label, const ConfigEntry& entry, const yaml::Value& counts) {
        importer.see(label, entry, counts);
      });
  if (!configs) return pass_on(configs.error());
  std::vector<PlacedConfig> placed = importer.take();
  if (!placed.empty()) return placed;
  return fail(ErrorCode::kNotFound,
              std::string(file) + ": wanted the label " + in_quotes(options.label) + ", found " + labels_of(*configs));
}

bool is_selected(const std::vector<std::string>& device_filter, const GpuModel& model) {
  if (device_filter.empty()) return true;
  const std::vector<std::uint16_t> ids = mig::pci_device_ids(model.name);
  return std::ranges::any_of(device_filter, [&ids](const std::string& filter) {
    const auto device = device_of(filter);
    return device && std::ranges::find(ids, *device) != ids.end();
  });
}

}  // namespace berth::migparted
