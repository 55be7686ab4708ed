/// The parameters of the published planners, adapted (docs/reference/policies.md), with their tuned defaults.
#pragma once

#include <cstdint>

namespace berth::partition {

struct EkyaOptions {
  /// Between decisions while no retraining becomes due or is done; 0: the scenario's window.
  int period_seconds = 5;
  int horizon_seconds = 30;        ///< length of the expected load; 0: the scenario's window
  double gain_min = 0.008;         ///< the least gain of a new layout in the expected objective (0 to 1)
  double nearness_weight = 0.001;  ///< the loss of a plan that differs from the thief's allocation by a whole fleet
  double capacity_factor = 1.03;   ///< the share of a slice's measured throughput that plans count on
  int quanta_max = 448;            ///< the thief's quantum is one compute slice until the fleet has more than these
};

struct AstraeaOptions {
  int period_seconds = 10;         ///< between predictions
  int horizon_seconds = 60;        ///< how far a prediction looks ahead
  double target_level = 0.8;       ///< share of the predicted seconds whose load a tenant's slices must serve
  double gain_min = 0.005;         ///< the least gain of a new layout in the expected objective (0 to 1)
  double retraining_weight = 0.5;  ///< the worth of a retraining relative to a missed target; 0: leftovers only
  double capacity_factor = 1.06;   ///< the share of a slice's measured throughput that plans count on
};

struct MigratorOptions {
  /// Between solutions while no retraining becomes due or is done; 0: the scenario's window.
  int period_seconds = 50;
  int horizon_seconds = 0;       ///< of a program; 0: the scenario's window
  double block_seconds = 50;     ///< the length of the first block
  double block_growth = 3;       ///< the length of each next block, in lengths of the one before
  double change_factor = 2;      ///< the program multiplies the seconds that a new slice takes by this: forecasts err
  double patience_seconds = 10;  ///< a retraining this near its end keeps its slice at the end of a block
  int columns_max = 6000;        ///< blocks are made longer until the program has at most this many columns
  std::int64_t nodes_max = 200;  ///< of the branch and bound
  double gap_allowed = 0.005;    ///< as a share of a program's objective: a solution this near its bound is good enough
  double gain_min = 0.008;       ///< the least gain of a plan over the existing slices in the objective (0 to 1)
  double capacity_factor = 1.03;  ///< the share of a slice's measured throughput that plans count on
};

}  // namespace berth::partition
