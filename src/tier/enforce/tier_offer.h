/// What GPU models offer one service: the rates and prices of their slices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace berth::tier {

/// A kind of slice on which the service can keep its latency target.
struct SliceOffer {
  double per_second = 0;    ///< requests per second of one slice, > 0
  double usd_per_hour = 0;  ///< its share of the GPU's price, by SMs; >= 0
  int per_gpu_max = 1;      ///< the most of them on one GPU
  friend bool operator==(const SliceOffer&, const SliceOffer&) = default;
};

/// The offers of a model whose rows are as fast as stated with this probability.
struct OfferLevel {
  double sure = 1;                 ///< above 0, at most 1
  std::vector<SliceOffer> offers;  ///< empty: no slice keeps the latency target
};

/// A GPU model of the fleet, for one service.
struct TierOffer {
  std::string gpu;            ///< full name
  std::int64_t gpus = 0;      ///< of the fleet
  bool has_rows = false;      ///< the service's table has rows for it
  bool is_predicted = false;  ///< these rows are not known
  /// By what is known: one level, of 1. Else several, the surest first.
  std::vector<OfferLevel> levels;

  /// The level that counts where a probability is asked for: the least sure one that is at least as sure. Requires:
  /// there is one.
  [[nodiscard]] const OfferLevel& level_for(double sure) const;
};

/// The requests per second of all GPUs if each holds slices of the one kind that is fastest in all.
[[nodiscard]] double capacity_of(std::span<const SliceOffer> offers, std::int64_t gpus);

/// A low price per hour of slices for a rate, at least one: of each kind, from the fastest down, none, or as many as
/// fit into what is left, or so many and one more; the least of all such sums. Nothing where the GPUs cannot carry the
/// rate, or there is no offer. O(2^offers).
[[nodiscard]] std::optional<double> usd_per_hour_for(std::span<const SliceOffer> offers, std::int64_t gpus,
                                                     double per_second);

/// The mean of that over several rates; nothing if one of them cannot be carried. Requires: there is a rate.
[[nodiscard]] std::optional<double> mean_usd_per_hour(std::span<const SliceOffer> offers, std::int64_t gpus,
                                                      std::span<const double> rates);

/// The probability that a model carries a rate within the latency target: that of its surest level which does; 0 where
/// none does.
[[nodiscard]] double probability_of(const TierOffer& tier, double per_second);

}  // namespace berth::tier
