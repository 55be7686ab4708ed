/// What the values of a model are for rows, as the ranges of integers need it.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "models/graph/graph.h"
#include "models/ranges/range_statistics.h"
#include "models/rows/row_set.h"

namespace berth::models {

using StatisticsByValue = std::map<std::string, RangeStatistics, std::less<>>;

/// Of all rows, and of each half of them: what the ranges of one half do to the other shows what ranges do to rows that
/// were not seen.
struct CalibrationStatistics {
  StatisticsByValue all = {};
  std::array<StatisticsByValue, 2> halves = {};
};

/// Runs the rows through the model once, `batch_rows` at a time; the batches go to the halves in turn, and a
/// single batch to both. Memory does not grow
/// with the number of rows. Errors: those of `observe`; a value that is not of type float. Requires: values of the main
/// graph.
[[nodiscard]] Result<CalibrationStatistics> collect_statistics(ModelProbe& probe, const Model& model,
                                                               const RowSet& rows,
                                                               const std::vector<std::string>& values,
                                                               std::size_t batch_rows = 8);

}  // namespace berth::models
