/// `berth-nvml-sim run`: a program on a simulated machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

struct RunWords {
  std::string fleet;  ///< path of the fleet file
  /// Path. Absent: the fleet file's, else a temporary state that ends with the program.
  std::optional<std::string> state;
  bool has_fake_root = false;
  std::vector<std::string> command;  ///< not empty
};

/// Runs the program until it exits and returns its status, as `run_child` does. An error means that it never began:
/// kInvalidInput or kNotFound for wrong options or files, kUnavailable for the rest.
[[nodiscard]] Result<int> run_on_machine(const RunWords& words);

}  // namespace berth::nvml_sim_cli
