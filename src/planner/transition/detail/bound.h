/// A lower bound on the changes of all demands together: the slices must also fit within the new plan's budget.
///
/// Relaxation: sites are ignored, only sizes count: compute slices, and separately placement units. By demand: the
/// least size of slices that meet its need with at most c changes (a knapsack over the existing slices, each kept or
/// dropped, and new ones); over the demands: the least sum of changes whose sizes fit the budget. O(slices x changes x
/// size) per demand; a demand for which that is too expensive counts with its least size and its fewest changes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planner/transition/detail/cover.h"
#include "planner/transition/detail/view.h"

namespace berth::transition::detail {

using Size = std::int64_t;
inline constexpr Size kNoSize = INT64_MAX / 4;  ///< cannot be reached

/// By number of changes: the least size with at most that many; the last entry is also valid for more.
using Curve = std::vector<Size>;
[[nodiscard]] Size size_at(const Curve& curve, std::int64_t changes);
/// The curve of two parts together.
[[nodiscard]] Curve joined(const Curve& a, const Curve& b);

/// One way to measure slices and GPUs.
struct Measure {
  std::vector<int> OfferView::* of_kinds;
  int OfferView::* of_gpu;
};
inline constexpr Measure kComputeSlices = {&OfferView::weights, &OfferView::weight};
inline constexpr Measure kUnits = {&OfferView::lengths, &OfferView::length};

/// The largest sum available at a price; nothing if some GPUs cost nothing.
[[nodiscard]] std::optional<Size> capacity_of(const TransitionView& view, const Measure& measure, std::int64_t price);

/// A demand on GPUs of some models: the question of `fewest_changes`, and the slices in it.
struct SizeQuestion {
  int demand = 0;
  std::vector<int> standing;
  std::vector<bool> is_offered;  ///< by offer
  CoverQuestion cover;
};
[[nodiscard]] Curve size_curve(const TransitionView& view, const SizeQuestion& question, const Measure& measure);

/// Also counts the slices that are destroyed because no demand needs them.
[[nodiscard]] std::int64_t changes_bound(const TransitionView& view);

}  // namespace berth::transition::detail
