/// The parameters of the policy `berth`, and its observers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/core/instant.h"

namespace berth {

struct PlanRecord;

struct PlannerOptions {
  int period_seconds = 5;     ///< between plans; when a retraining becomes due or is done, the next one is made at once
  double tail_seconds = 100;  ///< how long the last layout of a window counts, limited by the end of the run
  /// The least gain of each slice that is created or destroyed, in seconds of a GPU's share of all requests
  /// (Problem::change_price). Forecasts err, so changes that gain less are not made.
  double gain_min_seconds = 0.5;
  std::int64_t nodes_max = 3'000;
  double gap = 0.003;  ///< as a share of the objective: a plan this near its bound is good enough
  /// The run ends with the longest window of the scenario, and plans count on that.
  bool has_end = true;
  // Features that can be switched off (0), to measure the benefit of each.
  int recuts = 1;    ///< 0: one layout, planned for the whole run, stays in place
  int points = 1;    ///< 0: slices run at their default operating points
  int variants = 1;  ///< 0: only the first variant of each model
  /// Loads are forecasts, which err. So the first layout uses what no service needs as spare capacity
  /// (planner/plan/first_layout.h), and a change that loses nothing by waiting for the next plan waits
  /// (planner/many_gpus/prune.h).
  bool loads_are_forecasts = false;
  /// Plans once only: in the first step, from this instant on, in which no earlier stage has added an action.
  std::optional<Instant> plans_once_at = std::nullopt;
  /// Plans at this instant regardless of the period, and even in a frozen window.
  std::optional<Instant> plans_also_at = std::nullopt;
  std::function<void(const PlanRecord&)> record = nullptr;  ///< sees each plan; may be empty
};

}  // namespace berth
