/// The parameters of the policy `berth`, and what watches it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/instant.h"

namespace berth {

struct PlanRecord;

struct PlannerOptions {
  int period_seconds = 5;     ///< between plans; news of a retraining bring one forward
  double tail_seconds = 100;  ///< how long the last layout of a window counts, as far as the run goes
  /// What each slice that is created or destroyed must gain: as much as a GPU's share of all requests, answered for so
  /// long (Problem::change_price). Forecasts err; what gains less stays as it is.
  double gain_min_seconds = 0.5;
  std::int64_t nodes_max = 3'000;
  double gap = 0.003;  ///< of the objective: a plan so near its bound is good enough
  // Ideas that may be left out (0), to see what each is worth.
  int recuts = 1;    ///< 0: the first layout, planned for the whole run, stands for all of it
  int points = 1;    ///< 0: slices run at their default operating points
  int variants = 1;  ///< 0: models in their first form only
  /// Watches, and plans once: in the first step from this instant on in which something stands or nothing is to come.
  std::optional<Instant> plans_once_at = std::nullopt;
  /// Plans at this instant whatever the period says, and though a window be frozen.
  std::optional<Instant> plans_also_at = std::nullopt;
  std::function<void(const PlanRecord&)> record = nullptr;  ///< sees each plan; may be empty
};

}  // namespace berth
