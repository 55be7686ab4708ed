/// The figures of a point as decimals, for files and tables.
#pragma once

#include <string>

#include "base/core/decimal.h"
#include "domain/profile_book/in_force.h"

namespace berth::profile_book {

/// Of a value with digits down to the power of ten `last_digit`: zeros at its end are kept. 2.5 with -2: "2.50".
/// Requires: the value is a decimal.
[[nodiscard]] std::string decimal_text(const Decimal& value, int last_digit);

/// What an export and a plan read of a point.
struct PointFigures {
  std::string rate;        ///< requests per second of the whole slice
  std::string latency_ms;  ///< mean of a batch
};

/// Observed figures of a point that is replaced: the mean, and the rate of its processes. Else the texts of an imported
/// point as they are, and measured figures with six decimals, at least 0.000001. Requires: the point fits, and is
/// measured or replaced.
[[nodiscard]] PointFigures figures_of(const PointInForce& point);

/// Whether the point has figures: it fits and was measured, or enough batches of it were observed.
[[nodiscard]] bool has_figures(const PointInForce& point);

}  // namespace berth::profile_book
