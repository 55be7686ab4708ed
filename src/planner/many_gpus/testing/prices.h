/// The supply of schedules, counted piece by piece: a reference for the fleet's bound.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "planner/many_gpus/detail/price_frame.h"
#include "planner/many_gpus/state.h"
#include "planner/window/testing/problems.h"

namespace berth::planner::testing {

/// By the index of each price: capacity and floors in seconds x requests per second, progress, and changes used (below
/// 0). Capacity outside is not supplied by GPUs.
[[nodiscard]] inline std::vector<double> supplied(const fleet::PriceFrame& frame, const fleet::FleetState& state) {
  using fleet::idx;
  const fleet::Terms& terms = *frame.terms;
  std::vector<double> sums(frame.prices, 0);
  for (const GpuIndex gpu : indices_of<GpuIndex>(terms.problem.gpus)) {
    for (const fleet::Stay& stay : state.path(gpu).stays) {
      const ServiceIndex service = stay.piece.service;
      const ServiceTerms& its = terms.problem.services[idx(service)];
      const fleet::PricePlaces& places = frame.places[idx(service)];
      const Rates& rates = terms.rates(terms.problem.gpus[idx(gpu)].model, stay.kind, service);
      const bool retrains = stay.piece.use == kRetraining;
      for (SlotIndex slot = stay.from; slot < std::min(stay.until, terms.tail_end()); ++slot) {
        const bool is_tail = slot == terms.slots;
        const std::size_t block = idx(frame.block_of(slot));
        const bool is_ready = is_tail || slot >= stay.ready;
        if (retrains) {
          if (its.retraining && rates.retraining_slots > 0 && is_ready && !is_tail) {
            sums[places.progress + block] += 1 / rates.retraining_slots;
          }
          continue;
        }
        const double rate = rates.requests_per_second[idx(stay.piece.use)];
        if (its.floor_rate > 0 && !is_tail && slot >= terms.problem.floors_from) sums[places.floor + block] += rate;
        if (!is_ready) continue;
        bool counts = false;  // from the variant's rung on
        for (std::size_t w = 0; w < its.variants.size(); ++w) {
          counts |= terms.fresh[idx(service)].order[w] == stay.piece.use;
          if (!counts) continue;
          sums[places.capacity + w * idx(frame.blocks()) + block] += rate * (is_tail ? terms.problem.tail_seconds : 1);
        }
      }
    }
    for (const auto& [service, count] : state.path(gpu).changed) {
      if (terms.problem.services[idx(service)].changes_max >= 0) sums[frame.places[idx(service)].change] -= count;
    }
  }
  return sums;
}

[[nodiscard]] inline double at_prices(const std::vector<double>& prices, const std::vector<double>& amounts) {
  return std::inner_product(prices.begin(), prices.end(), amounts.begin(), 0.0);
}

/// Prices from 0 to slightly above the highest that any service pays.
[[nodiscard]] inline std::vector<double> any_prices(const std::vector<double>& price_max,
                                                    const std::vector<double>& scales, Rng& rng) {
  std::vector<double> prices;
  for (std::size_t k = 0; k < price_max.size(); ++k) {
    const double most = price_max[k] < 1e200 ? price_max[k] : 2 * scales[k];
    prices.push_back(rng.below(5) == 0 ? 0 : most * 1.1 * rng.unit());
  }
  return prices;
}

/// Few GPUs in short windows, most services retraining: supply and demand are counted there piece by piece.
[[nodiscard]] inline Shape shape_of_market(std::vector<std::string> gpus, int rules_percent) {
  Shape shape{.gpus = std::move(gpus)};
  shape.services = 3;
  shape.slots = 10;
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 3;
  shape.retraining_percent = 60;
  shape.rules_percent = rules_percent;
  shape.oddities_percent = 60;
  return shape;
}

/// The slots at which the blocks of prices of these windows begin.
[[nodiscard]] inline const std::vector<SlotIndex>& starts_of_market() {
  static const std::vector<SlotIndex> slots = {SlotIndex(0), SlotIndex(4)};
  return slots;
}

}  // namespace berth::planner::testing
