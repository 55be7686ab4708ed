/// Common parts of all verbs: where a verb prints, how it reads files, and its exit status.
#pragma once

#include <cstdio>
#include <string>

#include "base/result.h"
#include "ports/files.h"

namespace berth::cli {

/// The context of a verb: where it prints, how it reads files, and its exit status.
struct VerbContext {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  int status = 0;
  const Files* files = nullptr;  ///< borrowed; set before a verb that reads files runs
};

/// How a verb prints: a table for people, or JSON for programs.
enum class OutputFormat { kTable, kJson };

/// The exit status of a failure: 2 for bad or missing input, 1 for a failure of the environment, 130 for an interrupt.
[[nodiscard]] int exit_status(ErrorCode code);

/// Ends a verb: prints its text to `out`, or "berth: message" to `err`, and sets the status.
void finish(VerbContext& context, const Result<std::string>& outcome);

}  // namespace berth::cli
