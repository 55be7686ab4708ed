#include "live/local/local_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "domain/values/snapshot.h"
#include "live/session/entry.h"
#include "live/session/object_names.h"
#include "live/session/session.h"
#include "world/slices/adopt.h"

namespace berth::live {
namespace {

constexpr const char* kNoAction = "none";      // GpuReading::recovery_action
constexpr const char* kNoDifference = "none";  // of DeviceNote::kDiffers
constexpr std::string_view kMigModeIsOff = "its MIG mode is off";
constexpr std::chrono::seconds kSlow{5};  // an answer of the driver that takes this long is worth a warning

std::string words_of(const GpuCallFailure& failure) { return fmt::format("{}: {}", failure.call, failure.code_name); }

}  // namespace

Result<void> check_manage(const std::vector<device::ManagedGpu>& manage, const std::vector<std::string>& places,
                          const edges::LocalMachine& machine, const std::vector<device::LocalGpu>& fleet) {
  if (machine.library == nullptr) return {};
  std::vector<std::string> known;
  for (const auto* gpus : {&machine.gpus, &fleet}) {
    for (const device::LocalGpu& gpu : *gpus) {
      if (std::ranges::find(known, gpu.uuid) == known.end()) known.push_back(gpu.uuid);
    }
  }
  for (std::size_t index = 0; index < manage.size(); ++index) {
    if (std::ranges::find(known, manage[index].uuid) != known.end()) continue;
    return invalid(fmt::format("{}: wanted the UUID of a GPU of this machine ({}), found {}", places[index],
                               machine.gpus.empty() ? "it has none" : fmt::format("{}", fmt::join(known, ", ")),
                               in_quotes(manage[index].uuid)));
  }
  return {};
}

LocalWorld::LocalWorld(edges::LocalMachine machine, const std::vector<device::LocalGpu>& fleet,
                       LocalManagement management, std::chrono::milliseconds patience,
                       edges::GpuWatcherOptions watching)
    : machine_(std::move(machine)), management_(std::move(management)) {
  boot_id_ = management_.boot_id();
  std::map<std::uint32_t, std::string> watched;
  std::vector<DeviceOrders::Gpu> ordered;
  for (const device::LocalGpu& known : fleet) {
    watched[static_cast<std::uint32_t>(gpus_.size())] = known.uuid;
    ordered.push_back({.uuid = known.uuid, .model = known.model});
    const auto here = std::ranges::find(machine_.gpus, known.uuid, &device::LocalGpu::uuid);
    Gpu& gpu = gpus_.emplace_back();
    gpu.known = known;
    gpu.is_listed = here != machine_.gpus.end();
    if (!gpu.is_listed) continue;
    gpu.has_other_profiles = !device::have_same_placements(known.model, here->model);
    gpu.differences = here->differences;
    for (std::string& change : device::changes_since(known.model, here->model)) {
      gpu.differences.push_back(std::move(change));
    }
  }
  health_ = std::make_unique<HealthWatch>(management_.health, static_cast<std::uint32_t>(gpus_.size()));
  orders_ = std::make_unique<DeviceOrders>(std::move(ordered), management_.hands.get(), management_.is_dry_run);
  if (!machine_.library || watched.empty()) return;
  watcher_ = std::make_unique<edges::GpuWatcher>(*machine_.library, std::move(watched), watching);
  watcher_->start();
  watcher_->wait_for_readings(patience);
  for (edges::GpuReport& report : watcher_->take_reports()) {
    note_xids(gpus_[report.gpu], report);
    note_reading(gpus_[report.gpu], std::move(report.reading));
  }
}

LocalWorld::~LocalWorld() { stop(); }

void LocalWorld::stop() {
  constexpr std::chrono::seconds kPatience{2};
  orders_.reset();
  management_.hands.reset();
  if (!watcher_) return;
  if (!watcher_->stop(kPatience)) watcher_->leave_behind(std::move(machine_.library));
  watcher_.reset();
}

void LocalWorld::note_xids(Gpu& gpu, const edges::GpuReport& report) const {
  const std::scoped_lock hold(mutex_);
  for (const auto& [source, count] : report.xids) gpu.xids[source] += count;
}

void LocalWorld::note_reading(Gpu& gpu, GpuAnswer<GpuReading> reading) {
  const std::scoped_lock hold(mutex_);
  gpu.failure.reset();
  if (reading) {
    gpu.reading = std::move(*reading);
  } else {
    gpu.failure = std::move(reading.error());
  }
}

std::vector<std::string> LocalWorld::warnings() const {
  std::vector<std::string> warnings = machine_.warnings;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    const Gpu& gpu = gpus_[index];
    if (!gpu.differences.empty()) {
      warnings.push_back(fmt::format("gpu-{} ({}): {}", index, gpu.known.uuid, fmt::join(gpu.differences, "; ")));
    }
    if (!management_.is_wanted || !is_in_manage(gpu)) continue;
    if (const auto why = why_observed(gpu)) {
      warnings.push_back(fmt::format("gpu-{} ({}) is only observed: {}", index, gpu.known.uuid, *why));
    }
  }
  for (const device::LocalGpu& here : machine_.gpus) {
    const bool is_known = std::ranges::any_of(gpus_, [&](const Gpu& gpu) { return gpu.known.uuid == here.uuid; });
    if (is_known) continue;
    warnings.push_back(
        fmt::format("{} ({}) is in this machine and not in the world of this folder, which keeps the GPUs "
                    "with which it began; for all of them use another folder: berth up --data OTHER",
                    here.uuid, here.name));
  }
  return warnings;
}

