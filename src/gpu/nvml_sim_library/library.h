/// The only library object of a process: its init count, the state shared with other processes, and the common part of
/// all calls. Every exported function makes a `Call` and gives it, with its work, to `ask` or `change`.
///
/// The order of the checks of every call: initialised, arguments and versions, the handle, a lost GPU, injected faults,
/// then the rules of the device (nvml_sim).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/device_rules.h"
#include "gpu/nvml_sim/faults.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim_library/event_sets.h"
#include "gpu/nvml_sim_library/gpm_samples.h"
#include "gpu/nvml_sim_library/handles.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::edges {

/// Which handles a function takes: bits.
enum Takes : std::uint8_t {
  kTakesGpu = 1U << static_cast<unsigned>(HandleKind::kGpu),
  kTakesMigDevice = 1U << static_cast<unsigned>(HandleKind::kMigDevice),
  kTakesGpuInstance = 1U << static_cast<unsigned>(HandleKind::kGpuInstance),
  kTakesComputeInstance = 1U << static_cast<unsigned>(HandleKind::kComputeInstance),
  kTakesDevice = kTakesGpu | kTakesMigDevice,
};

/// A call of an exported function.
struct Call {
  const char* name = nullptr;  ///< of the C function
  const void* handle = nullptr;
  std::uint8_t takes = kTakesGpu;
  nvml_abi::Code arguments = nvml_abi::Code::kSuccess;  ///< the error in the other arguments, if any
  nvml_sim::Latency latency = nvml_sim::Latency::kRead;
};

/// The subject of a call. Valid while the state does not change, that is, inside the function that gets it.
struct Subject {
  const nvml_sim::MachineRecord& machine;
  const nvml_sim::GpuRecord& gpu;
  Target target;
};

using Answering = std::function<nvml_abi::Code(const Subject&)>;
using Finding = std::function<nvml_sim::Answer<Target>(const nvml_sim::MachineRecord&)>;
using Describing = std::function<nvml_abi::Code(const nvml_sim::MachineRecord&)>;
/// Changes the GPU. A creation sets `target` to the new object.
using Changing = std::function<nvml_abi::Code(nvml_sim::GpuRecord&, Target& target, const nvml_sim::Caller&)>;

/// Thread-safe.
class Library {
 public:
  Library();

  /// Inits are counted. The first opens the state that the environment names (BERTH_NVML_SIM_STATE). kDriverNotLoaded:
  /// none is named, or it does not exist. kLibRmVersionMismatch: it is of another version.
  [[nodiscard]] nvml_abi::Code init(const char* name);
  /// kUninitialized: it is not initialised.
  [[nodiscard]] nvml_abi::Code shut_down();

  /// A query about the machine. `xids_of`: the GPUs (bit N: GPU N) of which XIDs that are due are raised first.
  [[nodiscard]] nvml_abi::Code describe(const char* name, nvml_abi::Code arguments, const Describing& answer,
                                        std::uint64_t xids_of = UINT64_MAX);
  /// A query about the target of a handle.
  [[nodiscard]] nvml_abi::Code ask(const Call& call, const Answering& answer);
  /// Looks an object up and returns its handle.
  [[nodiscard]] nvml_abi::Code look_up(const char* name, nvml_abi::Code arguments, const Finding& find, void** handle);
  /// A change of a GPU: one at a time per GPU, with the call's latency. `work` may be called on a copy first, to check
  /// whether it is refused. `made` gets the handle of the object created.
  [[nodiscard]] nvml_abi::Code change(const Call& call, const Changing& work, void** made = nullptr);

  /// A handle of an existing object.
  [[nodiscard]] void* handle_of(const nvml_sim::MachineRecord& machine, const Target& target) {
    return handles_.handle_of(machine, target);
  }

  [[nodiscard]] GpmSamples& gpm_samples() { return samples_; }

  [[nodiscard]] nvml_abi::Code create_event_set(std::uint64_t* set);
  [[nodiscard]] nvml_abi::Code free_event_set(std::uint64_t set);
  [[nodiscard]] nvml_abi::Code register_events(const Call& call, std::uint64_t types, std::uint64_t set);
  /// Waits for an event of the set; `found` gets it, while the state does not change. kTimeout: none came.
  [[nodiscard]] nvml_abi::Code wait_for_event(
      const char* name, std::uint64_t set, std::uint32_t timeout_ms,
      const std::function<void(const nvml_sim::MachineRecord&, const nvml_sim::EventRecord&)>& found);

  /// To be called around a fork: the child gets a library that is not initialised.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  using File = std::shared_ptr<SimStateFile>;  ///< a call under way keeps it alive when another thread shuts down

  [[nodiscard]] File file();
  [[nodiscard]] nvml_sim::Answer<Target> resolve(const nvml_sim::MachineRecord& machine, const Call& call);
  [[nodiscard]] nvml_abi::Code ask_found(const Call& call, const Finding& find, const Answering& answer);

  std::mutex mutex_;
  int inits_ = 0;
  File file_;
  File abandoned_;  ///< the parent's, in a child
  Handles handles_;
  EventSets sets_;
  GpmSamples samples_;
};

/// Created at the first use and never destroyed, as threads may be inside when the program ends.
[[nodiscard]] Library& library();

/// kInvalidArgument if any pointer is null.
template <class... Pointers>
[[nodiscard]] nvml_abi::Code all_given(const Pointers*... pointers) {
  return ((pointers != nullptr) && ...) ? nvml_abi::Code::kSuccess : nvml_abi::Code::kInvalidArgument;
}

/// The same for a structure with a version; `otherwise` if its version is not this one.
template <class Structure>
[[nodiscard]] nvml_abi::Code versioned(const Structure* structure, std::uint32_t version, nvml_abi::Code otherwise) {
  if (structure == nullptr) return nvml_abi::Code::kInvalidArgument;
  return structure->version == version ? nvml_abi::Code::kSuccess : otherwise;
}

}  // namespace berth::edges
