/// What rules can ask for: figures of the graph and of the target.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/core/decimal.h"
#include "tier/values/tier_table.h"

namespace berth::tier {

enum class RuleFeature : std::uint8_t {
  kFlops,
  kActivationBytes,
  kParameters,
  kWeightBytes,
  kRequestsPerSecond,  ///< known for services only
  kLatencyMs,          ///< likewise
  kSamplesPerSecond,   ///< known for jobs only
};

/// The names in files, in the order of the enum.
inline constexpr std::array<std::string_view, 7> kRuleFeatureNames = {
    "flops",      "activation_bytes",  "parameters", "weight_bytes", "requests_per_second",
    "latency_ms", "samples_per_second"};

/// By feature; absent: not known.
using RuleFacts = std::array<std::optional<Decimal>, kRuleFeatureNames.size()>;

[[nodiscard]] inline RuleFacts rule_facts(const GraphFigures& graph, TierKind kind, const TierTarget& target) {
  RuleFacts facts = {graph.flops, graph.activation_bytes, graph.parameters, graph.weight_bytes};
  if (kind == TierKind::kJobs) {
    facts[static_cast<std::size_t>(RuleFeature::kSamplesPerSecond)] = target.per_second;
  } else {
    facts[static_cast<std::size_t>(RuleFeature::kRequestsPerSecond)] = target.per_second;
    facts[static_cast<std::size_t>(RuleFeature::kLatencyMs)] = target.latency_ms;
  }
  return facts;
}

}  // namespace berth::tier
