#include "planner/many_gpus/detail/balance.h"

#include <algorithm>
#include <cmath>

namespace berth::planner::fleet {
namespace {

constexpr double kGrowthMost = 1.5;  ///< logarithm of how much supply may change in one step
constexpr int kHalvings = 16;
constexpr double kPriceLeast = 1e-3;  ///< share of the highest price; lower prices move as fast as that one

/// The worth of one more request per second at this supply.
double price_at(const BalanceBlock& block, double supply) {
  double left = block.outside + supply;
  for (const DemandLevel& level : *block.demand) {
    left -= level.quantity;
    if (left < 0) return level.price;
  }
  return 0;
}

}  // namespace

void balance(BalanceBlock& block, double aside, double reference, double softness) {
  const bool has_floor = block.floor_need > 0;
  const double top = block.demand->empty() ? 0 : block.demand->front().price;
  const double fs = std::max(block.floor_supply, 1e-3 * block.floor_need);
  const double ready = has_floor ? std::min(1.0, block.supply / fs) : 1;
  const double now = block.price * ready + block.floor_price;
  const double scale = softness * std::max({now + aside, reference, kPriceLeast * top});
  if (scale <= 0) return;
  // By how much the price that demand pays at this supply exceeds the price that yields it: falling in x.
  const auto surplus = [&](double x) { return ready * price_at(block, std::exp(x) * block.supply) - now - x * scale; };
  double low = -kGrowthMost;
  double high = kGrowthMost;
  if (surplus(high) >= 0) {
    low = high;
  } else if (surplus(low) <= 0) {
    high = low;
  }
  for (int i = 0; i < kHalvings && low < high; ++i) {
    const double middle = (low + high) / 2;
    (surplus(middle) > 0 ? low : high) = middle;
  }
  const double floor_x =
      has_floor ? std::clamp(std::log(block.floor_need / fs), -kGrowthMost, kGrowthMost) : -kGrowthMost;
  const double reach = kGrowthMost * scale;  // the limit of a step
  const auto within_reach = [&](double to, double from) { return std::clamp(to, from - reach, from + reach); };
  if (floor_x > high) {
    block.price = within_reach(price_at(block, std::exp(floor_x) * block.supply), block.price);
    block.floor_price = std::max(0.0, now + floor_x * scale - ready * block.price);
    return;
  }
  const double most = low < high ? price_at(block, std::exp(low) * block.supply) : top;
  const double least = low < high ? price_at(block, std::exp(high) * block.supply) : 0;
  const double price = ready > 0 ? std::clamp((now + high * scale) / ready, least, most) : top;
  block.price = within_reach(price, block.price);
  block.floor_price = within_reach(0, block.floor_price);
}

double balanced_growth(double supply, double wanted) {
  if (wanted <= 0) return supply > 0 ? -kGrowthMost : 0;
  if (supply <= 0) return kGrowthMost;
  return std::clamp(std::log(wanted / supply), -kGrowthMost, kGrowthMost);
}

}  // namespace berth::planner::fleet
