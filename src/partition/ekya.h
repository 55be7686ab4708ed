/// Ekya-style (reference: Ekya, NSDI'22): the thief scheduler, on MIG. What is its paper's and what is ours stands in
/// docs/policies.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "partition/detail/fleet_search.h"
#include "partition/detail/fleet_view.h"
#include "partition/detail/outlook.h"
#include "partition/target.h"

namespace berth::partition {

struct EkyaOptions {
  int period_seconds = 5;          ///< between decisions without news of a retraining; 0: the scenario's window
  int horizon_seconds = 30;        ///< of the load that is expected; 0: the scenario's window
  double gain_min = 0.008;         ///< a new layout must promise so much more of the objective (0 to 1)
  double nearness_weight = 0.001;  ///< what a plan loses for standing a whole fleet away from the thief's allocation
  double capacity_factor = 1.03;   ///< share of a slice's measured throughput that is planned with
  int quanta_max = 448;            ///< the thief's quantum is one compute slice until the fleet has more than these
};

/// Decides at the start of each window, and when a retraining becomes due or is done: jobs (a service's inference, its
/// retraining) begin with equal shares and steal quanta from each other while the predicted objective improves; the
/// allocation is then rounded to a legal layout near it with the best predicted objective, changes counted.
class Ekya {
 public:
  /// `scenario` must outlive it.
  Ekya(const Scenario& scenario, const EkyaOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);

 private:
  [[nodiscard]] bool is_time(const Sight& sight);
  [[nodiscard]] Decision rounded(const Sight& sight);

  const Scenario& scenario_;
  EkyaOptions options_;
  detail::FleetView fleet_;
  detail::Outlook outlook_;
  std::vector<detail::JobRates> rates_by_variant_;  ///< [variant], as many as the service with most has
  std::vector<int> variants_;                       ///< [service], as last chosen
  Instant next_at_;
  std::vector<char> was_due_;
};

}  // namespace berth::partition
