#include "tier/readers/tier_source.h"

#include <algorithm>

namespace berth::tier {
std::string_view name_of(TierSource source) {
  switch (source) {
    case TierSource::kGavel:
      return "gavel";
    case TierSource::kSia:
      return "sia";
    case TierSource::kMiso:
      return "miso";
    case TierSource::kParvagpu:
      return "parvagpu";
    case TierSource::kCsv:
      return "csv";
  }
  return "";
}

std::optional<TierSource> source_named(std::string_view name) {
  const auto* const found = std::ranges::find(kTierSources, name, name_of);
  return found == kTierSources.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::size_t> reference_tier(TierSource source, const TierTable& table) {
  if (table.tiers.empty()) return std::nullopt;
  if (source != TierSource::kParvagpu) return table.tiers.size() - 1;
  const auto found = std::ranges::find(table.tiers, "7g", &Tier::name);
  if (found == table.tiers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.tiers.begin());
}

}  // namespace berth::tier
