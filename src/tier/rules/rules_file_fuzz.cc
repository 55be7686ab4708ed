// Any bytes give rules about the given tiers, or an error with the file's name.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "tier/rules/apply_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth::tier;
  using berth::Decimal;
  const std::vector<Tier> tiers = {{.name = "t4", .usd_per_hour = Decimal(1)},
                                   {.name = "a100", .usd_per_hour = Decimal(4)}};
  const auto rules = read_rules_file({reinterpret_cast<const char*>(bytes), size}, "fuzz", tiers);
  if (!rules) {
    ENSURE(rules.error().message.starts_with("fuzz"));
    return 0;
  }
  RuleFacts facts;
  facts[0] = Decimal(1'000'000);
  facts[4] = Decimal(10);
  const auto excluded = exclusions(*rules, facts, tiers);
  std::vector<bool> may_take;
  for (const auto& each : excluded) may_take.push_back(!each.has_value());
  const auto choice = choose_by_rules(*rules, facts, tiers, may_take);
  ENSURE(!choice || may_take[choice->tier]);
  ENSURE(std::ranges::all_of(rules->rules, [](const TierRule& rule) { return !rule.bounds.empty(); }));
  return 0;
}