std::optional<std::string> LocalWorld::why_lost(const Gpu& gpu) const {
  const auto absent = [&](const std::string& why) {
    return fmt::format("{} is not in this machine: {}", gpu.known.uuid, why);
  };
  if (!machine_.library) return absent(machine_.reason.value_or("there is no library of the driver"));
  if (!gpu.failure) {
    if (gpu.reading || gpu.is_remembered) return std::nullopt;
    return "the driver does not answer";
  }
  // If the driver cannot answer for once, the last reading counts.
  const bool is_known = gpu.reading || gpu.is_remembered;
  if (is_known && !gpu.failure->is_gpu_lost) return std::nullopt;
  if (!gpu.is_listed && !gpu.failure->is_gpu_lost) return absent("the library does not list it");
  return "it cannot be read: " + words_of(*gpu.failure);
}

bool LocalWorld::is_in_manage(const Gpu& gpu) const {
  return std::ranges::find(management_.gpus, gpu.known.uuid, &device::ManagedGpu::uuid) != management_.gpus.end();
}

std::optional<std::string> LocalWorld::why_observed(const Gpu& gpu) const {
  if (!management_.is_wanted) return "--manage-gpus is not given";
  if (!is_in_manage(gpu)) return "its UUID is not in manage of the configuration";
  if (auto lost = why_lost(gpu)) return lost;
  if (!management_.is_dry_run) {
    if (auto why = management_.hands->why_not(gpu.known.uuid)) return why;
  }
  return why_not_ready(gpu);
}

/// Why the device itself does not allow changes.
std::optional<std::string> LocalWorld::why_not_ready(const Gpu& gpu) const {
  if (!gpu.reading) return "it has not been read yet";
  if (gpu.has_other_profiles) return "its profiles have changed since this folder began";
  const GpuReading& reading = *gpu.reading;
  if (reading.recovery_action != "none") return "its driver asks for an action: " + reading.recovery_action;
  if (gpu.known.model.is_mig_capable()) {
    if (reading.is_mig_on != reading.is_mig_pending_on) return "its MIG mode changes at the next reset of the GPU";
    if (!reading.is_mig_on) return std::string(kMigModeIsOff);
  }
  const device::Standing standing = device::standing_on({}, gpu.known.model, reading);
  if (!standing.unknown.empty()) return "it has an instance that no profile describes: " + standing.unknown.front();
  return std::nullopt;
}

