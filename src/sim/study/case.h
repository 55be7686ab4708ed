/// What slices, reconfiguration, scaling and commitments save, step by step, on the same arrivals
/// (docs/reference/case.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "sim/measure/result.h"
#include "sim/world/journal.h"
#include "sim/world/rented_gpus.h"

namespace berth::study {

struct CaseOptions {
  Decimal attainment = Decimal(99, 100);  ///< the share in time that every service must keep; in (0, 1]
  std::uint64_t seed = 1;
  /// The price of a GPU-hour that is paid for over the whole run, used or not. Absent: the step is left out.
  std::optional<std::int64_t> committed_micro_usd_per_gpu_hour = std::nullopt;
};

/// One step of the waterfall.
struct CaseStep {
  std::string name;
  bool is_hindsight = false;
  std::optional<std::string> infeasible = std::nullopt;  ///< why the step is impossible; ignore its figures then
  bool holds = false;                                    ///< every service keeps the attainment
  std::string how = {};                                  ///< the numbers and settings found
  double gpus_mean = 0;
  std::int64_t gpus_max = 0;
  std::int64_t gpu_us = 0;  ///< GPU-microseconds paid for
  std::int64_t cost_micro_usd = 0;
  std::optional<std::int64_t> cost_micro_usd_per_million_in_time = std::nullopt;
  std::int64_t requests = 0;
  std::int64_t in_time = 0;
  std::optional<double> slo_attainment_worst_service = std::nullopt;
  measure::Utilisation utilisation = {};      ///< of the GPU-time paid for
  std::vector<sim::RentedCount> counts = {};  ///< GPUs over time
  std::optional<double> saves_of_first =
      std::nullopt;  ///< share of the first step's cost; absent: nothing to save from
  std::optional<double> saves_of_second = std::nullopt;  ///< of the second step's
  measure::Timeline timeline = {};                       ///< empty for `commitments`
};

struct CaseResult {
  std::string scenario;
  std::string gpu_model;
  std::int64_t simulated_seconds = 0;
  std::int64_t provision_seconds = 0;
  Decimal usd_per_gpu_hour;
  CaseOptions options;
  bool is_small = false;  ///< some service has fewer than 2 GPUs in the first step
  std::vector<CaseStep> steps;
};

struct CaseHooks {
  /// Called from time to time with the step and the share of its work that is done (0 to 1). Returns false to stop,
  /// which ends with ErrorCode::kInterrupted. May be empty.
  std::function<bool(std::string_view step, double done)> progress;
  /// Receives the journal of each step, one after the other; that of `commitments` is that of `scaling`, with the GPUs
  /// that are paid for. May be empty.
  std::function<void(std::string_view step, const sim::JournalRecord&)> journal;
};

/// The names of the steps, in order.
[[nodiscard]] const std::vector<std::string>& case_step_names();

/// Error unless the fleet has one GPU model with a price, and the scenario states how long provisioning takes.
[[nodiscard]] Result<void> check_case(const Scenario& scenario);

/// Works out all steps. The scenario's count and layout are ignored. The same arguments give the same result. Errors: a
/// service that no whole GPU can serve; stopped by a hook. Requires: check_case finds nothing.
[[nodiscard]] Result<CaseResult> run_case(const Scenario& scenario, const CaseOptions& options, const CaseHooks& hooks);

/// The cheapest number of GPUs to pay for all the time at one price, while the rest of `counts` is paid at another;
/// both per GPU-hour. `until` ends the run.
struct Commitment {
  std::int64_t gpus = 0;
  std::int64_t cost_micro_usd = 0;
  friend bool operator==(const Commitment&, const Commitment&) = default;
};
[[nodiscard]] Commitment cheapest_commitment(const std::vector<sim::RentedCount>& counts, Instant until,
                                             const Decimal& committed_usd_per_hour, const Decimal& usd_per_hour);

}  // namespace berth::study
