#include "domain/migparted/config_file.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "domain/migparted/config_map.h"
#include "domain/values/scenario.h"

namespace berth::migparted {
namespace {

constexpr std::size_t kLabelBytesMax = 200;

/// The value of a key of a map, or nothing.
const yaml::Node* find_child(const yaml::Node& node, std::string_view key) {
  const auto* map = std::get_if<yaml::Map>(&node.value);
  if (map == nullptr) return nullptr;
  const auto entry = std::ranges::find(*map, key, &yaml::Entry::key);
  return entry == map->end() ? nullptr : &entry->value;
}

bool is_list(const yaml::Node& node, std::string_view key) {
  const yaml::Node* child = find_child(node, key);
  return child != nullptr && std::holds_alternative<yaml::List>(child->value);
}

/// "0x20B210DE", or with a board's subsystem "0x20B210DE:0x134F10DE"; mig-parted accepts decimal and other bases too.
std::string read_filter(const yaml::Value& value) {
  constexpr std::string_view kAllowed = "0123456789abcdefABCDEFxX:";
  std::string text = value.text("a PCI id such as 0x20B210DE");
  if (text.empty() || text.find_first_not_of(kAllowed) != std::string::npos)
    value.refuse("a PCI id such as 0x20B210DE");
  return text;
}

std::vector<std::string> read_device_filter(const yaml::Value& value, bool is_list) {
  std::vector<std::string> filter;
  if (!value.is_present()) return filter;
  if (!is_list) {
    filter.push_back(read_filter(value));
    return filter;
  }
  for (const yaml::Value& item : value.items("a list of PCI ids")) filter.push_back(read_filter(item));
  return filter;
}

std::optional<std::vector<int>> read_devices(const yaml::Value& value, bool is_list) {
  if (!is_list) {
    if (!value.is_present() || value.is_map() || value.text("all") != "all") {
      value.refuse("all, or a list of GPU indices");
    }
    return std::nullopt;
  }
  std::vector<int> devices;
  for (const yaml::Value& item : value.items("a list of GPU indices")) {
    devices.push_back(static_cast<int>(item.whole({.min = 0, .max = kDeviceIndexMax})));
  }
  return devices;
}

/// Whether a name has the form of mig-parted's profiles: [Nc.]Ng.Mgb and attributes.
bool is_profile_name(std::string_view name) {
  constexpr std::size_t kLengthMax = 40;
  constexpr std::string_view kAllowed = "0123456789abcdefghijklmnopqrstuvwxyz.+-";
  return !name.empty() && name.size() <= kLengthMax && name.front() >= '1' && name.front() <= '9' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos && name.find("gb") != std::string_view::npos;
}

std::vector<InstanceCount> read_instances(const yaml::Value& counts) {
  std::vector<InstanceCount> instances;
  if (!counts.is_map()) {
    counts.refuse("a map from profiles to counts");
    return instances;
  }
  const std::vector<std::string> names = counts.keys();
  for (const std::string& name : names) {
    const yaml::Value value = counts.at(name);
    if (!is_profile_name(name)) value.fail("wanted a profile such as 1g.10gb, found " + in_quotes(name));
    const auto count = static_cast<int>(value.whole({.min = 0, .max = kInstanceCountMax}));
    if (count > 0) instances.push_back({name, count});
  }
  if (!names.empty() && instances.empty()) counts.fail("wanted at least one instance, found counts of 0 only");
  return instances;
}

/// `node` is the node of `value`: yaml::Value does not distinguish a list from a scalar.
ConfigEntry read_entry(const yaml::Value& value, const yaml::Node& node) {
  value.check_keys({"device-filter", "devices", "mig-enabled", "mig-devices"});
  ConfigEntry entry;
  entry.device_filter = read_device_filter(value.at("device-filter"), is_list(node, "device-filter"));
  entry.devices = read_devices(value.at("devices"), is_list(node, "devices"));
  entry.is_mig_enabled = value.at("mig-enabled").choice({"false", "true"}) == 1;
  const yaml::Value counts = value.at("mig-devices");
  if (counts.is_present() || entry.is_mig_enabled) entry.instances = read_instances(counts);
  if (!entry.is_mig_enabled && !entry.instances.empty()) counts.fail("wanted no instances, as mig-enabled is false");
  return entry;
}

std::vector<Config> read_configs(const yaml::Value& configs, const yaml::Node& node, const EntryCheck& check) {
  std::vector<Config> found;
  std::size_t entry_count = 0;
  for (const std::string& label : configs.keys()) {
    const yaml::Value list = configs.at(label);
    if (label.empty() || label.size() > kLabelBytesMax) list.fail("wanted a label of 1 to 200 bytes");
    const std::vector<yaml::Value> items = list.items("a list of at least one entry", false);
    entry_count += items.size();
    if (entry_count > kEntryCountMax) {
      list.fail("wanted at most " + std::to_string(kEntryCountMax) + " entries in the file");
    }
    if (list.has_failed()) return found;
    Config config = {.label = label, .entries = {}};
    const auto& nodes = std::get<yaml::List>(find_child(node, label)->value);
    for (std::size_t i = 0; i < items.size() && !list.has_failed(); ++i) {
      config.entries.push_back(read_entry(items[i], nodes[i]));
      if (!list.has_failed()) check(label, config.entries.back(), items[i].at("mig-devices"));
    }
    found.push_back(std::move(config));
  }
  return found;
}

/// Whether YAML certainly reads an unquoted word as text: it begins with a letter and is not a reserved word.
bool is_plain_word(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view kOthers = "0123456789.-_";
  constexpr std::size_t kReservedLengthMax = 5;  // "false"
  return text.size() > kReservedLengthMax && kLetters.find(text.front()) != std::string_view::npos &&
         std::ranges::all_of(text, [&](char c) {
           return kLetters.find(c) != std::string_view::npos || kOthers.find(c) != std::string_view::npos;
         });
}

/// A scalar for YAML: plain if that is certainly text, otherwise in double quotes.
std::string yaml_scalar(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted_text = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      quoted_text += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 15U]};
    } else {
      if (c == '"' || c == '\\') quoted_text += '\\';
      quoted_text += c;
    }
  }
  return quoted_text + "\"";
}

