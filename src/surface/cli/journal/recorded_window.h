/// A window of a `berth up`'s recording, as a scenario.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "sim/world/recorded.h"

namespace berth::cli {

/// A folder and a window of it, as typed.
struct RecordedWindowWords {
  std::string folder;
  std::string from;  ///< RFC 3339; empty: as early as possible
  std::string to;    ///< likewise; empty: as late as possible
};

struct RecordedWindow {
  std::map<std::string, std::string>
      files;                          ///< the scenario as files, by relative path (domain/scenario/scenario_files.h)
  Scenario scenario;                  ///< as read from them; its name is the folder's
  sim::RecordedRun run;               ///< what happened to its devices
  std::string policy;                 ///< that made the decisions
  std::vector<std::string> remarks;   ///< what the scenario leaves out
  std::vector<std::string> warnings;  ///< of reading it (scenario::load_scenario_with_warnings)
  std::string from;                   ///< in words: whole seconds of the world
  std::string to;
};

/// The path of the journal in a folder. Error: there is none.
[[nodiscard]] Result<std::string> find_journal(const std::string& folder);

/// Reads the window, whether or not the server runs. Errors: kInvalidInput (no journal; times that are malformed, in
/// the wrong order or outside the recorded time), kUnavailable (the journal is damaged).
[[nodiscard]] Result<RecordedWindow> read_window(const RecordedWindowWords& words);

/// Prints a line on `err` for each remark.
void print_remarks(const std::vector<std::string>& remarks, std::FILE* err);

}  // namespace berth::cli
