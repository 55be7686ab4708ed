#include "surface/cli/mig/mig_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "domain/mig/catalogue.h"
#include "domain/mig/compute_instance.h"
#include "domain/mig/geometry.h"
#include "domain/mig/multiset.h"
#include "domain/mig/other_names.h"
#include "domain/values/scenario.h"
#include "surface/cli/mig/mig_text.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using json::Writer;

/// The meaning of the marks in a table, if it has any.
std::string legend_of(std::string_view table) {
  if (table.find_first_of("?~") == std::string_view::npos) return "";
  return "\n? marks what no primary source confirms; ~ an estimate from the compute slices.\n";
}

bool is_unverified(const MigProfile& profile, std::string_view field) {
  return std::ranges::find(profile.unverified, field) != profile.unverified.end();
}

/// The text, with a question mark if the field is unverified.
std::string marked(const MigProfile& profile, std::string_view field, const std::string& text) {
  return is_unverified(profile, field) ? text + "?" : text;
}

std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

/// The names of profiles whose placements are copied from a related GPU model.
std::vector<std::string> unverified_places(const GpuModel& model, const mig::Rules& rules) {
  std::vector<std::string> names;
  for (const ProfileId id : rules.profiles) {
    if (is_unverified(model.profiles[id.index], "starts")) names.push_back(model.profiles[id.index].name);
  }
  return names;
}

// profiles

void write_compute_profile(Writer& json, const mig::ComputeProfile& profile) {
  json.open_object().member("profile", profile.name).member("slices", profile.slices);
  json.member("max", profile.instances_max).member("sms", profile.sms);
  json.member("is_unverified", profile.is_unverified).close_object();
}

const char* media_name(MediaEngines media) {
  switch (media) {
    case MediaEngines::kOwnShare:
      return "own-share";
    case MediaEngines::kExtended:
      return "extended";
    case MediaEngines::kAll:
      return "all";
    case MediaEngines::kNone:
      return "none";
  }
  return "";
}

void write_profile(Writer& json, const GpuModel& model, ProfileId id) {
  const MigProfile& profile = model.profiles[id.index];
  json.open_object().member("profile", profile.name).member("length", profile.length).list("starts", profile.starts);
  json.member("max", profile.instances_max).member("sms", profile.sms).member("memory_mib", profile.memory_mib);
  json.list("unverified", profile.unverified);
  json.member("sms_estimate", profile.sms ? std::nullopt : std::optional(profile_sms(model, id)));
  json.member("compute_slices", profile.compute_slices).member("is_plain", profile.is_plain());
  json.member("media", media_name(profile.media)).member("is_graphics", profile.is_graphics);
  json.member("device_profile_id", profile.device_profile_id).member("nvml_profile", profile.nvml_enum);
  json.list("compute_instances", mig::compute_profiles(model, id), write_compute_profile).close_object();
}

std::string profiles_json(const GpuModel& model) {
  Writer json;
  json.open_object().member("gpu", model.name).member("units", model.units);
  json.list("profiles", mig::all_rules(model).profiles,
            [&](Writer& to, ProfileId id) { write_profile(to, model, id); });
  json.open_object("full").member("sms", model.sms).member("memory_mib", model.memory_mib).open_list("unverified");
  if (model.is_sms_unverified) json.value("sms");
  json.close_list().close_object().member("compute_slices", model.compute_slices);
  return json.list("notes", model.notes).close_object().take_line();
}

std::string compute_instances_text(const GpuModel& model, ProfileId id) {
  std::string text;
  for (const mig::ComputeProfile& part : mig::compute_profiles(model, id)) {
    if (part.slices == model.profiles[id.index].compute_slices) continue;
    text += fmt::format("{}{}c x{}{}", text.empty() ? "" : " ", part.slices, part.instances_max,
                        part.is_unverified ? "?" : "");
  }
  return text;
}

std::vector<std::string> profile_row(const GpuModel& model, ProfileId id) {
  const MigProfile& profile = model.profiles[id.index];
  const std::string sms = profile.sms ? std::to_string(*profile.sms) : fmt::format("~{}", profile_sms(model, id));
  const std::string memory = profile.memory_mib ? std::to_string(*profile.memory_mib) : "";
  return {profile.name,
          marked(profile, "length", std::to_string(profile.length)),
          marked(profile, "starts", list_of(profile.starts)),
          std::to_string(profile.instances_max),
          marked(profile, "sms", sms),
          marked(profile, "memory_mib", memory)};
}

