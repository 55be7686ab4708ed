/// Simulated machines for tests, and folders for their state files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/nvml_sim/state.h"
#include "gpu/nvml_sim_state/state_file.h"

namespace berth::edges::testing {

/// A folder that is removed with this object.
struct Scratch {
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  [[nodiscard]] std::string state() const { return (path / "state").string(); }
  std::filesystem::path path;
};

/// A machine with a GPU of each of these models, MIG on if the model has it; driver 580.95.
[[nodiscard]] std::unique_ptr<nvml_sim::MachineRecord> machine_of(const std::vector<std::string_view>& models);

/// Creates the state of such a machine. Requires: it can be created.
void create_state(const std::string& path, const std::vector<std::string_view>& models);
/// Requires: it can be opened.
[[nodiscard]] std::unique_ptr<SimStateFile> open_state(const std::string& path);

/// The current machine; it is too large for a stack.
[[nodiscard]] std::unique_ptr<nvml_sim::MachineRecord> copy_of(SimStateFile& file);

}  // namespace berth::edges::testing
