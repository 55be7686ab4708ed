/// The arithmetic of a schedule: the share of each service, and the effect of one slice more or less.
#pragma once

#include <optional>
#include <vector>

#include "planner/window/check.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// The change of the objective if a service had one more slice of a kind from slot 0 to the end, or if one of its last
/// slices had no effect while the service holds it.
struct SliceStep {
  ModelIndex model;
  KindIndex kind;
  double requests_per_second = 0;
  double change = 0;  ///< of the objective, everything else as planned
};

/// Means over the slots of the window.
struct ServiceShare {
  double forecast = 0;                ///< requests per second
  double capacity = 0;                ///< requests per second of slices that are ready
  double served = 0;                  ///< expected answers in time per second
  double value = 0;                   ///< of the window and the tail, in the objective's unit
  std::optional<SliceStep> one_more;  ///< the kind that would gain most per SM, if any gains
  std::optional<SliceStep> one_less;  ///< the slice at the end whose loss costs least
};

/// The shares, by service. Requires: a schedule without faults. O((pieces + services x kinds) x slots x samples).
[[nodiscard]] std::vector<ServiceShare> explain_shares(const Problem& problem, const Schedule& schedule);

}  // namespace berth::planner
