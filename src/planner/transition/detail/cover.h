/// Which sets of slices meet a demand's need without surplus, and how few changes any such set takes.
#pragma once

#include <optional>
#include <vector>

#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

/// The rate of a slice as it is, and at its best point. Both are equal for created slices.
struct SliceRates {
  Rate low = 0;
  Rate best = 0;
  friend auto operator<=>(const SliceRates&, const SliceRates&) = default;
};

/// Which slices run at their best point so that they meet the need and none is surplus: few of them; nothing if there
/// is no such choice. Exact up to 12 slices with two points; beyond, largest gains first.
[[nodiscard]] std::optional<std::vector<bool>> tune(Rate need, const std::vector<SliceRates>& slices);

/// A demand's part of a search: slices that stay, those that may be kept, and the largest rate of a new one.
struct CoverQuestion {
  Rate need = 0;
  Rate rate_max = 0;
  std::vector<SliceRates> fixed;
  std::vector<SliceRates> standing;
};

/// A lower bound on slices dropped + created over all sets that meet the need; sites are ignored. Exact in the
/// kept slices if there are few kinds of them, otherwise by their sums.
[[nodiscard]] std::int64_t fewest_changes(const CoverQuestion& question);

}  // namespace berth::transition::detail
