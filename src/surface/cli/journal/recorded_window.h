/// A window of what a `berth up` has recorded, as a scenario.
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

/// Which window of which folder, as typed.
struct RecordedWindowWords {
  std::string folder;
  std::string from;  ///< RFC 3339; empty: as early as possible
  std::string to;    ///< likewise; empty: as late as possible
};

struct RecordedWindow {
  std::map<std::string, std::string>
      files;                         ///< the scenario as files, by relative path (domain/scenario/scenario_files.h)
  Scenario scenario;                 ///< as it is read from them; its name is the folder's
  sim::RecordedRun run;              ///< what happened to its devices
  std::string policy;                ///< that decided
  std::vector<std::string> remarks;  ///< what the scenario does not say
  std::string from;                  ///< in words: whole seconds of the world
  std::string to;
};

/// The path of the journal of a folder. Error: it has none.
[[nodiscard]] Result<std::string> find_journal(const std::string& folder);

/// Reads it, whether or not the server runs. Errors: kInvalidInput: no journal, times that are none, in the wrong order
/// or outside of what is recorded; kUnavailable: what is read is not what was written.
[[nodiscard]] Result<RecordedWindow> read_window(const RecordedWindowWords& words);

/// A line on `err` for each.
void print_remarks(const std::vector<std::string>& remarks, std::FILE* err);

}  // namespace berth::cli
