#include "gpu/device/local_gpu.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "domain/mig/board.h"
#include "domain/mig/catalogue.h"
#include "domain/values/gpu_name.h"

namespace berth::device {
namespace {

const GpuModel* find_model(const GpuFacts& facts) {
  for (const GpuModel& model : mig::gpu_models()) {
    std::vector<std::uint16_t> ids = mig::pci_device_ids(model.name);
    ids.push_back(mig::board_of(model).pci_device_id);
    if (std::ranges::find(ids, facts.pci_device_id) != ids.end()) return &model;
  }
  return nullptr;
}

/// The name of a model that is not in the catalogue, without blanks.
std::string name_without_blanks(std::string name) {
  std::ranges::replace(name, ' ', '-');
  return name.empty() ? "unknown" : name;
}

/// Compares a figure, takes the device's, and records how they differ.
template <class Ours, class Theirs>
void take(const std::string& profile, std::string_view what, Ours& ours, const Theirs& theirs,
          std::vector<std::string>& differences) {
  if (ours == Ours(theirs)) return;
  differences.push_back(fmt::format("{}: {} {}, our table has {}", profile, what, theirs, ours));
  ours = Ours(theirs);
}
template <class Value>
void take_if_known(const std::string& profile, std::string_view what, std::optional<Value>& ours, const Value& theirs,
                   std::vector<std::string>& differences) {
  if (ours) return take(profile, what, *ours, theirs, differences);
  ours = theirs;
}

void take_facts(const GpuProfileFacts& facts, MigProfile& profile, std::vector<std::string>& differences) {
  take_if_known(profile.name, "SMs", profile.sms, facts.sms, differences);
  take_if_known(profile.name, "memory in MiB", profile.memory_mib, facts.memory_mib, differences);
  take(profile.name, "most instances", profile.instances_max, facts.instances_max, differences);
  take(profile.name, "length", profile.length, facts.length, differences);
  if (profile.starts != facts.starts) {
    differences.push_back(fmt::format("{}: starts {}, our table has {}", profile.name, facts.starts, profile.starts));
    profile.starts = facts.starts;
  }
  profile.unverified.clear();
}

/// A profile that is not in our table.
MigProfile new_profile(const GpuProfileFacts& facts) {
  MigProfile profile;
  profile.name = facts.name.empty() ? fmt::format("{}g.id{}", facts.compute_slices, facts.id) : facts.name;
  profile.compute_slices = facts.compute_slices;
  profile.device_profile_id = static_cast<int>(facts.id);
  if (profile.name.ends_with("+me.all")) profile.media = MediaEngines::kAll;
  if (profile.name.ends_with("+me")) profile.media = MediaEngines::kExtended;
  if (profile.name.ends_with("-me")) profile.media = MediaEngines::kNone;
  profile.is_graphics = profile.name.ends_with("+gfx");
  profile.length = facts.length;
  profile.starts = facts.starts;
  profile.instances_max = facts.instances_max;
  profile.sms = facts.sms;
  profile.memory_mib = facts.memory_mib;
  return profile;
}

const GpuProfileFacts* find_facts(const GpuFacts& facts, const MigProfile& profile) {
  const auto is_it = [&](const GpuProfileFacts& each) {
    return static_cast<int>(each.id) == profile.device_profile_id && each.compute_slices == profile.compute_slices;
  };
  const auto found = std::ranges::find_if(facts.profiles, is_it);
  return found == facts.profiles.end() ? nullptr : &*found;
}

/// Our table's profiles in its order, as far as the device has them, then those that only the device has.
std::vector<MigProfile> profiles_of(const GpuModel& known, const GpuFacts& facts,
                                    std::vector<std::string>& differences) {
  std::vector<MigProfile> profiles;
  std::vector<const GpuProfileFacts*> matched;
  for (const MigProfile& profile : known.profiles) {
    const GpuProfileFacts* const found = find_facts(facts, profile);
    if (found == nullptr) {
      differences.push_back(profile.name + ": the device does not have it");
      continue;
    }
    matched.push_back(found);
    take_facts(*found, profiles.emplace_back(profile), differences);
  }
  for (const GpuProfileFacts& each : facts.profiles) {
    if (std::ranges::find(matched, &each) != matched.end()) continue;
    profiles.push_back(new_profile(each));
    if (!known.profiles.empty()) differences.push_back(profiles.back().name + ": our table does not have it");
  }
  return profiles;
}

/// A model without a row in the catalogue, derived from the device's facts.
GpuModel unknown_model(const GpuFacts& facts) {
  GpuModel model;
  model.name = name_without_blanks(facts.name);
  for (const GpuProfileFacts& profile : facts.profiles) {
    model.units = std::max(model.units, profile.length);
    model.compute_slices = std::max(model.compute_slices, profile.compute_slices);
    model.sms = std::max(model.sms, profile.sms);
  }
  model.is_sms_unverified = true;
  return model;
}

}  // namespace

LocalGpu local_gpu_of(const GpuFacts& facts) {
  LocalGpu gpu{.uuid = facts.uuid, .name = facts.name, .pci_bus_id = facts.pci_bus_id, .model = {}, .differences = {}};
  const GpuModel* const known = find_model(facts);
  gpu.model = known != nullptr ? *known : unknown_model(facts);
  if (known == nullptr) {
    gpu.differences.push_back(
        fmt::format("{} (PCI device 0x{:04X}): our tables do not have it", facts.name, facts.pci_device_id));
  }
  gpu.model.profiles = profiles_of(gpu.model, facts, gpu.differences);
  gpu.model.has_full = gpu.model.profiles.empty();                    // GPUs that MIG can partition are not used whole
  if (facts.memory_mib > 0) gpu.model.memory_mib = facts.memory_mib;  // ours is nominal
  return gpu;
}

namespace {

const MigProfile* find_profile(const GpuModel& model, const MigProfile& profile) {
  const auto found = std::ranges::find_if(model.profiles, [&](const MigProfile& each) {
    return each.device_profile_id == profile.device_profile_id && each.compute_slices == profile.compute_slices;
  });
  return found == model.profiles.end() ? nullptr : &*found;
}

std::string words_of(const std::optional<std::int64_t>& figure) {
  return figure ? fmt::format("{}", *figure) : "unknown";
}

bool has_same_places(const MigProfile& one, const MigProfile& other) {
  return one.starts == other.starts && one.length == other.length && one.instances_max == other.instances_max;
}

void add_changes(const MigProfile& then, const MigProfile& now, std::vector<std::string>& changes) {
  if (!has_same_places(then, now)) {
    changes.push_back(
        fmt::format("{}: now {} units at {}, at most {}; when this folder began {} units at {}, at most {}", then.name,
                    now.length, now.starts, now.instances_max, then.length, then.starts, then.instances_max));
  }
  if (then.memory_mib != now.memory_mib) {
    changes.push_back(fmt::format("{}: now {} MiB, when this folder began {}", then.name, words_of(now.memory_mib),
                                  words_of(then.memory_mib)));
  }
  if (then.sms != now.sms) {
    changes.push_back(
        fmt::format("{}: now {} SMs, when this folder began {}", then.name, words_of(now.sms), words_of(then.sms)));
  }
}

}  // namespace

std::vector<std::string> changes_since(const GpuModel& then, const GpuModel& now) {
  std::vector<std::string> changes;
  if (then.name != now.name) {
    changes.push_back(fmt::format("now it is {}, when this folder began it was {}", now.name, then.name));
  }
  for (const MigProfile& profile : then.profiles) {
    if (const MigProfile* const same = find_profile(now, profile)) {
      add_changes(profile, *same, changes);
    } else {
      changes.push_back(profile.name + ": the device does not have it any more");
    }
  }
  for (const MigProfile& profile : now.profiles) {
    if (find_profile(then, profile) == nullptr) {
      changes.push_back(profile.name + ": the device did not have it when this folder began");
    }
  }
  if (then.memory_mib != now.memory_mib) {
    changes.push_back(fmt::format("the GPU: now {} MiB, when this folder began {}", now.memory_mib, then.memory_mib));
  }
  return changes;
}

bool have_same_placements(const GpuModel& one, const GpuModel& other) {
  const auto is_same = [](const MigProfile& a, const MigProfile& b) {
    return a.device_profile_id == b.device_profile_id && a.compute_slices == b.compute_slices && has_same_places(a, b);
  };
  return std::ranges::equal(one.profiles, other.profiles, is_same);
}

namespace {

/// The same profile in another description of the model; nothing if it is missing there.
std::optional<ProfileId> same_profile(const GpuModel& from, ProfileId profile, const GpuModel& to) {
  if (profile.is_full()) return to.has_full ? std::optional(profile) : std::nullopt;
  const auto found =
      std::ranges::find(to.profiles, from.profiles[profile.index].device_profile_id, &MigProfile::device_profile_id);
  if (found == to.profiles.end()) return std::nullopt;
  return ProfileId{static_cast<std::uint16_t>(found - to.profiles.begin())};
}

/// `where`: the text that names the slice.
Result<void> translate(const std::vector<LocalGpu>& gpus, const Scenario& scenario, const std::string& where,
                       Slice& slice) {
  if (slice.gpu.index >= gpus.size()) return {};  // a pin that no plan can satisfy
  const GpuModel& written = scenario.model_of(slice.gpu);
  const LocalGpu& gpu = gpus[slice.gpu.index];
  if (const auto profile = same_profile(written, slice.profile, gpu.model)) {
    slice.profile = *profile;
    return {};
  }
  return invalid(
      fmt::format("{}: {}: wanted a profile of {}, found {}, which {}", where, gpu_name(slice.gpu), gpu.name,
                  profile_name(written, slice.profile),
                  slice.profile.is_full() ? "is not used where MIG partitions a GPU" : "the device does not have"));
}

Result<void> translate_slices(const std::vector<LocalGpu>& gpus, Scenario& scenario) {
  if (scenario.layout) {
    for (Holding& holding : *scenario.layout) {
      if (auto translated = translate(gpus, scenario, "layout", holding.slice); !translated) return translated;
    }
    std::ranges::sort(*scenario.layout, {}, &Holding::slice);
  }
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    if (std::as_const(scenario).services[index].pins.empty()) continue;
    const std::string where = service_label(scenario, {index}) + ".pins";
    for (Pin& pin : scenario.services[index].pins) {
      if (auto translated = translate(gpus, scenario, where, pin.slice); !translated) return translated;
    }
  }
  return {};
}

Result<void> check_fleet(const Scenario& scenario, const std::vector<LocalGpu>& gpus) {
  for (std::uint32_t gpu = 0; gpu < scenario.gpu_count() && gpu < gpus.size(); ++gpu) {
    const std::string& wanted = gpus[gpu].model.name;
    const std::string& found = scenario.model_of({gpu}).name;
    if (wanted == found) continue;
    return invalid(fmt::format("fleet: {}: wanted {}, which this machine has there ({}), found {}", gpu_name({gpu}),
                               wanted, gpus[gpu].uuid, found));
  }
  if (scenario.gpu_count() != gpus.size()) {
    return invalid(
        fmt::format("fleet: wanted the {} GPUs of this machine, found {}", gpus.size(), scenario.gpu_count()));
  }
  return {};
}

void add_gpu(std::vector<FleetEntry>& fleet, const GpuModel& model, const std::optional<Decimal>& price) {
  const bool is_same = !fleet.empty() && fleet.back().model == model && fleet.back().usd_per_gpu_hour == price;
  if (is_same) {
    ++fleet.back().count;
  } else {
    fleet.push_back({.model = model, .count = 1, .usd_per_gpu_hour = price});
  }
}

}  // namespace

