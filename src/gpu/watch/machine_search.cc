#include "gpu/watch/machine_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "gpu/nvml/open_gpu_library.h"
#include "gpu/nvml/passed_through_gpus.h"

namespace berth::edges {
namespace {

std::string words_of(const GpuCallFailure& failure) { return fmt::format("{}: {}", failure.call, failure.code_name); }

/// No library lists GPUs passed through to a guest.
std::string with_guests(std::string reason) {
  const auto lent = find_passed_through_gpus("/sys");
  if (lent.empty()) return reason;
  std::vector<std::string> places;
  places.reserve(lent.size());
  for (const PassedThroughGpu& gpu : lent) places.push_back(gpu.pci_bus_id);
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
      machine.has_unread = true;
      machine.warnings.push_back(fmt::format("a GPU cannot be read ({}): {}", gpu.uuid.empty() ? "no UUID" : gpu.uuid,
                                             words_of(gpu.facts.error())));
    }
  }
  if (machine.gpus.empty()) machine.reason = with_guests("the library lists no GPU that can be read");
}

}  // namespace

Result<LocalMachine> look_for_machine(const std::optional<std::string>& nvml_path, std::stop_token stop) {
  LocalMachine machine;
  auto opened = open_gpu_library(nvml_path);
  if (!opened) {
    const NoGpuLibrary& none = opened.error();
    if (none.reason == NoGpuLibrary::Reason::kFunctionMissing) return invalid("--nvml: " + none.message);
    machine.facts = none.library;
    machine.reason = with_guests(none.message);
    return machine;
  }
  machine.library = std::move(*opened);
  machine.facts = machine.library->facts();
  if (!stop.stop_requested()) list_gpus(machine);
  return machine;
}

MachineSearch::MachineSearch(std::string library, Look look) : library_(std::move(library)) {
  thread_ = std::jthread([this, look = std::move(look)](const std::stop_token& stop) {
    Result<LocalMachine> found = look(stop);
    const std::scoped_lock hold(mutex_);
    found_ = std::move(found);
    is_over_ = true;
    changed_.notify_all();
  });
}

MachineSearch::MachineSearch(const std::optional<std::string>& nvml_path)
    : MachineSearch(nvml_path.value_or("the library of the driver"),
                    [nvml_path](std::stop_token stop) { return look_for_machine(nvml_path, std::move(stop)); }) {}

Result<LocalMachine> MachineSearch::take(std::chrono::milliseconds patience) {
  std::unique_lock hold(mutex_);
  if (changed_.wait_for(hold, patience, [this] { return found_.has_value(); })) {
    return *std::exchange(found_, std::nullopt);
  }
  LocalMachine machine;
  machine.reason = fmt::format("{} has not answered for {} s", library_, patience / std::chrono::seconds(1));
  return machine;
}

bool MachineSearch::is_running() const {
  const std::scoped_lock hold(mutex_);
  return !is_over_;
}

}  // namespace berth::edges
