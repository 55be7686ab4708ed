#include "tier/choose/memory_fit.h"

#include <fmt/format.h>

namespace berth::tier {
namespace {

constexpr std::int64_t kBytesPerMib = 1 << 20;

std::string whole_mib(const Decimal& bytes) {
  return fmt::format("{:.1f}", (bytes / Decimal(kBytesPerMib)).to_double());
}

}  // namespace

std::optional<Decimal> memory_needed(TierKind kind, const TierWorkload& workload) {
  const GraphFigures& graph = workload.graph;
  if (!graph.weight_bytes && !graph.activation_bytes) return std::nullopt;
  const Decimal rows(kind == TierKind::kJobs ? workload.batch : 1);
  return graph.weight_bytes.value_or(Decimal()) + graph.activation_bytes.value_or(Decimal()) * rows;
}

std::optional<std::string> memory_shortage(TierKind kind, const TierWorkload& workload, const Tier& tier,
                                           bool is_measured) {
  const auto needed = memory_needed(kind, workload);
  if (is_measured || !needed || !tier.memory_mib) return std::nullopt;
  const Decimal memory = *tier.memory_mib * Decimal(kBytesPerMib);
  if (*needed <= memory) return std::nullopt;
  return fmt::format("weights and activations need {} MiB, the tier has {}", whole_mib(*needed), whole_mib(memory));
}

}  // namespace berth::tier