std::map<GpuId, std::string> LocalWorld::observed() const {
  std::map<GpuId, std::string> observed;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    if (auto why = why_observed(gpus_[index])) observed[{index}] = *std::move(why);
  }
  return observed;
}

device::Standing LocalWorld::standing_on(std::uint32_t index) const {
  const Gpu& gpu = gpus_[index];
  if (!gpu.reading) return {};
  return device::standing_on({index}, gpu.known.model, *gpu.reading);
}

std::map<GpuId, world::ObservedLayout> LocalWorld::sights() const {
  std::map<GpuId, world::ObservedLayout> sights;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    if (!why_lost(gpus_[index]) && gpus_[index].reading) sights[{index}] = {.slices = standing_on(index).slices};
  }
  return sights;
}

void LocalWorld::adopt(sim::WorldLeft& left) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    world::DeviceMemory& memory = left.devices[index];
    Gpu& gpu = gpus_[index];
    gpu.is_remembered = (gpu.is_listed || machine_.has_unread) && !memory.is_lost && management_.is_same_boot;
    if (const auto lost = why_lost(gpus_[index])) {
      memory.is_lost = true;
      memory.slices.clear();
      left.losses[{index}] = *lost;
    } else if (gpu.reading) {
      memory = world::adopt(memory, standing_on(index).slices, management_.is_same_boot);
    }
  }
}

std::vector<std::string> LocalWorld::differences_of(std::uint32_t index) const {
  std::vector<std::string> differences = gpus_[index].differences;
  for (std::string& unknown : standing_on(index).unknown) differences.push_back(std::move(unknown));
  return differences;
}

void LocalWorld::tell(Session& session) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    const device::LocalGpu& gpu = gpus_[index].known;
    session.on_device_note({.gpu = {index},
                            .note = DeviceNote::kSeen,
                            .text = fmt::format("{}, {}, model {}", gpu.uuid, gpu.name, gpu.model.name)});
    tell_notes(session, index);
    tell_gpu(session, index);
  }
}

void LocalWorld::tell_notes(Session& session) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) tell_notes(session, index);
}

void LocalWorld::tell_notes(Session& session, std::uint32_t index) {
  Gpu& gpu = gpus_[index];
  tell_xids(session, index);
  // Texts that the log has already are not repeated.
  const auto tell = [&](DeviceNote note, const std::string& text, const char* first) {
    if (text == session.last_note({index}, note).value_or(first)) return;
    session.on_device_note({.gpu = {index}, .note = note, .text = text});
  };
  if (gpu.failure || !gpu.reading) return;
  const std::string& action = gpu.reading->recovery_action;
  if (action != session.last_note({index}, DeviceNote::kRecoveryAction).value_or(kNoAction)) {
    tell(DeviceNote::kRecoveryAction, action, kNoAction);
    health_->on_recovery_action(session, {index}, action);
  }
  if (!gpu.is_listed) return;  // it would be compared with what was read at the start
  const std::vector<std::string> differences = differences_of(index);
  tell(DeviceNote::kDiffers, differences.empty() ? kNoDifference : fmt::format("{}", fmt::join(differences, "; ")),
       kNoDifference);
}

/// The slice of ours that a GPU instance is; empty: none, or it is not known.
std::string LocalWorld::slice_named(const Session& session, std::uint32_t index,
                                    std::optional<std::uint32_t> gpu_instance) const {
  const Gpu& gpu = gpus_[index];
  if (!gpu_instance || !gpu.reading) return "";
  const auto place = device::slice_of_instance({index}, gpu.known.model, *gpu.reading, *gpu_instance);
  if (!place) return "";
  for (const StandingSlice& standing : session.snapshot().slices_at(*place)) {
    if (!standing.is_foreign) return slice_name(session.scenario(), *place, standing.generation);
  }
  return "";
}

