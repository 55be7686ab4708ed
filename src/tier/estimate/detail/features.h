/// What a prediction is made from: one row of numbers for a size of work, an anchor and a tier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tier/estimate/detail/known_curve.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

/// Logarithms but for indices, processes and slope; NaN where unknown.
enum class Feature : std::uint8_t {
  kPriceRatio,      ///< tier / anchor
  kTflopsRatio,     ///< tier / anchor
  kBandwidthRatio,  ///< tier / anchor
  kTier,            ///< its index
  kAnchor,          ///< its index
  kStep,            ///< time of a batch on the anchor
  kSlope,           ///< of throughput by batch on the anchor
  kSaturation,      ///< throughput on the anchor / its most
  kBatch,
  kProcesses,
  kHeadroom,  ///< largest batch known on the anchor / batch
  kFlops,     ///< of one row, as the three that follow
  kActivationBytes,
  kParameters,
  kWeightBytes,
  kIntensity,  ///< flops / bytes of activations
};

inline constexpr std::size_t kFeatureCount = 16;
using FeatureRow = std::array<double, kFeatureCount>;

[[nodiscard]] std::string_view name_of(Feature feature);

/// A tier's price and figures as logarithms; NaN where unknown.
struct TierLogs {
  double price = 0;
  double tflops = 0;
  double bandwidth = 0;
};
[[nodiscard]] TierLogs logs_of(const Tier& tier);

/// A workload seen from one anchor.
struct AnchorView {
  const KnownCurve* curve = nullptr;
  const GraphFigures* graph = nullptr;
  std::size_t anchor = 0;
};

[[nodiscard]] FeatureRow feature_row(std::span<const TierLogs> tiers, const AnchorView& view, WorkSize size,
                                     std::size_t tier);

/// Whether the tier is after the anchor.
[[nodiscard]] bool is_upward(const FeatureRow& row);

}  // namespace berth::tier
