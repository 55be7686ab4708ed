/// What every verb of the program shares: where it prints, how it reads files, and the exit status that it leaves.
#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"
#include "ports/files.h"

namespace berth::cli {

/// What a verb gets: where it prints, and the exit status it leaves.
struct VerbContext {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  int status = 0;
  const Files* files = nullptr;  ///< borrowed; set before a verb that reads files runs
};

/// How a verb prints: for people, or for programs.
enum class OutputFormat { kTable, kJson };

/// The exit status of a failure: 2 for bad or missing input, 1 for trouble of the outside world, 130 for an interrupt.
[[nodiscard]] int exit_status(ErrorCode code);

/// Ends a verb: its text goes to `out`, or "berth: message" to `err`, and the status is set.
void finish(VerbContext& context, const Result<std::string>& outcome);

}  // namespace berth::cli
