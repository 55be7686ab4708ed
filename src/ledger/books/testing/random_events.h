/// Random files of events, in which little happens at places where nothing else does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/core/rng.h"

namespace berth::ledger::testing {

struct RandomOptions {
  std::size_t line_count = 60;
  /// Conflicts, overlaps, voids of events that cannot be voided and of themselves, closes out of order.
  bool has_clashes = true;
  bool has_closes = true;
  bool has_voids = true;
};

/// Lines about few GPUs, slices, tenants and skus in four months from 2026-11 on: times are midnights, ends of months,
/// other times of the file, or a microsecond off. Without clashes no line collides with another in any order, including
/// voided ones; a void may still come before its target, or have none.
[[nodiscard]] std::vector<std::string> random_lines(Rng& rng, const RandomOptions& options);

}  // namespace berth::ledger::testing