std::string profiles_table(const GpuModel& model) {
  const std::string sms = fmt::format("{}{} SMs", model.sms, model.is_sms_unverified ? "?" : "");
  std::string text = fmt::format("{}: {}, {} MiB of memory", model.name, sms, model.memory_mib);
  if (!model.is_mig_capable()) {
    text += ". It does not support MIG: its only profile is full, the whole GPU.\n";
  } else {
    text += fmt::format(", {} placement units, {} compute slices\n\n", model.units, model.compute_slices);
    std::vector<std::vector<std::string>> rows = {{"profile", "units", "starts", "max", "SMs", "memory MiB"}};
    std::vector<std::string> parts = {"smaller compute instances"};
    for (const ProfileId id : mig::all_rules(model).profiles) {
      rows.push_back(profile_row(model, id));
      parts.push_back(compute_instances_text(model, id));
    }
    const std::string table = with_last_column(rows, parts);
    text += table + legend_of(table);
  }
  text += "\nNotes\n";
  for (const std::string& note : model.notes) text += "  " + note + "\n";
  return text;
}

// layouts and fits

Result<mig::Rules> rules_of(const GpuModel& model, const MigRulesOptions& options) {
  if (options.is_before_r510 && !model.name.starts_with("A100")) {
    return invalid("--before-r510: wanted an A100, found " + model.name +
                   ": the rule is about drivers of the A100 only");
  }
  mig::Rules rules = options.has_all_profiles ? mig::all_rules(model) : mig::plain_rules(model);
  if (!options.profiles.empty()) {
    std::set<ProfileId> chosen;
    for (const std::string& name : options.profiles) {
      const auto profile = mig::find_profile_by_any_name(model, name);
      if (!profile || profile->is_full()) {
        return invalid("--profiles: wanted profiles of " + model.name + " (see berth mig profiles), found " +
                       in_quotes(name));
      }
      chosen.insert(*profile);
    }
    rules.profiles.assign(chosen.begin(), chosen.end());
  }
  rules.is_before_r510 = options.is_before_r510;
  return rules;
}

std::vector<std::string> names_of(const GpuModel& model, const mig::Rules& rules) {
  std::vector<std::string> names(rules.profiles.size());
  std::ranges::transform(rules.profiles, names.begin(), [&model](ProfileId id) { return profile_name(model, id); });
  return names;
}

/// The counts of an enumeration.
struct LayoutCounts {
  std::size_t states = 0;
  std::size_t multisets = 0;
  std::size_t unit_masks = 0;
  std::size_t maximal_multisets = 0;
};

LayoutCounts count_states(const GpuModel& model, const mig::Rules& rules, const std::vector<mig::State>& maximal) {
  LayoutCounts counts;
  std::set<mig::Multiset> multisets;
  std::set<std::uint32_t> unit_masks;
  mig::for_each_state(model, rules, [&](const mig::State& state) {
    ++counts.states;
    multisets.insert(mig::multiset_of(state));
    unit_masks.insert(mig::occupied_units(model, state));
  });
  std::set<mig::Multiset> maximal_multisets;
  for (const mig::State& layout : maximal) maximal_multisets.insert(mig::multiset_of(layout));
  counts.multisets = multisets.size();
  counts.unit_masks = unit_masks.size();
  counts.maximal_multisets = maximal_multisets.size();
  return counts;
}

std::string layouts_json(const GpuModel& model, const mig::Rules& rules, const std::vector<mig::State>& maximal) {
  const LayoutCounts counts = count_states(model, rules, maximal);
  Writer json;
  json.open_object().member("gpu", model.name).member("units", model.units);
  json.list("profiles", names_of(model, rules)).member("states", counts.states);
  json.list("maximal", maximal, [&](Writer& to, const mig::State& layout) { write_state(to, model, layout); });
  json.member("multisets", counts.multisets).member("maximal_multisets", counts.maximal_multisets);
  json.member("unit_masks", counts.unit_masks).member("is_before_r510", rules.is_before_r510);
  json.list("unverified_places", unverified_places(model, rules)).list("notes", model.notes);
  return json.close_object().take_line();
}

/// The SMs of all instances, marked if one of them is estimated or unverified.
std::string sms_text(const GpuModel& model, const mig::State& state) {
  int sms = 0;
  bool is_estimate = false;
  bool is_doubtful = false;
  for (const mig::Placement& placement : state) {
    const MigProfile& profile = model.profiles[placement.profile.index];
    sms += profile_sms(model, placement.profile);
    is_estimate = is_estimate || !profile.sms;
    is_doubtful = is_doubtful || is_unverified(profile, "sms");
  }
  return fmt::format("{}{}{}", is_estimate ? "~" : "", sms, is_doubtful ? "?" : "");
}

