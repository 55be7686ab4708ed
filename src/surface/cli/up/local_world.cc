#include "surface/cli/up/local_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "edges/nvml/open_gpu_library.h"
#include "edges/nvml/passed_through_gpus.h"
#include "sim/adopt.h"

namespace berth::cli {
namespace {

std::string words_of(const GpuCallFailure& failure) { return fmt::format("{}: {}", failure.call, failure.code_name); }

/// GPUs that a guest has are not listed by any library.
std::string with_guests(std::string reason) {
  const auto lent = edges::find_passed_through_gpus("/sys");
  if (lent.empty()) return reason;
  std::vector<std::string> places;
  for (const edges::PassedThroughGpu& gpu : lent) places.push_back(gpu.pci_bus_id);
  return fmt::format("{}; in use by a guest (bound to vfio-pci): {}", reason, fmt::join(places, ", "));
}

void list_gpus(LocalMachine& machine) {
  auto listed = machine.library->list();
  if (!listed) {
    machine.reason = words_of(listed.error());
    return;
  }
  for (GpuLibrary::Listed& gpu : *listed) {
    if (gpu.facts) {
      machine.gpus.push_back(device::local_gpu_of(*gpu.facts));
    } else {
      machine.warnings.push_back(fmt::format("a GPU cannot be read ({}): {}", gpu.uuid.empty() ? "no UUID" : gpu.uuid,
                                             words_of(gpu.facts.error())));
    }
  }
  if (machine.gpus.empty()) machine.reason = with_guests("the library lists no GPU that can be read");
}

}  // namespace

Result<LocalMachine> find_local_machine(const std::optional<std::string>& nvml_path) {
  LocalMachine machine;
  auto opened = edges::open_gpu_library(nvml_path);
  if (!opened) {
    const edges::NoGpuLibrary& none = opened.error();
    if (none.reason == edges::NoGpuLibrary::Reason::kFunctionMissing) return invalid("--nvml: " + none.message);
    machine.facts = none.library;
    machine.reason = with_guests(none.message);
    return machine;
  }
  machine.library = std::move(*opened);
  machine.facts = machine.library->facts();
  list_gpus(machine);
  return machine;
}

LocalWorld::LocalWorld(LocalMachine machine, std::vector<device::LocalGpu> fleet) : machine_(std::move(machine)) {
  for (device::LocalGpu& known : fleet) {
    const auto here = std::ranges::find(machine_.gpus, known.uuid, &device::LocalGpu::uuid);
    Gpu& gpu = gpus_.emplace_back();
    gpu.known = std::move(known);
    gpu.is_here = here != machine_.gpus.end();
    if (!gpu.is_here) continue;
    gpu.differences = here->differences;
    if (gpu.known.model != here->model) gpu.differences.push_back("its profiles have changed since this folder began");
  }
  // The first readings: of all GPUs side by side, as each takes some milliseconds.
  std::vector<std::thread> readers;
  for (Gpu& gpu : gpus_) {
    if (gpu.is_here) readers.emplace_back([this, &gpu] { note_reading(gpu, machine_.library->read(gpu.known.uuid)); });
  }
  for (std::thread& reader : readers) reader.join();
}

LocalWorld::~LocalWorld() { stop(); }

void LocalWorld::stop() {
  constexpr std::chrono::seconds kPatience{2};
  if (!watcher_) return;
  if (!watcher_->stop(kPatience)) static_cast<void>(machine_.library.release());  // its calls may still return
  watcher_.reset();
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
    if (gpu.differences.empty()) continue;
    warnings.push_back(fmt::format("gpu-{} ({}): {}", index, gpu.known.uuid, fmt::join(gpu.differences, "; ")));
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
  if (!gpu.is_here)
    return fmt::format("{} is not in this machine: {}", gpu.known.uuid,
                       machine_.reason.value_or("the library does not list it"));
  // What the driver cannot say for once is as it was.
  const bool is_lost = gpu.failure && (gpu.failure->is_gpu_lost || !gpu.reading);
  return is_lost ? std::optional("it cannot be read: " + words_of(*gpu.failure)) : std::nullopt;
}

std::string LocalWorld::why_observed(const Gpu&) const { return "this version of berth only observes GPUs"; }

std::map<GpuId, std::string> LocalWorld::observed() const {
  std::map<GpuId, std::string> observed;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) observed[{index}] = why_observed(gpus_[index]);
  return observed;
}

device::Standing LocalWorld::standing_on(std::uint32_t index) const {
  const Gpu& gpu = gpus_[index];
  if (!gpu.reading) return {};
  return device::standing_on({index}, gpu.known.model, *gpu.reading);
}

void LocalWorld::adopt(sim::WorldLeft& left) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    sim::DeviceMemory& memory = left.devices[index];
    if (const auto lost = why_lost(gpus_[index])) {
      memory.is_lost = true;
      memory.slices.clear();
      left.losses[{index}] = *lost;
    } else {
      memory = sim::adopt(memory, standing_on(index).slices);
    }
  }
}

void LocalWorld::tell(live::Session& session) {
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) tell_gpu(session, index);
}

void LocalWorld::tell_gpu(live::Session& session, std::uint32_t index) {
  const GpuId gpu{index};
  const bool is_known_lost = session.gpu_state(gpu).health == GpuHealth::kLost;
  if (const auto lost = why_lost(gpus_[index])) {
    if (!is_known_lost) session.lose_gpu(gpu, *lost);
    return;
  }
  if (is_known_lost) session.return_gpu(gpu);
  session.see_gpu(gpu, standing_on(index).slices);
}

void LocalWorld::start(std::function<void()> on_report) {
  std::map<std::uint32_t, std::string> watched;
  for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
    if (gpus_[index].is_here) watched[index] = gpus_[index].known.uuid;
  }
  if (watched.empty()) return;
  watcher_ = std::make_unique<edges::GpuWatcher>(*machine_.library, std::move(watched),
                                                 edges::GpuWatcherOptions{.on_report = std::move(on_report)});
  watcher_->start();
}

void LocalWorld::take_news(live::Session& session) {
  if (!watcher_) return;
  for (edges::GpuReport& report : watcher_->take_reports()) {
    note_reading(gpus_[report.gpu], std::move(report.reading));
    tell_gpu(session, report.gpu);
  }
}

api::DeviceSource LocalWorld::source(bool has_load) {
  return {
      .library = [this] { return library(); }, .device = [this](GpuId gpu) { return view(gpu); }, .has_load = has_load};
}

api::DeviceLibraryView LocalWorld::library() const {
  const auto or_absent = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  return {.path = or_absent(machine_.facts.path),
          .version = or_absent(machine_.facts.library_version),
          .driver = or_absent(machine_.facts.driver_version),
          .gpu_count = static_cast<std::int64_t>(machine_.gpus.size()),
          .reason = machine_.reason};
}

api::DeviceView LocalWorld::view(GpuId id) const {
  const std::scoped_lock hold(mutex_);
  const Gpu& gpu = gpus_[id.index];
  api::DeviceView view{.uuid = gpu.known.uuid, .pci_bus_id = gpu.known.pci_bus_id};
  view.why_observed = why_observed(gpu);
  view.differences = gpu.differences;
  if (gpu.failure) view.differences.push_back("not read since: " + words_of(*gpu.failure));
  if (!gpu.reading) return view;
  const GpuReading& reading = *gpu.reading;
  view.recovery_action = reading.recovery_action;
  if (!gpu.known.model.is_mig_capable()) return view;
  view.is_mig_on = reading.is_mig_on;
  view.is_mig_pending_on = reading.is_mig_pending_on;
  return view;
}

}  // namespace berth::cli
