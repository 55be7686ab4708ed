#include "surface/cli/mig/migparted_report.h"

#include <fmt/format.h>

#include <optional>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "domain/migparted/config_file.h"
#include "domain/migparted/import.h"
#include "surface/cli/mig/mig_text.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using json::Writer;

double fragmentation_of(const migparted::PlacedLayout& layout) {
  return mig::fragmentation(layout.gpu, layout.state, mig::plain_rules(layout.gpu));
}

void write_layout(Writer& json, const migparted::PlacedLayout& layout) {
  write_state(json.open_object().member("gpu", layout.gpu.name).key("state"), layout.gpu, layout.state);
  json.member("fragmentation", fragmentation_of(layout)).close_object();
}

void write_entry(Writer& json, const migparted::PlacedEntry& placed) {
  const auto& devices = placed.entry.devices;
  json.open_object().key("devices");
  devices ? json.list(*devices) : json.value("all");
  json.list("device_filter", placed.entry.device_filter).member("mig_enabled", placed.entry.is_mig_enabled);
  json.member("is_for_other_gpus", placed.is_for_other_gpus).list("layouts", placed.layouts, write_layout);
  json.close_object();
}

std::string import_json(const MigImportOptions& options, const std::optional<GpuModel>& gpu,
                        const std::vector<migparted::PlacedConfig>& configs) {
  Writer json;
  json.open_object().member("file", options.path).member("gpu", gpu ? std::optional(gpu->name) : std::nullopt);
  json.list("configs", configs, [](Writer& to, const migparted::PlacedConfig& config) {
    to.open_object().member("label", config.label).list("entries", config.entries, write_entry).close_object();
  });
  return json.close_object().take_line();
}

std::string devices_text(const migparted::ConfigEntry& entry) {
  if (!entry.devices) return "all";
  std::string text;
  for (const int index : *entry.devices) text += (text.empty() ? "" : ",") + std::to_string(index);
  return text.empty() ? "none" : text;
}

/// The rows of an import: one for each layout, or one with the reason for its absence.
struct ImportRows {
  std::vector<std::vector<std::string>> rows = {{"label", "devices", "GPU", "units"}};
  std::vector<std::string> texts = {"layout"};

  void add(std::vector<std::string> row, std::string text) {
    rows.push_back(std::move(row));
    texts.push_back(std::move(text));
  }
};

void add_entry(ImportRows& table, const std::string& label, const migparted::PlacedEntry& placed) {
  const std::string devices = devices_text(placed.entry);
  if (placed.is_for_other_gpus) return table.add({label, devices, "", ""}, "for other GPUs");
  if (!placed.entry.is_mig_enabled) return table.add({label, devices, "", ""}, "MIG is off");
  if (placed.layouts.empty()) return table.add({label, devices, "", ""}, "no instances");
  for (const migparted::PlacedLayout& layout : placed.layouts) {
    const std::string state = mig::to_string(layout.gpu, layout.state);
    table.add({label, devices, layout.gpu.name, unit_strip(layout.gpu, layout.state)},
              state.empty() ? "no instances" : state);
  }
}

std::string import_table(const std::vector<migparted::PlacedConfig>& configs) {
  ImportRows table;
  for (const migparted::PlacedConfig& config : configs) {
    // A label is the user's text: unusual ones are quoted, so that no control byte reaches the terminal.
    std::string label = in_quotes(config.label);
    if (label == "\"" + config.label + "\"") label = config.label;
    for (const migparted::PlacedEntry& entry : config.entries) add_entry(table, label, entry);
  }
  return with_last_column(table.rows, table.texts);
}

/// A label in the form of a Kubernetes node label: 1 to 63 letters, digits, dots, dashes and underscores.
Result<std::string> label_of(const std::string& name) {
  constexpr std::size_t kLengthMax = 63;
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  std::string label = migparted::label_from(name);
  if (label.empty() || label.size() > kLengthMax || label.find_first_not_of(kAllowed) != std::string::npos) {
    return invalid("--name: wanted 1 to 63 letters, digits, dots, dashes and underscores, found " + in_quotes(name));
  }
  return label;
}

}  // namespace

Result<std::string> mig_import_report(const MigImportOptions& options, const Files& files) {
  migparted::ImportOptions import;
  import.label = options.label;
  import.skips_other_gpus = options.skips_other_gpus;
  import.skip_hint = "; --skip-other-gpus leaves such entries out";
  if (!options.gpu.empty()) {
    const auto model = gpu_option(options.gpu);
    if (!model) return pass_on(model.error());
    import.gpu = *model;
  }
  const auto text = files.read(options.path);
  if (!text) return pass_on(text.error());
  const auto configs = migparted::import_config_file(*text, options.path, import);
  if (!configs) return pass_on(configs.error());
  return options.format == OutputFormat::kJson ? import_json(options, import.gpu, *configs) : import_table(*configs);
}

Result<std::string> mig_export_report(const MigExportOptions& options) {
  const auto model = gpu_option(options.gpu);
  if (!model) return pass_on(model.error());
  if (!model->is_mig_capable())
    return invalid("--gpu: wanted a GPU with MIG, found " + model->name + ", which does not support MIG");
  if (options.has_all_labels) {
    return "# Labels of " + model->name + "\n" + migparted::write_config_file(migparted::generated_configs(*model));
  }
  const auto state = mig::parse_state(*model, options.state);
  if (!state) return invalid("--" + state.error().message);
  const auto label = label_of(options.label);
  if (!label) return pass_on(label.error());
  const migparted::ConfigEntry entry = migparted::entry_of(*model, mig::multiset_of(*state));
  return "# " + model->name + ": " + (state->empty() ? "no instances" : mig::to_string(*model, *state)) +
         " (mig-parted keeps the counts, not the places)\n" + migparted::write_config_file({{*label, {entry}}});
}

}  // namespace berth::cli