void LocalWorld::tell_xids(Session& session, std::uint32_t index) {
  const Gpu& gpu = gpus_[index];
  const std::string action = gpu.reading && !gpu.failure ? gpu.reading->recovery_action : kNoAction;
  for (const auto& [source, count] : std::exchange(gpus_[index].xids, {})) {
    health_->on_xid(session, {.gpu = {index},
                              .xid = source.xid,
                              .count = count,
                              .slice = slice_named(session, index, source.gpu_instance),
                              .recovery_action = action,
                              .at = session.now()});
  }
}

void LocalWorld::serve_health(Session& session) {
  health_->serve(session);
  const std::scoped_lock hold(mutex_);
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) gpus_[index].health = health_->view({index});
}

void LocalWorld::tell_gpu(Session& session, std::uint32_t index) {
  const GpuId gpu{index};
  const bool is_known_lost = session.gpu_state(gpu).health == GpuHealth::kLost;
  if (const auto lost = why_lost(gpus_[index])) {
    if (!is_known_lost) session.lose_gpu(gpu, *lost);
    return;
  }
  if (gpus_[index].failure || !gpus_[index].reading) return;  // its last state counts
  if (is_known_lost) session.return_gpu(gpu);
  session.see_gpu(gpu, {.slices = standing_on(index).slices});
}

void LocalWorld::start(std::function<void()> on_report) {
  if (watcher_) watcher_->call(std::move(on_report));
}

void LocalWorld::serve(Session& session) {
  note_boot(session);
  take_ended(session);
  if (!has_times_) note_times(session);  // those of earlier processes
  if (!std::exchange(has_adopted_health_, true)) health_->adopt(session);
  take_reports(session);
  serve_health(session);
  tell_observed(session);
  turn_modes_on(session);
  clear_remains(session);
  orders_->give(session);
}

void LocalWorld::clear_remains(Session& session) {
  constexpr std::chrono::seconds kPause{5};  // until it is tried again
  const auto now = std::chrono::steady_clock::now();
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    Gpu& gpu = gpus_[index];
    const bool is_current = gpu.reading && !gpu.failure && !gpu.is_outdated;
    if (!is_current || now < gpu.remains_at || management_.is_dry_run || why_observed(gpu)) continue;
    device::Standing standing = standing_on(index);
    if (standing.remains.empty()) continue;
    gpu.remains_at = now + kPause;
    session.see_gpu({index}, {.slices = std::move(standing.slices), .orphans = std::move(standing.remains)});
  }
}

void LocalWorld::note_boot(Session& session) {
  std::string boot_id = management_.boot_id();
  if (boot_id == std::exchange(boot_id_, boot_id)) return;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    gpus_[index].mode_at = {};
    gpus_[index].changed_at = std::chrono::steady_clock::now();
    if (session.gpu_state({index}).health != GpuHealth::kLost) session.see_gpu({index}, world::ObservedLayout());
    if (watcher_) watcher_->read_again(index);
  }
}

void LocalWorld::turn_modes_on(Session& session) {
  constexpr std::chrono::seconds kPause{30};  // after an attempt that did not help
  const auto now = std::chrono::steady_clock::now();
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    Gpu& gpu = gpus_[index];
    if (now < gpu.mode_at || orders_->is_mig_mode_open(index) || !may_turn_mig_on(gpu)) continue;
    if (!orders_->turn_mig_on(session, index)) return;  // it cannot be recorded now
    gpu.mode_at = management_.is_dry_run ? std::chrono::steady_clock::time_point::max() : now + kPause;
  }
}

bool LocalWorld::may_turn_mig_on(const Gpu& gpu) const {
  const auto is_it = [&](const device::ManagedGpu& managed) {
    return managed.uuid == gpu.known.uuid && managed.has_mig_mode;
  };
  if (!gpu.known.model.is_mig_capable() || std::ranges::none_of(management_.gpus, is_it)) return false;
  if (why_observed(gpu) != kMigModeIsOff) return false;
  return gpu.reading->instances.empty() && gpu.reading->processes.empty();
}

