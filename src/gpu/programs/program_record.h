/// What the agent remembers of a program on the disk, as text: it must be known after any kill -9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/process_hands.h"

namespace berth::programs {

/// How a keeper starts the program (gpu/program_runner/keeper.h).
struct ProgramStart {
  std::vector<std::string> words = {};             ///< program and arguments
  std::vector<std::string> environment = {};       ///< NAME=VALUE
  bool is_serve = false;                           ///< the program is this one, whatever the first word says
  std::optional<std::int64_t> uid = std::nullopt;  ///< absent: that of the keeper
  std::optional<std::int64_t> memory_mib = std::nullopt;
  std::optional<std::int64_t> file_mib = std::nullopt;  ///< absent: of a record of an earlier version
  std::int64_t files_max = 0;
  friend bool operator==(const ProgramStart&, const ProgramStart&) = default;
};

/// Written by the agent: what should be.
struct ProgramRecord {
  ProcessOrder order = {};
  bool is_wanted = true;
  std::int64_t starts = 0;  ///< the number of the start that is described here; 0: none yet
  int port = 0;
  std::string key = {};
  std::string ready = {};                           ///< path
  std::optional<Micros> start_time = std::nullopt;  ///< it was ready after that
  std::int64_t ready_seconds = 0;
  std::int64_t drain_seconds = 0;
  std::int64_t in_flight_max = 1;
  ProgramStart start = {};
  std::vector<std::int64_t> failures_us = {};  ///< of the clock of this boot; see RestartClock
  std::int64_t pause_us = 0;
  std::int64_t failed_start = 0;  ///< number of the latest start whose failure is among them
  friend bool operator==(const ProgramRecord&, const ProgramRecord&) = default;
};

/// A process, identified also after its number was used again: start time is field 22 of /proc/PID/stat.
struct ProcessIdentity {
  std::int64_t pid = 0;
  std::uint64_t started = 0;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// Written by the keeper before the program is executed: what is.
struct RunRecord {
  std::int64_t start_number = 0;  ///< ProgramRecord::starts
  ProcessIdentity keeper = {};
  ProcessIdentity program = {};
  friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

/// Written by the keeper once no process of the program is left.
struct EndRecord {
  std::int64_t start_number = 0;
  std::string how = {};  ///< "ended with status 1", "ended by signal 9", "cannot be executed: ..."
  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

[[nodiscard]] std::string text_of(const ProgramRecord& record);
[[nodiscard]] std::string text_of(const RunRecord& record);
[[nodiscard]] std::string text_of(const EndRecord& record);

/// Errors: anything that `text_of` does not write. `path` is for messages.
[[nodiscard]] Result<ProgramRecord> read_program_record(std::string_view text, const std::string& path);
[[nodiscard]] Result<RunRecord> read_run_record(std::string_view text, const std::string& path);
[[nodiscard]] Result<EndRecord> read_end_record(std::string_view text, const std::string& path);

/// Field 22 of the text of /proc/PID/stat; nothing: it is no such text. The name in it may contain anything.
[[nodiscard]] std::optional<std::uint64_t> start_time_in_stat(std::string_view stat);

/// The last `bytes_max` bytes of a log as printable text, from the begin of a line where one is in there.
[[nodiscard]] std::string last_lines(std::string_view log, std::size_t bytes_max);

}  // namespace berth::programs
