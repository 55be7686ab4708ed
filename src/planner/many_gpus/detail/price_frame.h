/// The ranges of slots with one price each, and the index of each price in the list of all prices.
#pragma once

#include <cstddef>
#include <vector>

#include "planner/many_gpus/space.h"
#include "planner/many_gpus/terms.h"

namespace berth::planner::fleet {

/// Index of a range of slots with one price; the last range is the tail.
using BlockIndex = Index<struct BlockTag>;

/// Where the prices of a service begin in the list of all prices.
struct PricePlaces {
  std::size_t capacity = 0;  ///< [rung x blocks + block]
  std::size_t floor = 0;     ///< [block]; only with a floor
  std::size_t progress = 0;  ///< [block]; only with retraining
  std::size_t change = 0;    ///< only with a budget
};

struct PriceFrame {
  /// `begin`: where prices may change, ascending slots from 0.
  PriceFrame(const Terms& of, std::vector<SlotIndex> begin);

  const Terms* terms;
  std::vector<SlotIndex> starts;
  std::vector<Readiness> serving;         ///< [service], lower bounds of the real ones
  std::vector<BlockIndex> block_of_slot;  ///< [slot], slots + 1
  std::vector<double> length;             ///< [block], seconds
  std::vector<double> seconds_before;  ///< [slot x blocks + block]: seconds of a block before a slot, slots + 2 slots
  Grid grid;                           ///< restricting changes to it loses nothing
  std::vector<PricePlaces> places;
  std::size_t prices = 0;  ///< their number

  [[nodiscard]] int blocks() const { return static_cast<int>(starts.size()) + 1; }  ///< the last one is the tail
  /// Where the price of a rung's capacity in a block is in the list of all.
  [[nodiscard]] std::size_t capacity_at(ServiceIndex service, RungIndex rung, BlockIndex block) const {
    return places[idx(service)].capacity + idx(rung) * idx(blocks()) + idx(block);
  }
  [[nodiscard]] BlockIndex block_of(SlotIndex slot) const { return block_of_slot[idx(slot)]; }
  [[nodiscard]] const ServiceTerms& service_terms(ServiceIndex service) const {
    return terms->problem.services[idx(service)];
  }
  /// The worth of a rung of the ladder, per second, or in the tail as a whole.
  [[nodiscard]] double step_of(ServiceIndex service, RungIndex rung, bool is_fresh) const;
  [[nodiscard]] double step_in_tail(ServiceIndex service, RungIndex rung, bool is_fresh) const;

 private:
  void set_delays();
  void place_prices();
};

}  // namespace berth::planner::fleet
