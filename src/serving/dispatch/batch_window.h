/// Early drop (Nexus, SOSP 2019): which of the waiting requests of one model form its next batch.
#pragma once

#include <cstddef>
#include <span>

#include "serving/dispatch/latency_table.h"
#include "serving/dispatch/request.h"

namespace berth::serving {

/// Requests `first` to `first + count - 1` of the given ones; `count` is 0 if none can be in time.
struct BatchWindow {
  std::size_t first = 0;
  std::size_t count = 0;
  RowCount rows = 0;
};

/// How many requests may be passed over: a limit for the time that a decision takes.
inline constexpr std::size_t kPassedOverMax = 1024;

/// The first window in which all requests of a batch are in time and that has `rows_wanted` rows, or all that are
/// left. Without one, the window with the most rows. Requests before the window would make the batch so small that
/// the device falls behind: it is better to drop them. Requires: `waiting` (pointers into a queue) has one shape and
/// is sorted by urgency. O(waiting x rows). Windows begin at one of the first `kPassedOverMax` requests: it is enough
/// to give as many and those of a largest batch.
[[nodiscard]] BatchWindow find_batch_window(std::span<const Request* const> waiting, const LatencyTable& latency,
                                            RowCount rows_wanted, Instant now);

/// The fewest rows of a batch with which the device keeps up, if a row may take `row_seconds_max` of lane time. At
/// most the largest batch that can be in time, with a target of `target`, when requests arrive during the batch
/// before it.
[[nodiscard]] RowCount rows_to_keep_up(const LatencyTable& latency, Micros target, int lanes, double row_seconds_max);

}  // namespace berth::serving
