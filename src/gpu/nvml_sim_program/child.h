/// A program that runs as our child and owns the terminal, as if started directly.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/result.h"

namespace berth::nvml_sim_cli {

/// From its construction on, signals that would end us are held for the child, so that nothing is left half made.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }

 private:
  sigset_t before_ = {};
  int descriptor_ = -1;
};

struct ChildOptions {
  std::vector<std::string> command;  ///< not empty; the first word is looked up in PATH, as `environment` has it
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
  /// Called in the child before the program begins. Returns a descriptor of the child for `serve`, or nothing; an error
  /// ends the child.
  std::function<Result<std::optional<int>>()> prepare = {};
  /// Called in the parent with that descriptor whenever it can be read.
  std::function<void(int descriptor)> serve = {};
};

/// Runs the program until it exits and returns its status: 128 + n after signal n, 127 if there is no such program, 126
/// if it cannot be executed (both with a message on stderr). The held signals (SIGINT, SIGTERM, SIGHUP, SIGQUIT,
/// SIGUSR1, SIGUSR2) are passed on, except those from the terminal, which the program gets itself. If we are killed, it
/// gets SIGTERM. Error: that of `prepare`, or kUnavailable. Requires: this process has one thread.
[[nodiscard]] Result<int> run_child(const ChildOptions& options, const HeldSignals& signals);

}  // namespace berth::nvml_sim_cli
