/// The cheapest instances that hold all pods, with a proven bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

struct AdviseOptions {
  /// The budget of the search in nodes: partial contents of an instance and sets of pods examined. Absent:
  /// `default_nodes`.
  std::optional<std::int64_t> nodes_max = std::nullopt;
  /// Called with the used share of the budget, from 0 to 1. If it returns false, the search ends with the best answer
  /// so far.
  std::function<bool(double used)> progress = {};
  /// The name of the list of pods, for errors: FILE:LINE:COLUMN.
  std::string file = "pods";
};

/// A node budget that gives a good answer for `pod_count` pods within seconds to a minute; grows with the count, up to
/// a limit.
[[nodiscard]] std::int64_t default_nodes(std::size_t pod_count);

/// Model: instances i of offers o(i), pods p on them.
///   minimise sum of price(o(i))
///   each pod on one instance, whose offer has a GPU model and GPU memory that it accepts; CPU-only pods accept any
///   each instance: CPU and memory of its pods within the shape; whole GPUs have one owner, shares of one GPU sum to
///   at most 1000 thousandths
/// Offers may be bought any number of times; those that are not buyable are left out.
///
/// Computes the rivals, then the configuration bound (detail/relaxation.h), plans from its fractional optimum
/// (detail/diving.h), and a local search from the best of these (detail/regrouping.h), so the answer is never worse
/// than a rival. With more than kClassesMax different pods, the bound is that of pods rounded down, and plans start
/// from pods rounded up. The same arguments give the same answer.
///
/// Requires: pods as returned by read_pods. Errors: no pods, no buyable offer, a pod that no offer holds (the first
/// one, with its demand and the nearest offer's capacity; others are named, up to a limit).
[[nodiscard]] Result<Advice> advise_instances(std::span<const Pod> pods, std::span<const pricing::Offer> offers,
                                              const AdviseOptions& options);

/// The most classes of pods (pods with different needs) that the search distinguishes.
inline constexpr std::size_t kClassesMax = 600;

}  // namespace berth::purchase::advise
