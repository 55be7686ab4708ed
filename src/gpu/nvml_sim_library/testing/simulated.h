/// A simulated machine whose library is in this process, for tests of the exported functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvml_abi/abi.h"
#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim_state/state_file.h"
#include "gpu/nvml_sim_state/testing/machines.h"

namespace berth::edges::testing {

inline constexpr std::uint64_t kMib = 1U << 20U;

/// The environment names the machine's state while this object lives; at its end the library is shut down as often as
/// it was initialised.
class Simulated {
 public:
  explicit Simulated(const std::vector<std::string_view>& models);
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;
  ~Simulated();

  [[nodiscard]] std::string path() const { return scratch_.state(); }

  /// The view and actions of another process, through its own file.
  [[nodiscard]] nvml_sim::GpuRecord gpu(std::uint32_t index) const;
  void change(std::uint32_t gpu, const std::function<void(nvml_sim::GpuRecord&)>& work) const;
  void change_machine(const std::function<void(nvml_sim::MachineRecord&)>& work) const;

  /// The calls of this name on the GPU are hit: once, with a code, unless the fault says otherwise.
  void add_fault(std::uint32_t gpu, std::string_view call, nvml_abi::Code error,
                 const nvml_sim::FaultRecord& fault = {}) const;
  /// The next call of this name takes so long that only a failed test waits for its end.
  void hang(std::uint32_t gpu, std::string_view call) const;
  void clear_faults(std::uint32_t gpu) const;
  void set_latency(nvml_sim::Latency latency, std::chrono::milliseconds duration) const;

 private:
  Scratch scratch_;
  std::unique_ptr<SimStateFile> others_;
};

/// The handle of a GPU. Requires: the library is initialised and there is one.
[[nodiscard]] nvml_abi::Device device(std::uint32_t index = 0);

/// Requires: the handle is valid.
[[nodiscard]] std::string uuid_of(nvml_abi::Device device);

/// Waits up to 30 s until a condition holds.
[[nodiscard]] bool wait_until(const std::function<bool()>& is_so);

}  // namespace berth::edges::testing
