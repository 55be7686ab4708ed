/// Verbs that act on a running world: cordon, uncordon, drain, faults, approval and pause.
#pragma once

#include <optional>
#include <string>

#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// `berth cordon|uncordon|drain GPU|NODE --reason TEXT`, as typed.
struct ScheduleWords {
  ServerWords server = {};
  std::string action;  ///< "cordon", "uncordon" or "drain"
  std::string target = {};
  std::optional<std::string> reason = std::nullopt;
  bool is_awaited = false;                                 ///< of a drain: until it has finished
  std::optional<std::string> wait_seconds = std::nullopt;  ///< at most; says `is_awaited`
};
/// An awaited drain prints that it has begun, and ends when every GPU is drained. Errors: kConflict if another order
/// ends the drain, kTimedOut after `wait_seconds`: the drain continues then.
[[nodiscard]] VerbOutcome run_cordon(const ScheduleWords& words, const VerbContext& context);

/// `berth sim fault KIND TARGET`, as typed.
struct FaultWords {
  ServerWords server;
  std::string kind;
  std::string target;
  std::optional<std::string> gpus;
  std::optional<std::string> times;
  std::optional<std::string> seconds;
  std::optional<std::string> profile;
  std::optional<std::string> start;
  std::optional<std::string> factor;
  std::optional<std::string> jitter;
};
[[nodiscard]] VerbOutcome run_fault(const FaultWords& words, const VerbContext& context);
/// `berth sim faults`, as typed: lists the pending faults.
struct FaultsWords {
  ServerWords server;
  std::string output = "table";
};
[[nodiscard]] VerbOutcome run_faults(const FaultsWords& words, const VerbContext& context);

/// `berth plan show [ID]`, as typed; `berth plan history` (history_run.h) uses the same words.
struct PlanShowWords {
  ServerWords server;
  std::string id;  ///< "plan-7" or "7"; empty: the current one
  std::string output = "table";
};
[[nodiscard]] VerbOutcome run_plan_show(const PlanShowWords& words, const VerbContext& context);
/// `berth plan approve [ID]`.
[[nodiscard]] VerbOutcome run_plan_approve(const PlanShowWords& words, const VerbContext& context);

/// `berth plan pause --reason TEXT` and `berth plan resume`, as typed.
struct PauseWords {
  ServerWords server = {};
  bool is_paused = true;
  std::optional<std::string> reason = std::nullopt;
};
[[nodiscard]] VerbOutcome run_pause(const PauseWords& words, const VerbContext& context);

}  // namespace berth::cli
