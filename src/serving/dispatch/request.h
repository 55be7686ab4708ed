/// A request to a model, as the dispatcher sees it: what it asks for and until when, not its data.
#pragma once

#include <cstdint>

#include "base/core/index.h"
#include "base/core/instant.h"

namespace berth::serving {

using ModelIndex = Index<struct ServedModelTag>;     ///< in the order in which models were added
using TenantIndex = Index<struct ServingTenantTag>;  ///< in the byte order of the tenants' names
using LaneIndex = Index<struct LaneTag>;

/// Rows of data in a request or a batch.
using RowCount = int;

struct Request {
  std::int64_t number = 0;  ///< smaller is older; no two are equal
  ModelIndex model = {};
  TenantIndex tenant = {};
  Instant arrival = {};
  Micros target = {};         ///< an answer later than this after the arrival is late; above 0, at most 10^9 seconds
  std::int64_t priority = 1;  ///< 1 is the highest, at most 1000
  RowCount rows = 1;
  std::uint64_t shape = 0;  ///< of a row: only requests of one shape share a batch
  std::int64_t bytes = 0;   ///< of its data, for the bound of all queues

  [[nodiscard]] Instant deadline() const { return arrival + target; }
  /// What requests are ordered by: priority k as if the deadline were k targets after the arrival, so that no priority
  /// starves another.
  [[nodiscard]] Instant urgency() const { return arrival + target * priority; }

  friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace berth::serving