Result<void> put_fleet(Scenario& scenario, const std::vector<LocalGpu>& gpus) {
  const bool is_given = !scenario.fleet.empty();
  if (is_given) {
    if (auto same = check_fleet(scenario, gpus); !same) return same;
    if (auto translated = translate_slices(gpus, scenario); !translated) return translated;
  }
  std::vector<FleetEntry> fleet;
  for (std::uint32_t gpu = 0; gpu < gpus.size(); ++gpu) {
    add_gpu(fleet, gpus[gpu].model, is_given ? scenario.entry_of({gpu}).usd_per_gpu_hour : std::nullopt);
  }
  scenario.fleet = std::move(fleet);
  return {};
}

Result<void> put_recorded_fleet(Scenario& scenario, const std::vector<LocalGpu>& gpus) {
  const std::size_t count = scenario.gpu_count();
  if (count == 0 || count >= gpus.size()) return put_fleet(scenario, gpus);
  const auto first_added = gpus.begin() + static_cast<std::ptrdiff_t>(count);
  if (auto put = put_fleet(scenario, {gpus.begin(), first_added}); !put) return put;
  for (auto gpu = first_added; gpu != gpus.end(); ++gpu) add_gpu(scenario.fleet, gpu->model, std::nullopt);
  return {};
}

}  // namespace berth::device
