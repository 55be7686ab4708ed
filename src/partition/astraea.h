/// Astraea-style (reference: Astraea, ASPLOS'22, doi 10.1145/3503222.3507721; its text was not open to us): the least
/// share that keeps each tenant's tail target, on MIG. What is the paper's idea and what is ours stands in
/// docs/policies.md.
#pragma once

#include <vector>

#include "base/instant.h"
#include "domain/scenario.h"
#include "partition/detail/fleet_search.h"
#include "partition/detail/fleet_view.h"
#include "partition/detail/outlook.h"
#include "partition/detail/service_now.h"
#include "partition/target.h"

namespace berth::partition {

struct AstraeaOptions {
  int period_seconds = 10;         ///< between predictions
  int horizon_seconds = 60;        ///< that a prediction looks ahead
  double target_level = 0.8;       ///< share of the predicted seconds whose load a tenant's slices must carry
  double gain_min = 0.005;         ///< a new layout must promise so much more of the objective (0 to 1)
  double retraining_weight = 0.5;  ///< what a retraining is worth beside a missed target; 0: leftovers only
  double capacity_factor = 1.06;   ///< share of a slice's measured throughput that is planned with
};

/// Predicts each period what each tenant needs; where a target is at risk, or a retraining becomes due or is done,
/// gives everyone the least sufficient slices, retrainings what is left over, and the rest to those who gain most; but
/// only if that promises more than what stands, changes counted.
class Astraea {
 public:
  /// `scenario` must outlive it.
  Astraea(const Scenario& scenario, const AstraeaOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);

 private:
  [[nodiscard]] bool has_retraining_news(const Snapshot& snapshot);
  [[nodiscard]] Decision decide_now(const Sight& sight, bool is_news);
  [[nodiscard]] bool is_at_risk(const std::vector<detail::Share>& shares, const std::vector<double>& needs) const;
  void give_spare(detail::FleetPlan& plan, const detail::FleetSearch& search,
                  const std::vector<detail::ServiceNow>& services) const;
  /// What the objective is expected to be over a window.
  [[nodiscard]] double predicted(const std::vector<detail::ServiceNow>& services,
                                 const std::vector<detail::Share>& shares) const;
  /// Adds each plan with the retrainings that got nothing on a borrowed slice.
  void add_lending(std::vector<detail::FleetPlan>& plans, const std::vector<detail::ServiceNow>& services) const;
  void lend(detail::FleetPlan& plan, const std::vector<detail::ServiceNow>& services) const;

  const Scenario& scenario_;
  AstraeaOptions options_;
  detail::FleetView fleet_;
  detail::Outlook outlook_;
  detail::JobRates rates_;
  Instant next_at_;
  std::vector<char> was_due_;
};

}  // namespace berth::partition
