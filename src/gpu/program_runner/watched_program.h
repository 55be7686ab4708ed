/// A program as the agent watches it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/core/instant.h"
#include "domain/ports/process_hands.h"
#include "gpu/hands/descriptor.h"
#include "gpu/program_runner/http_probe.h"
#include "gpu/programs/program_record.h"
#include "gpu/programs/restart_clock.h"

namespace berth::edges {

struct WatchedProgram {
  /// Whether a keeper is at work. kUnknown: one holds the lock, and it is not known yet which.
  enum class Kept : std::uint8_t { kNo, kUnknown, kYes };

  programs::ProgramRecord record;
  std::string folder;
  ProcessPhase phase = ProcessPhase::kStarting;
  std::string message = {};
  programs::RestartClock restarts = {};
  Instant start_at = {};  ///< kNo: when it is to start

  Kept kept = Kept::kNo;
  Descriptor keeper = {};  ///< kYes
  pid_t keeper_pid = 0;    ///< of a child of this process; 0: of another
  std::int64_t pid = 0;    ///< of the program; 0: not known
  bool is_asked_to_end = false;
  bool is_late = false;      ///< it was not ready in time
  bool is_cleaning = false;  ///< the keeper only removes its home

  Instant started = {};
  Instant ready_until = {};
  HttpProbe probe = {};
  Instant probe_since = {};
  std::string probe_message = {};
};

[[nodiscard]] ProcessReport report_of(const WatchedProgram& program, Instant now);

}  // namespace berth::edges
