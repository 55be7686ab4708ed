/// A solver's answer: a plan, and the data that the stage needs for its next question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/conflict.h"
#include "domain/values/plan.h"
#include "domain/values/promise.h"
#include "domain/values/slice.h"

namespace berth {

class ArchiveReader;
class ArchiveWriter;

/// When a slice that a plan creates or assigns is expected to work for its holders.
struct ExpectedReady {
  Slice slice;
  Instant at;
  friend bool operator==(const ExpectedReady&, const ExpectedReady&) = default;
};

/// Whether all constraints could be met at an instant, as found by a search too expensive to repeat for each plan.
struct FoundFeasibility {
  Instant at;
  ConflictSearchResult result;
  friend bool operator==(const FoundFeasibility&, const FoundFeasibility&) = default;
};

struct Solution {
  Plan plan;
  std::optional<std::string> infeasible = std::nullopt;  ///< why no plan can exist
  std::vector<ExpectedReady> ready;                      ///< only planners set it
  /// Of each service that has a floor, as the plan leaves it, even if the plan changes nothing. Absent: the policy does
  /// not plan for floors.
  std::optional<std::vector<PlannedFloor>> floors = std::nullopt;
  std::optional<FoundFeasibility> feasibility = std::nullopt;  ///< the latest search, by this or an earlier question
  /// Requests per second of each service [ServiceId] over the time for which the plan is judged; only planners set it.
  std::vector<double> mean_rates = {};
  std::vector<Promise> promises = {};  ///< of each GPU that a planner changes, unless it makes the first layout

  static void archive_fields(ArchiveWriter& archive, const Solution& solution);
  static void archive_fields(ArchiveReader& archive, Solution& solution);
  friend bool operator==(const Solution&, const Solution&);
};

}  // namespace berth
