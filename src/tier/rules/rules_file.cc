#include "tier/rules/rules_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/yaml/reader.h"

namespace berth::tier {
namespace {

constexpr std::int64_t kRuleNumberMax = 1'000'000'000'000'000'000;

std::string read_tier_name(const yaml::Value& value, std::span<const Tier> tiers) {
  std::string name = value.name();
  if (value.has_failed() || std::ranges::find(tiers, name, &Tier::name) != tiers.end()) return name;
  std::vector<std::string_view> names;
  names.reserve(tiers.size());
  for (const Tier& tier : tiers) names.emplace_back(tier.name);
  value.refuse(fmt::format("a tier ({})", fmt::join(names, ", ")));
  return name;
}

std::optional<Decimal> read_bound(const yaml::Value& value) {
  if (!value.is_written()) return std::nullopt;
  return value.number(yaml::number_from(Decimal(0), Decimal(kRuleNumberMax)));
}

RuleBound read_bounds(const yaml::Value& value, RuleFeature feature) {
  value.check_keys({"at_least", "below"});
  RuleBound bound{
      .feature = feature, .at_least = read_bound(value.at("at_least")), .below = read_bound(value.at("below"))};
  if (value.has_failed()) return bound;
  if (!bound.at_least && !bound.below) value.fail("wanted `below` or `at_least`, found neither");
  if (bound.at_least && bound.below && *bound.below <= *bound.at_least) {
    value.at("below").refuse(fmt::format("a number above at_least, {}", value.at("at_least").written()));
  }
  return bound;
}

std::vector<RuleBound> read_condition(const yaml::Value& value) {
  if (!value.is_present()) {
    value.fail("wanted a map from features to their bounds, found nothing");
    return {};
  }
  value.check_keys(kRuleFeatureNames);
  std::vector<RuleBound> bounds;
  for (std::size_t i = 0; i < kRuleFeatureNames.size() && !value.has_failed(); ++i) {
    const yaml::Value feature = value.at(kRuleFeatureNames[i]);
    if (feature.is_written()) bounds.push_back(read_bounds(feature, static_cast<RuleFeature>(i)));
  }
  if (bounds.empty() && !value.has_failed()) value.fail("wanted at least one feature, found none");
  return bounds;
}

TierRule read_rule(const yaml::Value& value, std::span<const Tier> tiers) {
  value.check_keys({"name", "if", "tier", "exclude", "otherwise"});
  TierRule rule{.name = value.at("name").name()};
  if (!value.has_failed()) rule.bounds = read_condition(value.at("if"));
  const bool has_tier = value.at("tier").is_written();
  rule.is_exclusion = value.at("exclude").is_written();
  if (has_tier == rule.is_exclusion && !value.has_failed()) {
    value.fail(fmt::format("wanted `tier` or `exclude`, found {}", has_tier ? "both" : "neither"));
  }
  if (!value.has_failed()) rule.tier = read_tier_name(value.at(has_tier ? "tier" : "exclude"), tiers);
  return rule;
}

/// The reader of a whole list.
class RulesReading {
 public:
  explicit RulesReading(std::span<const Tier> tiers) : tiers_(tiers) {}

  void read(const yaml::Value& list) {
    const auto items = list.items("a list of rules", false);
    if (items.size() > kRulesMax) list.fail(fmt::format("wanted at most {} rules, found {}", kRulesMax, items.size()));
    for (std::size_t i = 0; i < items.size() && !list.has_failed(); ++i) read_item(items[i], i + 1 == items.size());
  }

  TierRules rules;

 private:
  void read_item(const yaml::Value& item, bool is_last) {
    if (!item.at("otherwise").is_written()) {
      TierRule rule = read_rule(item, tiers_);
      if (!names_.insert(rule.name).second) item.at("name").refuse("a name that no other rule has");
      return rules.rules.push_back(std::move(rule));
    }
    item.check_keys({"otherwise"});
    if (!is_last) item.at("otherwise").fail("wanted `otherwise` as the last rule, found rules after it");
    if (!item.has_failed()) rules.otherwise = read_tier_name(item.at("otherwise"), tiers_);
  }

  std::span<const Tier> tiers_;
  std::set<std::string> names_;
};

}  // namespace

Result<TierRules> read_rules_file(std::string_view text, std::string_view file, std::span<const Tier> tiers) {
  const auto root = yaml::parse_document(text, file);
  if (!root) return pass_on(root.error());
  yaml::Report report{std::string(file)};
  const yaml::Value value(*root, report);
  value.check_keys({"rules"});
  RulesReading reading(tiers);
  if (!report.has_failed()) reading.read(value.at("rules"));
  if (report.has_failed()) return pass_on(report.failure());
  return std::move(reading.rules);
}

}  // namespace berth::tier
