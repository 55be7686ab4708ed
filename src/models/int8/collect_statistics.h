/// What the values of a model are for rows, as the ranges of integers need it.
#pragma once

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

/// Of all rows, and of about half of them: what ranges of the half do to the others shows what they do to rows that were
/// not seen.
struct CalibrationStatistics {
  StatisticsByValue half = {};
  StatisticsByValue all = {};
};

/// Runs the rows through the model once, `batch_rows` at a time; every other batch is in the half. Memory does not grow
/// with the number of rows. Errors: those of `observe`; a value that is not of type float. Requires: values of the main
/// graph.
[[nodiscard]] Result<CalibrationStatistics> collect_statistics(ModelProbe& probe, const Model& model,
                                                               const RowSet& rows,
                                                               const std::vector<std::string>& values,
                                                               std::size_t batch_rows = 8);

}  // namespace berth::models
