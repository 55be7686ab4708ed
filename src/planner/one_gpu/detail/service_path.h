/// The best path of one service through the program of its ServiceBound, and its usage: a subgradient at its prices.
#pragma once

#include "planner/one_gpu/detail/service_bound.h"

namespace berth::planner {

class ServicePath {
 public:
  /// Keeps a reference. Requires: the bound is computed.
  explicit ServicePath(const ServiceBound& of) : of_(of) {}

  /// Adds the usage of the best path from a state at first_slot.
  void trace(bool is_fresh, double progress, BundleIndex bundle, Usage& use) const;

 private:
  struct Position {
    SlotIndex t = SlotIndex(0);
    PhaseIndex phase = kFresh;
    BundleIndex bundle = BundleIndex(0);
  };

  void add_use(BundleIndex bundle, SlotIndex from, SlotIndex to, Usage& use) const;
  void add_training(PhaseIndex phase, BundleIndex bundle, SlotIndex from, SlotIndex to, Usage& use) const;
  /// One step on the path that preserves `wanted` of the value: to the next slot, by a change, or to a smaller bundle.
  bool trace_hold(Position& now, double wanted, Usage& use) const;
  bool trace_change(Position& now, double wanted, Usage& use) const;
  bool trace_drop(Position& now, double wanted) const;
  bool trace_free(Position& now, double wanted) const;
  void enter(Position& now, SlotIndex t) const;

  const ServiceBound& of_;
};

}  // namespace berth::planner
