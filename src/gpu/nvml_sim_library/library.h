/// The one library of a process: how often it was initialised, the state that it shares with others, and what is common
/// to all calls. Every exported function makes a `Call` and gives it, with its work, to `ask` or `change`.
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
  nvml_abi::Code arguments = nvml_abi::Code::kSuccess;  ///< what is wrong with the other arguments
  nvml_sim::Latency latency = nvml_sim::Latency::kRead;
};

/// What a call is about. Valid while the state does not change: inside the function that gets it.
struct Subject {
  const nvml_sim::MachineRecord& machine;
  const nvml_sim::GpuRecord& gpu;
  Target target;
};

using Answering = std::function<nvml_abi::Code(const Subject&)>;
using Finding = std::function<nvml_sim::Answer<Target>(const nvml_sim::MachineRecord&)>;
using Describing = std::function<nvml_abi::Code(const nvml_sim::MachineRecord&)>;
/// Changes the GPU. A creation makes `target` what it created.
using Changing = std::function<nvml_abi::Code(nvml_sim::GpuRecord&, Target& target, const nvml_sim::Caller&)>;

/// Thread-safe.
class Library {
 public:
  Library();

  /// Inits are counted. The first opens the state that the environment names (BERTH_NVML_SIM_STATE).
  /// kDriverNotLoaded: it names none, or there is none. kLibRmVersionMismatch: it is of another version.
  [[nodiscard]] nvml_abi::Code init(const char* name);
  /// kUninitialized: one too many.
  [[nodiscard]] nvml_abi::Code shut_down();

  /// A question about the machine.
  [[nodiscard]] nvml_abi::Code describe(const char* name, nvml_abi::Code arguments, const Describing& answer);
  /// A question about what a handle stands for.
  [[nodiscard]] nvml_abi::Code ask(const Call& call, const Answering& answer);
  /// Looks something up and gives its handle.
  [[nodiscard]] nvml_abi::Code look_up(const char* name, nvml_abi::Code arguments, const Finding& find, void** handle);
  /// A change of a GPU: one at a time for each, and it takes the call's latency. `work` may be called on a copy first,
  /// to see whether it is refused. `made` gets the handle of what it created.
  [[nodiscard]] nvml_abi::Code change(const Call& call, const Changing& work, void** made = nullptr);

  /// A handle of something that exists.
  [[nodiscard]] void* handle_of(const nvml_sim::MachineRecord& machine, const Target& target) {
    return handles_.handle_of(machine, target);
  }

  [[nodiscard]] nvml_abi::Code create_event_set(std::uint64_t* set);
  [[nodiscard]] nvml_abi::Code free_event_set(std::uint64_t set);
  [[nodiscard]] nvml_abi::Code register_events(const Call& call, std::uint64_t types, std::uint64_t set);
  /// Waits for an event of the set; `found` gets it, while the state does not change. kTimeout: none came.
  [[nodiscard]] nvml_abi::Code wait_for_event(
      const char* name, std::uint64_t set, std::uint32_t timeout_ms,
      const std::function<void(const nvml_sim::MachineRecord&, const nvml_sim::EventRecord&)>& found);

  /// Around a fork: the child has a library that was never initialised.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  using File = std::shared_ptr<SimStateFile>;  ///< a call that is under way keeps it when another thread shuts down

  [[nodiscard]] File file();
  [[nodiscard]] nvml_sim::Answer<Target> resolve(const nvml_sim::MachineRecord& machine, const Call& call);
  [[nodiscard]] nvml_abi::Code ask_found(const Call& call, const Finding& find, const Answering& answer);

  std::mutex mutex_;
  int inits_ = 0;
  File file_;
  File abandoned_;  ///< the parent's, in a child
  Handles handles_;
  EventSets sets_;
};

/// Made at the first use and never destroyed, as threads may be inside when the program ends.
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