std::string layouts_table(const GpuModel& model, const mig::Rules& rules, const std::vector<mig::State>& maximal) {
  if (!model.is_mig_capable()) return model.name + " does not support MIG: it has no layouts.\n";
  const LayoutCounts counts = count_states(model, rules, maximal);
  std::string text =
      fmt::format("{}{}: {} legal states ({} multisets, {} sets of busy units), {} maximal layouts ({} multisets)\n\n",
                  model.name, rules.is_before_r510 ? " with a driver before R510" : "", counts.states, counts.multisets,
                  counts.unit_masks, maximal.size(), counts.maximal_multisets);
  std::vector<std::vector<std::string>> rows = {{"#", "units", "SMs"}};
  std::vector<std::string> layouts = {"layout"};
  for (const mig::State& layout : maximal) {
    rows.push_back({std::to_string(rows.size()), unit_strip(model, layout), sms_text(model, layout)});
    layouts.push_back(mig::to_string(model, layout));
  }
  const std::string table = with_last_column(rows, layouts);
  text +=
      table + "\nunits: compute slices where an instance begins, - where it continues, . where nothing can be placed\n";
  const std::vector<std::string> doubtful = unverified_places(model, rules);
  if (!doubtful.empty()) text += fmt::format("places not confirmed: {}\n", fmt::join(doubtful, ", "));
  return text + legend_of(table);
}

/// A profile that still fits and its starts.
struct Fit {
  ProfileId profile;
  std::vector<int> starts;
};

std::vector<Fit> fits_of(const GpuModel& model, const mig::State& state, const mig::Rules& rules) {
  std::vector<Fit> fits;
  for (const mig::Placement& placement : mig::placements_that_fit(model, state, rules)) {
    if (fits.empty() || fits.back().profile != placement.profile) fits.push_back({placement.profile, {}});
    fits.back().starts.push_back(placement.start);
  }
  return fits;
}

int free_units(const GpuModel& model, const mig::State& state) {
  return mig::room_for(model, state, ProfileId::full()).free_units;
}

std::string fits_json(const GpuModel& model, const mig::State& state, const mig::Rules& rules) {
  Writer json;
  write_state(json.open_object().member("gpu", model.name).key("state"), model, state);
  json.list("fits", fits_of(model, state, rules), [&](Writer& to, const Fit& fit) {
    to.open_object().member("profile", profile_name(model, fit.profile)).list("starts", fit.starts).close_object();
  });
  json.member("free_units", free_units(model, state));
  json.member("fragmentation", mig::fragmentation(model, state, rules));
  json.member("is_before_r510", rules.is_before_r510);
  json.list("unverified_places", unverified_places(model, rules)).list("notes", model.notes);
  return json.close_object().take_line();
}

std::string fits_table(const GpuModel& model, const mig::State& state, const mig::Rules& rules) {
  if (!model.is_mig_capable()) return model.name + " does not support MIG: no instance fits on it.\n";
  std::string text = fmt::format("{}, {}: units {}, {} free, fragmentation {:.2f}\n\n", model.name,
                                 state.empty() ? "empty" : mig::to_string(model, state), unit_strip(model, state),
                                 free_units(model, state), mig::fragmentation(model, state, rules));
  std::vector<std::vector<std::string>> rows = {{"profile"}};
  std::vector<std::string> starts = {"starts"};
  for (const Fit& fit : fits_of(model, state, rules)) {
    const MigProfile& profile = model.profiles[fit.profile.index];
    rows.push_back({profile.name});
    starts.push_back(marked(profile, "starts", list_of(fit.starts)));
  }
  if (rows.size() == 1) return text + "Nothing fits.\n";
  const std::string table = with_last_column(rows, starts);
  return text + table + legend_of(table);
}

}  // namespace

Result<std::string> mig_profiles_report(const MigProfilesOptions& options) {
  const auto model = gpu_option(options.gpu);
  if (!model) return pass_on(model.error());
  return options.format == OutputFormat::kJson ? profiles_json(*model) : profiles_table(*model);
}

Result<std::string> mig_layouts_report(const MigLayoutsOptions& options) {
  const auto model = gpu_option(options.gpu);
  if (!model) return pass_on(model.error());
  const auto rules = rules_of(*model, options.rules);
  if (!rules) return pass_on(rules.error());
  const std::vector<mig::State> maximal = mig::maximal_layouts(*model, *rules);
  const bool is_json = options.format == OutputFormat::kJson;
  return is_json ? layouts_json(*model, *rules, maximal) : layouts_table(*model, *rules, maximal);
}

Result<std::string> mig_fits_report(const MigFitsOptions& options) {
  const auto model = gpu_option(options.gpu);
  if (!model) return pass_on(model.error());
  const auto rules = rules_of(*model, options.rules);
  if (!rules) return pass_on(rules.error());
  const auto state = mig::parse_state(*model, options.state);
  if (!state) return invalid("--" + state.error().message);
  if (const auto clash = mig::find_clash(*model, *state, rules->is_before_r510)) return invalid("--state: " + *clash);
  return options.format == OutputFormat::kJson ? fits_json(*model, *state, *rules) : fits_table(*model, *state, *rules);
}

}  // namespace berth::cli