template <class Items, class ToText>
std::string flow_list(const Items& items, ToText to_text) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + to_text(item);
  return "[" + text + "]";
}

std::string write_entry(const ConfigEntry& entry) {
  std::string text;
  if (!entry.device_filter.empty())
    text += "device-filter: " + flow_list(entry.device_filter, yaml_scalar) + "\n      ";
  const auto index_text = [](int index) { return std::to_string(index); };
  text += "devices: " + (entry.devices ? flow_list(*entry.devices, index_text) : "all") + "\n";
  text += std::string("      mig-enabled: ") + (entry.is_mig_enabled ? "true" : "false") + "\n";
  if (!entry.is_mig_enabled) return "    - " + text;
  text += std::string("      mig-devices:") + (entry.instances.empty() ? " {}" : "") + "\n";
  for (const InstanceCount& item : entry.instances) {
    text += "        \"" + item.profile + "\": " + std::to_string(item.count) + "\n";
  }
  return "    - " + text;
}

/// 2 x 1g + 2g + 3g on seven slices, 2 x 1g + 2g on four; nothing for other numbers of slices.
std::optional<mig::Multiset> balanced(const GpuModel& model) {
  if (model.compute_slices != 7 && model.compute_slices != 4) return std::nullopt;
  mig::Multiset counts;
  for (const ProfileId id : mig::plain_rules(model).profiles) {
    const int slices = model.profiles[id.index].compute_slices;
    if (slices == 1) counts.push_back({id, 2});
    if (slices == 2 || (slices == 3 && model.compute_slices == 7)) counts.push_back({id, 1});
  }
  return counts;
}

}  // namespace

Result<std::vector<Config>> parse_config_file(std::string_view text, std::string_view file) {
  return parse_config_file(text, file, [](std::string_view, const ConfigEntry&, const yaml::Value&) {});
}

Result<std::vector<Config>> parse_config_file(std::string_view text, std::string_view file, const EntryCheck& check) {
  const auto root = read_file_root(text, file);
  if (!root) return pass_on(root.error());
  yaml::Report report(root->file);
  const yaml::Value value(root->node, report);
  value.check_keys({"version", "mig-configs"});
  static_cast<void>(value.at("version").choice({"v1"}));
  const yaml::Value configs = value.at("mig-configs");
  if (!configs.is_map() || configs.keys().empty()) configs.refuse("a map with at least one label");
  if (report.has_failed()) return pass_on(report.failure());
  std::vector<Config> found = read_configs(configs, *find_child(root->node, "mig-configs"), check);
  if (report.has_failed()) return pass_on(report.failure());
  return found;
}

std::string write_config_file(const std::vector<Config>& configs) {
  std::string text = "version: v1\nmig-configs:\n";
  for (const Config& config : configs) {
    ENSURE(!config.entries.empty());
    text += "  " + yaml_scalar(config.label) + ":\n";
    for (const ConfigEntry& entry : config.entries) text += write_entry(entry);
  }
  return text;
}

std::string label_from(std::string_view name) {
  std::string label(name);
  std::ranges::replace(label, '+', '.');
  return label;
}

std::vector<Config> generated_configs(const GpuModel& model) {
  ENSURE(model.is_mig_capable());
  std::vector<Config> configs = {{.label = "all-disabled", .entries = {ConfigEntry{}}},
                                 {.label = "all-enabled", .entries = {entry_of(model, {})}}};
  for (const ProfileId id : mig::all_rules(model).profiles) {
    const MigProfile& profile = model.profiles[id.index];
    configs.push_back(
        {.label = "all-" + label_from(profile.name), .entries = {entry_of(model, {{id, profile.instances_max}})}});
  }
  if (const auto counts = balanced(model))
    configs.push_back({.label = "all-balanced", .entries = {entry_of(model, *counts)}});
  return configs;
}

ConfigEntry entry_of(const GpuModel& model, const mig::Multiset& multiset) {
  ConfigEntry entry;
  entry.is_mig_enabled = true;
  for (const mig::ProfileCount& item : multiset) {
    if (item.profile.is_full()) return {};  // a whole GPU: MIG is off
    entry.instances.push_back({profile_name(model, item.profile), item.count});
  }
  return entry;
}

}  // namespace berth::migparted
