/// A policy: its row in the registry, the inputs of its maker, and the policy made for one run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/serving_modes.h"
#include "domain/values/slice.h"
#include "engine/loop/engine.h"
#include "engine/loop/outlook.h"
#include "engine/policy/settings.h"
#include "engine/policy/trials.h"

namespace berth::policy {

/// What a policy may use when it decides; each kind includes those before it.
enum class Knowledge {
  kScenario,   ///< the scenario file: fleet, services, a layout
  kHistory,    ///< arrivals before second 0
  kObserved,   ///< observations of the run so far
  kHindsight,  ///< later arrivals: a yardstick that cannot be run live
};

/// What a policy is made from. Everything that is referenced must outlive the policy.
struct Inputs {
  const Scenario& scenario;
  const Settings& settings;
  /// Requests of a service in a second of the run. Only policies of Knowledge::kHindsight call it, also during the run.
  std::function<std::int64_t(ServiceId, std::int64_t second)> arrivals = nullptr;
  LayoutTrials trials = {};  ///< called while the policy is made, by `static-best` only
  /// Wraps the source of forecasts, so that they can be recorded. May be empty.
  std::function<OutlookSource(OutlookSource)> watch_forecasts = nullptr;
};

/// A policy for one run.
struct MadePolicy {
  std::vector<Stage> stages;
  /// After the run: the variant used, or what a search tried. May be empty.
  std::function<std::string()> how = nullptr;
  /// After the run: the constraints of the scenario that were not kept. May be empty.
  std::function<std::vector<ConstraintId>()> ignored_constraints = nullptr;
};

/// A row of the registry.
struct Policy {
  std::string_view name;
  Knowledge knowledge = Knowledge::kScenario;
  /// Its plans keep the scenario's constraints, and the engine holds it to that (EngineRules::is_strict).
  bool obeys_constraints = false;
  /// It keeps slices for services with a warm pool (EngineRules::has_warm_pools).
  bool obeys_warm_pools = false;
  /// Common practice today; the other policies are compared with it.
  bool is_reference = false;
  /// Its layout is written for one count of GPUs, so no smaller or larger count can be tried.
  bool has_fixed_count = false;
  /// It chooses its layout by replaying many (Inputs::trials).
  bool searches_by_replay = false;
  /// The ways to share a GPU; a study runs all and reports the best one. Never empty.
  std::vector<Sharing> sharings = {Sharing::kTimeSlices};
  Dispatch dispatch = Dispatch::kPull;
  /// A remark for the answers of `berth size`.
  std::optional<std::string_view> sizing_remark = std::nullopt;
  /// Whether it continues to plan during the run.
  bool (*replans)(const Settings&) = [](const Settings&) { return false; };
  MadePolicy (*make)(const Inputs&) = nullptr;

  [[nodiscard]] bool is_hindsight() const { return knowledge == Knowledge::kHindsight; }
};

}  // namespace berth::policy
