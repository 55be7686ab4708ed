/// Prices at which the demand of one service equals the supply of the GPUs.
///
/// GPUs share their pieces among services by exp(worth / (softness x best worth)) (shares.h). When the prices of one
/// service rise so that its pieces are worth (1 + d) of what they were, and nothing else changes, its supply grows to
/// exp(d / softness) of what it was. For one more request per second the service pays its worth: a decreasing step
/// function. The intersection of both is found exactly. Alternating services and GPUs is the scaling of rows and
/// columns by R. Sinkhorn (1964), whose fixed point is the prices of the softened problem.
#pragma once

#include <vector>

namespace berth::planner::fleet {

/// A step of a service's demand in a range of slots: `quantity` more if the price is below `price`. Prices decrease.
struct DemandLevel {
  double price = 0;
  double quantity = 0;
};

/// A range of slots with one price.
struct BalanceBlock {
  const std::vector<DemandLevel>* demand = nullptr;
  double outside = 0;  ///< served elsewhere anyway
  double supply = 0;   ///< at `price`
  double price = 0;
  // Of the floor; need 0: none.
  double floor_need = 0;
  double floor_supply = 0;
  double floor_price = 0;
};

/// Moves `price` and `floor_price` towards the point where demand equals supply, within the change of supply allowed
/// per step. `aside`: an additional price of the same supply. `reference`: supply follows prices as if they were at
/// least that. Softness > 0.
void balance(BalanceBlock& block, double aside, double reference, double softness);

/// The logarithm of the factor by which supply must grow to equal `wanted`, within the limit of one step.
[[nodiscard]] double balanced_growth(double supply, double wanted);

}  // namespace berth::planner::fleet
