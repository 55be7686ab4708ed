/// The options of `berth replay`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "engine/policy/settings.h"
#include "surface/cli/journal/recorded_window.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// The most GPUs that a fleet may have (docs/reference/scenario.md).
inline constexpr std::int64_t kFleetGpusMax = 100'000;

/// As typed.
struct ReplayOptions {
  std::optional<std::string> scenario;
  std::optional<std::string> journal_in;
  std::string from;  ///< of --journal-in
  std::string to;
  std::vector<std::string> added_gpus;  ///< MODEL=N
  std::optional<std::string> policies;
  std::string seed = "1";
  std::string format = "table";
  std::optional<std::string> report;
  std::optional<std::string> journal;
  std::vector<std::string> parameters;  ///< policy.parameter=value
  bool has_timings = false;
};

[[nodiscard]] OptionTable replay_option_rows(ReplayOptions& words);

/// Checked, as far as possible without the scenario.
struct ReplayRequest {
  std::string scenario_path;                         ///< empty: a recorded window
  std::optional<RecordedWindowWords> recorded;       ///< that window
  std::vector<FleetEntry> added_gpus;                ///< to the recorded fleet, without prices
  std::optional<std::vector<std::string>> policies;  ///< absent: all that the scenario allows
  std::uint64_t seed = 1;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
  std::optional<std::string> journal_path;
  policy::Settings settings;
  bool has_timings = false;
};

/// Refuses neither or both of a scenario and a journal, options for a journal without one, unknown GPU models, unknown
/// and repeated policies (the message lists the known ones), a seed outside 0 to 2^63-1, an unknown format and empty
/// paths.
[[nodiscard]] Result<ReplayRequest> check_replay_options(const ReplayOptions& options);

/// The policies to run, in order: those requested, or else all, `fixed` only if the scenario has a layout. The default
/// for a recorded window is the recording itself (study::kRecorded), `berth` and `static-even`.
[[nodiscard]] std::vector<std::string> policies_to_run(const ReplayRequest& request, const Scenario& scenario);

}  // namespace berth::cli
