/// The scenario: fleet, services and rules of one simulated world (docs/reference/scenario.md describes every key).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/instant.h"
#include "base/core/shared_list.h"
#include "domain/values/change_times.h"
#include "domain/values/gpu.h"
#include "domain/values/no_changes.h"
#include "domain/values/service.h"
#include "domain/values/slice.h"
#include "domain/values/speed_factors.h"
#include "domain/values/tier_rule.h"

namespace berth {

/// A group of equal GPUs.
struct FleetEntry {
  GpuModel model;
  std::int64_t count = 1;                   ///< > 0
  std::optional<Decimal> usd_per_gpu_hour;  ///< >= 0; absent: costs are not known
};

/// The times of the parts of a change.
struct ChangeCosts {
  Micros destroy = Micros(500'000);
  Micros create = Micros(500'000);
  Micros plumbing = Micros(0);  ///< updating clients and routers
  friend bool operator==(const ChangeCosts&, const ChangeCosts&) = default;
};

/// A period in which no change begins: [from, until).
struct FrozenWindow {
  Instant from;
  Instant until;
  friend bool operator==(const FrozenWindow&, const FrozenWindow&) = default;
};

enum class Fidelity { kRequests, kRates };
/// What the objective averages over.
enum class Objective { kServices, kRequests };

struct Scenario {
  std::string name;  ///< as given on the command line; printed, never opened
  std::vector<FleetEntry> fleet;
  std::int64_t window_seconds = 200;
  std::int64_t history_seconds = 3600;
  Micros observation_delay;
  Micros planning;
  std::vector<Decimal> interference = {
      Decimal(1)};  ///< [k]: factor on latency with k other busy slices on the GPU; >= 1 entry
  Fidelity fidelity = Fidelity::kRequests;
  Objective objective = Objective::kServices;
  ChangeCosts changes;
  std::vector<FrozenWindow> frozen;
  NoChanges no_changes;  ///< of a world at run time; changes by the event NoChangesSet
  /// For a fleet that may grow and shrink: the time from the order of a GPU until it can hold slices. Absent: all GPUs
  /// are always there.
  std::optional<std::int64_t> provision_seconds;
  MeasuredTimes measured_times;                ///< override those of `changes`; set by the event TimesMeasured
  SpeedFactors speeds;                         ///< correct the services' tables; set by the event SpeedMeasured
  std::int64_t gpus_per_node = 8;              ///< > 0; see domain/values/node.h
  std::optional<std::vector<Holding>> layout;  ///< sorted by slice, legal
  TierSettings tiers;
  SharedList<ServiceSpec> services;

  /// The GPUs of all fleet entries.
  [[nodiscard]] std::uint32_t gpu_count() const;
  /// The fleet entry that a GPU belongs to. Requires: gpu.index < gpu_count().
  [[nodiscard]] const FleetEntry& entry_of(GpuId gpu) const;
  [[nodiscard]] const GpuModel& model_of(GpuId gpu) const { return entry_of(gpu).model; }
  /// The longest window: the run ends there.
  [[nodiscard]] std::int64_t simulated_seconds() const;
};

/// How long a change takes according to the scenario.
[[nodiscard]] Micros assumed_time(const Scenario& scenario, ActionKind action);
/// The time that plans assume for a change of a slice of this profile and model: as measured, else as the scenario
/// states.
[[nodiscard]] Micros change_time(const Scenario& scenario, const GpuModel& model, ProfileId profile, ActionKind action);
/// The same by names.
[[nodiscard]] Micros change_time(const Scenario& scenario, const ChangeKind& change);
/// The longest time that plans assume for a change of any slice.
[[nodiscard]] Micros longest_change_time(const Scenario& scenario, ActionKind action);

/// The name of a service in messages: with its tenant, "media/detector", if a service of another tenant has the same
/// name. Requires: it is one of the scenario. O(services).
[[nodiscard]] std::string service_label(const Scenario& scenario, ServiceId service);

/// How long a whole retraining takes on a profile of a model; nothing if its size is not listed. A whole GPU has the
/// time of `full` (key 0) or, if that is absent and its model has MIG, that of the model's compute slices.
[[nodiscard]] std::optional<Micros> retraining_time_on(const Retraining& retraining, const GpuModel& model,
                                                       ProfileId profile);

}  // namespace berth
