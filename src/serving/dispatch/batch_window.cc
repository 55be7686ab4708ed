#include "serving/dispatch/batch_window.h"

#include <algorithm>

namespace berth::serving {
namespace {

/// The requests from `first` on that one batch can take so that all of them are in time.
BatchWindow window_from(std::span<const Request* const> waiting, std::size_t first, const LatencyTable& latency,
                        Instant now) {
  BatchWindow window{.first = first};
  Instant deadline = Instant::never();
  for (const Request* request : waiting.subspan(first)) {
    const RowCount rows = window.rows + request->rows;
    if (rows > latency.rows_max()) break;
    deadline = std::min(deadline, request->deadline());
    if (now + latency.at(rows) > deadline) break;
    window.rows = rows;
    ++window.count;
  }
  return window;
}

}  // namespace

BatchWindow find_batch_window(std::span<const Request* const> waiting, const LatencyTable& latency,
                              RowCount rows_wanted, Instant now) {
  BatchWindow best;
  for (std::size_t first = 0; first < std::min(waiting.size(), kPassedOverMax); ++first) {
    const BatchWindow window = window_from(waiting, first, latency, now);
    if (window.rows > best.rows) best = window;
    const bool is_all = first + window.count == waiting.size();
    if (window.count > 0 && (window.rows >= rows_wanted || is_all)) break;
  }
  return best;
}

RowCount rows_to_keep_up(const LatencyTable& latency, Micros target, int lanes, double row_seconds_max) {
  // With N lanes that start evenly spread, a request waits for one N-th of a batch and then runs: (1 + 1/N) x latency.
  const RowCount rows_max = std::max(latency.rows_within(Micros(target.count() * lanes / (lanes + 1))), 1);
  RowCount rows = 1;
  while (rows < rows_max && latency.at(rows).to_seconds() > row_seconds_max * rows) ++rows;
  return rows;
}

}  // namespace berth::serving
