/// A simulated machine for tests, and the libraries that show it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvml_sim_state/state_file.h"

namespace berth::edges::testing {

/// A library of this build: "libberth-nvml-sim.so", or one of those in testing/. Nothing: this build has none, as with
/// sanitizers, or BERTH_PROGRAM does not name its program.
[[nodiscard]] std::optional<std::string> find_simulated_library(std::string_view name);
inline constexpr std::string_view kSimulatedLibrary = "libberth-nvml-sim.so";
inline constexpr std::string_view kOldLibrary = "tests/libberth-nvml-old-driver.so";
inline constexpr std::string_view kObservingLibrary = "tests/libberth-nvml-observing.so";
inline constexpr std::string_view kIncompleteLibrary = "tests/libberth-nvml-two-missing.so";

/// A machine with GPUs of these models, with MIG on if a model has it. Libraries opened during its lifetime show it.
class SimulatedMachine {
 public:
  explicit SimulatedMachine(const std::vector<std::string_view>& models);
  SimulatedMachine(const SimulatedMachine&) = delete;
  SimulatedMachine& operator=(const SimulatedMachine&) = delete;
  ~SimulatedMachine();

  [[nodiscard]] std::string uuid(std::uint32_t gpu);
  void change(std::uint32_t gpu, const std::function<void(nvml_sim::GpuRecord&)>& work);
  /// Creates a GPU instance at the driver's choice of a place, with one compute instance of all its slices; returns its
  /// id.
  int create(std::uint32_t gpu, std::string_view profile);
  [[nodiscard]] SimStateFile& file() { return *file_; }

 private:
  std::string folder_;
  std::unique_ptr<SimStateFile> file_;
};

}  // namespace berth::edges::testing
