/// The most valuable content of one box: the pricing problem of the relaxation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "purchase/advise/detail/gpu_sharing.h"
#include "purchase/advise/detail/problem.h"

namespace berth::purchase::advise {

/// A number of pods of one class.
struct Part {
  std::size_t pods = 0;  ///< number of the class
  int count = 0;

  friend auto operator<=>(const Part&, const Part&) = default;
};
using Content = std::vector<Part>;  ///< by class

/// Pods by class, in fractions.
using Mixture = std::vector<std::pair<std::size_t, double>>;

struct FillQuestion {
  std::size_t box = 0;
  std::span<const std::int64_t> values;  ///< of a pod, by class, from 0
  std::span<const int> limits;           ///< pods at most, by class
  std::int64_t target = 0;               ///< only contents of a higher value are of interest
  std::size_t labels_max = 0;            ///< width of a search
  int searches_max = 1;
};

/// The sum of value x limit over all classes, and a target, must not exceed this.
inline constexpr std::int64_t kFillValueMax = std::int64_t{1} << 40;

/// `content` fits the box; it is empty if none above the target was found. `bound`: no content has a higher value;
/// never below the target.
///
/// `mixture`: if the search is incomplete, the fractional pods by class whose value is the bound. They do not fit the
/// box. Empty if no content can exceed the target.
struct FillAnswer {
  Content content;
  Mixture mixture;
  std::int64_t value = 0;
  std::int64_t bound = 0;
  std::int64_t nodes = 0;  ///< partial contents looked at
};

/// Dynamic programming over the classes, within branch and bound.
///
/// A label of the dynamic program is a partial content. It is discarded if another one has no less value and no fewer
/// free resources (compared with a few neighbours only), or if its bound is not above the target. Bounds: the linear
/// relaxation prices the resources; a label can gain at most the price of its free resources plus the profit of the
/// classes not yet decided, and at most the best knapsack of these classes for one resource, with the others at their
/// prices. Only the `labels_max` labels with the highest bounds are kept at each class. If others were discarded for
/// that, the question is split by the number of pods of the class that takes most of the box, and each part is searched
/// again with its own prices, `searches_max` in all. Parts left undecided count with their bound.
///
/// Integer arithmetic except for the choice of the resource prices, and any prices give a valid bound. O(searches x
/// classes x (labels_max x count + kCellsMax)).
[[nodiscard]] FillAnswer fill_box(const Problem& problem, const FillQuestion& question, ShareSets& shares);

/// Whether the content fits the box: shares are packed on GPUs.
[[nodiscard]] bool is_held(const Problem& problem, std::size_t box, const Content& content);

}  // namespace berth::purchase::advise