void LocalWorld::take_ended(Session& session) {
  auto readings = orders_->take(session);
  if (readings.empty()) return;
  for (auto& [index, reading] : readings) {
    gpus_[index].changed_at = std::chrono::steady_clock::now();
    gpus_[index].is_outdated = !reading;
    if (reading) {
      note_reading(gpus_[index], *std::move(reading));
      tell_gpu(session, index);
    } else if (watcher_) {
      watcher_->read_again(index);
    }
  }
  note_times(session);
}

void LocalWorld::note_times(const Session& session) {
  const std::scoped_lock hold(mutex_);
  has_times_ = true;
  times_.clear();
  for (const auto& [change, time] : session.device_times()) {
    times_[change.model].push_back({.profile = change.profile,
                                    .is_creation = change.action == ActionKind::kCreation,
                                    .assumed_seconds = assumed_time(session.scenario(), change.action).to_seconds(),
                                    .measured_seconds = time.median.to_seconds(),
                                    .planned_seconds = change_time(session.scenario(), change).to_seconds(),
                                    .count = time.count});
  }
}

void LocalWorld::take_reports(Session& session) {
  if (!watcher_) return;
  for (edges::GpuReport& report : watcher_->take_reports()) {
    note_xids(gpus_[report.gpu], report);
    // A reading that began before an order ended may miss the effect of that order.
    if (report.began_at < gpus_[report.gpu].changed_at) {
      watcher_->read_again(report.gpu);
      continue;
    }
    gpus_[report.gpu].is_outdated = false;
    note_reading(gpus_[report.gpu], std::move(report.reading));
    tell_notes(session, report.gpu);
    tell_gpu(session, report.gpu);
  }
}

void LocalWorld::tell_observed(Session& session) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    Gpu& gpu = gpus_[index];
    auto why = why_observed(gpu);
    if (why == gpu.observed_as && gpu.is_told) continue;
    if (!session.observe({index}, why)) return;  // it cannot be recorded now
    gpu.is_told = true;
    gpu.observed_as = std::move(why);
  }
}

DeviceSource LocalWorld::source(bool has_load) {
  return {.library = [this] { return library(); },
          .device = [this](GpuId gpu) { return view(gpu); },
          .slice = [this](const Slice& slice) { return slice_view(slice); },
          .agent_gone = [this] { return agent_gone(); },
          .has_load = has_load};
}

OutsideWorld LocalWorld::as_outside() {
  return {.observed = [this] { return observed(); },
          .sights = [this] { return sights(); },
          .adopt = [this](sim::WorldLeft& left) { adopt(left); },
          .tell = [this](Session& session) { tell(session); },
          .tell_notes = [this](Session& session) { tell_notes(session); },
          .start = [this](std::function<void()> on_report) { start(std::move(on_report)); },
          .stop = [this] { stop(); },
          .serve = [this](Session& session) { serve(session); },
          .source = [this](bool has_load) { return source(has_load); }};
}

DeviceLibraryView LocalWorld::library() const {
  const auto or_absent = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  return {.path = or_absent(machine_.facts.path),
          .version = or_absent(machine_.facts.library_version),
          .driver = or_absent(machine_.facts.driver_version),
          .gpu_count = static_cast<std::int64_t>(machine_.gpus.size()),
          .reason = machine_.reason};
}

