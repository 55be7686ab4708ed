/// The best settings of simple policies, chosen with knowledge of the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "purchase/scale/problem.h"
#include "purchase/scale/rules.h"
#include "purchase/scale/run.h"

namespace berth::scale {

/// The settings that are tried: by target, then hold.
[[nodiscard]] const std::vector<Tracking>& tracking_choices();

struct TunedResult {
  Tracking tracking;
  RunResult run;
};

/// Target tracking with the cheapest of the targets 0.20, 0.25 ... 1.20 and holds 60, 300, 600 that reaches the
/// attainment; ties: the smaller target, then hold. If none does, the one with most requests in time, with the same
/// ties. Simulates all 63. Nothing if `progress`, which may be absent, returned false.
[[nodiscard]] std::optional<TunedResult> tuned_tracking(const Problem& problem, const Progress& progress = {});

struct FixedResult {
  std::int64_t replicas = 0;
  RunResult run;
};

/// The smallest constant number that reaches the attainment, ready at second 0. With a constant capacity, serving the
/// oldest first serves as many requests in time as any order could, so more replicas never serve fewer: bisection.
[[nodiscard]] FixedResult smallest_fixed(const Problem& problem);

}  // namespace berth::scale
