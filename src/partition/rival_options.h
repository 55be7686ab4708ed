/// The parameters of the published planners, adapted (docs/policies.md), with their tuned defaults.
#pragma once

#include <cstdint>

namespace berth::partition {

struct EkyaOptions {
  int period_seconds = 5;          ///< between decisions without news of a retraining; 0: the scenario's window
  int horizon_seconds = 30;        ///< of the load that is expected; 0: the scenario's window
  double gain_min = 0.008;         ///< a new layout must promise so much more of the objective (0 to 1)
  double nearness_weight = 0.001;  ///< what a plan loses for standing a whole fleet away from the thief's allocation
  double capacity_factor = 1.03;   ///< share of a slice's measured throughput that is planned with
  int quanta_max = 448;            ///< the thief's quantum is one compute slice until the fleet has more than these
};

struct AstraeaOptions {
  int period_seconds = 10;         ///< between predictions
  int horizon_seconds = 60;        ///< that a prediction looks ahead
  double target_level = 0.8;       ///< share of the predicted seconds whose load a tenant's slices must carry
  double gain_min = 0.005;         ///< a new layout must promise so much more of the objective (0 to 1)
  double retraining_weight = 0.5;  ///< what a retraining is worth beside a missed target; 0: leftovers only
  double capacity_factor = 1.06;   ///< share of a slice's measured throughput that is planned with
};

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

}  // namespace berth::partition
