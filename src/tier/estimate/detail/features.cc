#include "tier/estimate/detail/features.h"

#include <cmath>
#include <limits>
#include <optional>

namespace berth::tier {
namespace {

/// Unknown and not positive values are NaN.
double log_of(const std::optional<Decimal>& value) {
  if (!value || value->sign() <= 0) return std::numeric_limits<double>::quiet_NaN();
  return std::log(value->to_double());
}

}  // namespace

std::string_view name_of(Feature feature) {
  switch (feature) {
    case Feature::kPriceRatio:
      return "price_ratio";
    case Feature::kTflopsRatio:
      return "tflops_ratio";
    case Feature::kBandwidthRatio:
      return "gb_per_second_ratio";
    case Feature::kTier:
      return "tier";
    case Feature::kAnchor:
      return "anchor";
    case Feature::kStep:
      return "batch_time";
    case Feature::kSlope:
      return "slope";
    case Feature::kSaturation:
      return "saturation";
    case Feature::kBatch:
      return "batch";
    case Feature::kProcesses:
      return "processes";
    case Feature::kHeadroom:
      return "headroom";
    case Feature::kFlops:
      return "flops";
    case Feature::kActivationBytes:
      return "activation_bytes";
    case Feature::kParameters:
      return "parameters";
    case Feature::kWeightBytes:
      return "weight_bytes";
    case Feature::kIntensity:
      return "intensity";
  }
  return "";
}

TierLogs logs_of(const Tier& tier) {
  return {.price = log_of(tier.usd_per_hour), .tflops = log_of(tier.tflops), .bandwidth = log_of(tier.gb_per_second)};
}

FeatureRow feature_row(std::span<const TierLogs> tiers, const AnchorView& view, WorkSize size, std::size_t tier) {
  const TierLogs& to = tiers[tier];
  const TierLogs& from = tiers[view.anchor];
  const double rows = static_cast<double>(size.batch) * size.processes;
  FeatureRow row = {};
  const auto set = [&](Feature feature, double value) { row[static_cast<std::size_t>(feature)] = value; };
  set(Feature::kPriceRatio, to.price - from.price);
  set(Feature::kTflopsRatio, to.tflops - from.tflops);
  set(Feature::kBandwidthRatio, to.bandwidth - from.bandwidth);
  set(Feature::kTier, static_cast<double>(tier));
  set(Feature::kAnchor, static_cast<double>(view.anchor));
  set(Feature::kStep, std::log(rows / view.curve->per_second(size)));
  set(Feature::kSlope, view.curve->slope(size));
  set(Feature::kSaturation, view.curve->saturation(size));
  set(Feature::kBatch, std::log(static_cast<double>(size.batch)));
  set(Feature::kProcesses, size.processes);
  set(Feature::kHeadroom, view.curve->headroom(size));
  set(Feature::kFlops, log_of(view.graph->flops));
  set(Feature::kActivationBytes, log_of(view.graph->activation_bytes));
  set(Feature::kParameters, log_of(view.graph->parameters));
  set(Feature::kWeightBytes, log_of(view.graph->weight_bytes));
  set(Feature::kIntensity, log_of(view.graph->flops) - log_of(view.graph->activation_bytes));
  return row;
}

bool is_upward(const FeatureRow& row) {
  return row[static_cast<std::size_t>(Feature::kTier)] > row[static_cast<std::size_t>(Feature::kAnchor)];
}

}  // namespace berth::tier
