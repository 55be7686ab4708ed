/// The programs of this machine: starts, watches, restarts and stops them, by orders of the agent's client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/core/result.h"
#include "gpu/hands/program_verbs.h"
#include "gpu/programs/program_rules.h"

namespace berth::edges {

struct ProgramRunnerOptions {
  programs::ProgramRules rules;
  /// The file of the simulated machine that this one is; absent: a real one.
  std::optional<std::string> simulated_state = std::nullopt;
  std::string keeper_program = "/proc/self/exe";     ///< executed as `berth hands --keep FOLDER --start N`
  std::function<void(const std::string&)> log = {};  ///< a line; called by any thread, under a lock
};

/// Error (kInvalidInput): a command or engine that is missing, or that others may write; a repository that is no
/// folder; a range of users that has one of this machine.
[[nodiscard]] Result<void> check_rules(const programs::ProgramRules& rules);
/// Error (kUnavailable): this process cannot become other users, which `separate_users` asks for.
[[nodiscard]] Result<void> check_privileges(const programs::ProgramRules& rules);

/// A thread watches. Each program has a keeper (keeper.h), which outlives this object and its process: programs that
/// are there at the start are adopted, by the lock that their keeper holds, and its number and start time.
class ProgramRunner {
  class Watch;
  struct OnlyByOpen {};

 public:
  /// Errors: the state folder cannot be used; another agent uses it (kUnavailable).
  [[nodiscard]] static Result<std::unique_ptr<ProgramRunner>> open(ProgramRunnerOptions options);
  ProgramRunner(OnlyByOpen by, std::unique_ptr<Watch> watch);
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;
  /// Programs go on.
  ~ProgramRunner();

  /// What a server of the agent calls; valid as long as this object. Thread-safe.
  [[nodiscard]] ProgramVerbs verbs();

 private:
  std::unique_ptr<Watch> watch_;
};

}  // namespace berth::edges
