/// MIGRator-style (reference: MIGRator, arXiv 2407.13126; its equations were not open to us): an integer program over a
/// window decides how GPUs are cut over time. What is the paper's and what is ours stands in docs/policies.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"
#include "domain/scenario.h"
#include "partition/detail/fleet_search.h"
#include "partition/detail/fleet_view.h"
#include "partition/detail/outlook.h"
#include "partition/detail/service_now.h"
#include "partition/detail/window_ilp.h"
#include "partition/target.h"

namespace berth::partition {

struct MigratorOptions {
  int period_seconds = 50;       ///< between solutions without news of a retraining; 0: the scenario's window
  int horizon_seconds = 0;       ///< of a program; 0: the scenario's window
  double block_seconds = 50;     ///< slots of a second are merged: the first block has so many,
  double block_growth = 3;       ///< each next one so many times as many
  double change_factor = 2;      ///< the program counts so many times the seconds that a new slice takes: forecasts err
  double patience_seconds = 10;  ///< a retraining so near its end is not taken off its slice at the end of a block
  int columns_max = 6000;        ///< blocks are made longer until the program has no more
  std::int64_t nodes_max = 200;  ///< of the branch and bound
  double gap_allowed = 0.005;    ///< of a program's objective: good enough
  double gain_min = 0.008;       ///< a plan must promise so much more of the objective (0 to 1) than what stands
  double capacity_factor = 1.03;  ///< share of a slice's measured throughput that is planned with
};

/// Solves the program of detail/window_ilp.h at the start of each window and when a retraining becomes due or is done,
/// and carries its blocks out one by one until the next.
class Migrator {
 public:
  /// `scenario` must outlive it.
  Migrator(const Scenario& scenario, const MigratorOptions& options);

  [[nodiscard]] Decision decide(const Sight& sight);

  /// What the programs so far were like.
  struct Solved {
    std::int64_t count = 0;
    std::int64_t within_count = 0;    ///< optimal within the gap allowed
    std::int64_t unsolved_count = 0;  ///< no solution within the nodes: what stands stays
    double gap_sum = 0;               ///< of those with a solution
    double gap_max = 0;
  };
  [[nodiscard]] const Solved& solved() const { return solved_; }

 private:
  [[nodiscard]] bool is_time(const Snapshot& snapshot);
  [[nodiscard]] detail::WindowProblem make_problem(const Sight& sight,
                                                   const std::vector<detail::ServiceNow>& services) const;
  void fill_blocks(const Sight& sight, const std::vector<detail::ServiceNow>& services, double block_seconds,
                   detail::WindowProblem& problem) const;
  void plan_window(const Sight& sight);
  [[nodiscard]] bool is_about_to_end(const Sight& sight, const detail::FleetPlan& standing,
                                     const detail::FleetPlan& next) const;
  void note(const detail::WindowAnswer& answer);
  [[nodiscard]] Decision carry_out(const Sight& sight);

  const Scenario& scenario_;
  MigratorOptions options_;
  std::int64_t window_seconds_;
  detail::FleetView fleet_;
  detail::Outlook outlook_;
  detail::JobRates rates_;
  Instant next_at_;
  std::vector<char> was_due_;
  Solved solved_;

  Instant planned_at_;
  std::vector<double> block_seconds_;
  std::vector<detail::BlockCounts> blocks_;  ///< empty: what stands stays
  std::size_t block_next_ = 0;               ///< the first that is not carried out yet
  double promised_ = 0;                      ///< the program's objective over the window
  double bound_ = 0;
};

}  // namespace berth::partition
