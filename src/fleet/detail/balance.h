/// Prices at which one service takes what GPUs offer it.
///
/// GPUs share their pieces among services by exp(worth / (softness x best worth)) (shares.h). When the prices of
/// one service rise so that its pieces are worth (1 + d) of what they were, and nothing else moves, its supply grows to
/// exp(d / softness) of what it was. The service pays for one request a second more what that is worth to it: a falling
/// staircase. Where both meet is found exactly. For all services in turn with GPUs this is the scaling of rows and
/// columns of R. Sinkhorn (1964), whose fixed point are the prices of the softened problem.
#pragma once

#include <vector>

namespace berth::planner::fleet {

/// What a service would take in a stretch of time: `quantity` more where the price is below `price`. Falling prices.
struct DemandLevel {
  double price = 0;
  double quantity = 0;
};

/// A stretch of time with one price.
struct BalanceBlock {
  const std::vector<DemandLevel>* demand = nullptr;
  double outside = 0;  ///< served elsewhere in any case
  double supply = 0;   ///< at `price`
  double price = 0;
  // Of the floor; need 0: none.
  double floor_need = 0;
  double floor_supply = 0;
  double floor_price = 0;
};

/// Moves `price` and `floor_price` to where demand meets supply, no further than supply is expected to follow. `aside`:
/// price that the same supply gets besides. `reference`: supply follows prices as if they were at least that. Softness
/// > 0.
void balance(BalanceBlock& block, double aside, double reference, double softness);

/// By how much (a logarithm) supply must grow to meet what is wanted, within what one step may do.
[[nodiscard]] double balanced_growth(double supply, double wanted);

}  // namespace berth::planner::fleet