DeviceView LocalWorld::view(GpuId id) const {
  const std::scoped_lock hold(mutex_);
  const Gpu& gpu = gpus_[id.index];
  DeviceView view{.uuid = gpu.known.uuid, .pci_bus_id = gpu.known.pci_bus_id};
  view.why_observed = why_observed(gpu);
  view.health = gpu.health;
  if (const auto measured = times_.find(gpu.known.model.name); measured != times_.end()) view.times = measured->second;
  view.differences = differences_of(id.index);
  if (gpu.failure) view.differences.push_back("it cannot be read: " + words_of(*gpu.failure));
  const auto waiting = watcher_ ? watcher_->waiting_for(id.index) : std::chrono::milliseconds(0);
  if (waiting >= kSlow) {
    view.differences.push_back(fmt::format("the driver has not answered for {} s", waiting / std::chrono::seconds(1)));
  }
  if (!gpu.reading || gpu.failure) return view;
  const GpuReading& reading = *gpu.reading;
  view.recovery_action = reading.recovery_action;
  if (const auto measured = measurement_of(id.index)) view.measured = measured->figures;
  view.processes = processes_of(id.index);
  if (!gpu.known.model.is_mig_capable()) return view;
  view.is_mig_on = reading.is_mig_on;
  view.is_mig_pending_on = reading.is_mig_pending_on;
  return view;
}

std::optional<edges::GpuMeasured> LocalWorld::measurement_of(std::uint32_t index) const {
  auto measured = watcher_ ? watcher_->measured(index) : std::nullopt;
  if (!measured || std::chrono::steady_clock::now() - measured->at > kSlow) return std::nullopt;
  return measured;
}

std::vector<device::MonitoredGpu> LocalWorld::monitored() const {
  const std::scoped_lock hold(mutex_);
  std::vector<device::MonitoredGpu> gpus;
  for (std::uint32_t index = 0; watcher_ && index < gpus_.size(); ++index) {
    edges::GpuXids xids = watcher_->xids(index);
    device::MonitoredGpu& gpu = gpus.emplace_back();
    gpu = {.index = index, .known = &gpus_[index].known, .xids = std::move(xids.counts), .last_xid = xids.last};
    if (gpus_[index].failure) continue;
    gpu.reading = gpus_[index].reading;
    const auto measured = measurement_of(index);
    if (!measured) continue;
    gpu.measured = measured->figures;
    gpu.figures = measured->more;
  }
  return gpus;
}

std::vector<DeviceProcessView> LocalWorld::processes_of(std::uint32_t index) const {
  const auto or_absent = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  const GpuReading& reading = *gpus_[index].reading;
  std::vector<DeviceProcessView> processes;
  processes.reserve(reading.processes.size());
  for (const GpuProcessSeen& seen : reading.processes) {
    DeviceProcessView& process = processes.emplace_back();
    process.pid = seen.pid;
    process.user = or_absent(seen.user);
    process.name = or_absent(seen.name);
    if (seen.memory_mib > 0) process.memory_mib = seen.memory_mib;
    if (seen.gpu_instance) {
      process.slice = device::slice_of_instance({index}, gpus_[index].known.model, reading, *seen.gpu_instance);
    }
  }
  return processes;
}

std::optional<std::string> LocalWorld::agent_gone() const {
  return management_.hands ? management_.hands->why_gone() : std::nullopt;
}

std::optional<std::string> LocalWorld::uuid_of(const Slice& slice) const {
  if (!slice.profile.is_full()) return slice_view(slice).uuid;
  const std::scoped_lock hold(mutex_);
  return gpus_[slice.gpu.index].known.uuid;
}

DeviceSliceView LocalWorld::slice_view(const Slice& slice) const {
  const std::scoped_lock hold(mutex_);
  const Gpu& gpu = gpus_[slice.gpu.index];
  if (!gpu.reading || gpu.failure) return {};
  const ComputeInstanceSeen* whole = device::whole_device_of(slice, gpu.known.model, *gpu.reading);
  if (whole == nullptr) return {};
  DeviceSliceView view;
  if (!whole->uuid.empty()) view.uuid = whole->uuid;
  if (whole->memory_mib > 0) view.memory_mib = whole->memory_mib;
  return view;
}

}  // namespace berth::live
