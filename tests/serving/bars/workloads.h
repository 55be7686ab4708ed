// Random requests of the bars of serving, and the device they run on (docs/reference/serve.md, "Measured").
#pragma once

#include <cstdint>
#include <vector>

#include "serving/dispatch/request.h"
#include "serving/dispatch/terms.h"

namespace berth::serving_bars {

/// One row of the table of cases.
struct Case {
  char name = 'A';
  int models = 1;
  int lanes = 1;
  std::int64_t target_ms = 25;
  double cv = 1;  ///< coefficient of variation of the gaps between a model's arrivals
};

/// `count` requests to all models together, at `per_second` in all; gaps are gamma distributed. The tenant of a model
/// has its index. Sorted and numbered.
[[nodiscard]] std::vector<serving::Request> random_requests(const Case& of_case, double per_second, int count,
                                                            std::uint64_t seed);

/// Requests of both lists by time, numbered anew.
[[nodiscard]] std::vector<serving::Request> merged(const std::vector<serving::Request>& a,
                                                   const std::vector<serving::Request>& b);

/// 100 models of 5 to 40 MB, asked for with a popularity of rank^-0.9.
struct Popularity {
  std::vector<serving::ModelTerms> models;
  std::int64_t memory = 0;  ///< a tenth of their bytes
  std::vector<serving::Request> requests;
};

/// Poisson arrivals, 4 per second, target 30 s. `redraw_each`: the ranks are drawn anew after so many requests; 0:
/// never.
[[nodiscard]] Popularity random_popularity(int count, int redraw_each, std::uint64_t seed);

/// 6.125 ms for one row, 72.464 ms for 64, linear between them.
[[nodiscard]] serving::LatencyTable bar_latency(serving::RowCount rows_max);

}  // namespace berth::serving_bars
