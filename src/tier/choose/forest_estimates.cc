#include "tier/choose/forest_estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

std::string_view target_words(TierKind kind) {
  return kind == TierKind::kJobs ? "samples per second" : "requests per second within a latency";
}

std::string figure_text_of(const std::optional<Decimal>& figure) { return figure ? figure->to_string() : "none"; }

/// What differs, in words; empty: the same hardware.
std::string difference_of(const Tier& wanted, const Tier& found) {
  if (wanted.gpu != found.gpu) return fmt::format("gpu: wanted {}, found {}", found.gpu, wanted.gpu);
  if (wanted.profile != found.profile)
    return fmt::format("profile: wanted {}, found {}", found.profile, wanted.profile);
  const auto differ = [](std::string_view key, const auto& forest, const auto& file) -> std::string {
    if (forest == file) return "";
    return fmt::format("{}: wanted {}, found {}", key, figure_text_of(forest), figure_text_of(file));
  };
  const std::string tflops = differ("tflops", found.tflops, wanted.tflops);
  return tflops.empty() ? differ("gb_per_second", found.gb_per_second, wanted.gb_per_second) : tflops;
}

/// The estimate with its costs at a price of 1.
TierEstimate at_unit_price(TierEstimate estimate, const Tier& tier) {
  const double price = tier.usd_per_hour.to_double();
  estimate.cost /= price;
  estimate.cost_mean /= price;
  for (double& cost : estimate.costs) cost /= price;
  return estimate;
}

/// The index of each of the call's tiers among the forest's.
Result<std::vector<std::size_t>> match_tiers(const std::vector<Tier>& tiers, const std::vector<Tier>& of_forest) {
  std::vector<std::size_t> index;
  for (const Tier& tier : tiers) {
    const auto found = std::ranges::find(of_forest, tier.name, &Tier::name);
    if (found == of_forest.end()) {
      std::string names;
      for (const Tier& each : of_forest) names += (names.empty() ? "" : ", ") + each.name;
      return invalid(fmt::format("tier {}: wanted a tier of the forest ({}), found another one", tier.name, names));
    }
    if (const std::string difference = difference_of(tier, *found); !difference.empty()) {
      return invalid(
          fmt::format("tier {}: {}: the forest was trained with other hardware of that name", tier.name, difference));
    }
    index.push_back(static_cast<std::size_t>(found - of_forest.begin()));
  }
  return index;
}

/// The workload with its rows where the forest has the tiers.
TierWorkload known_to_forest(const ChooseCall& call, const Estimator& forest, const std::vector<std::size_t>& index) {
  TierWorkload known = call.known;
  known.points.assign(forest.tiers().size(), {});
  for (std::size_t i = 0; i < index.size(); ++i) known.points[index[i]] = call.known.points[i];
  return known;
}

}  // namespace

Result<void> predict_with(ChooseCall& call, const Estimator& forest) {
  if (forest.kind() != call.kind) {
    return invalid(
        fmt::format("wanted a forest for {}, found one for {}", target_words(call.kind), target_words(forest.kind())));
  }
  auto index = match_tiers(call.tiers, forest.tiers());
  if (!index) return pass_on(index.error());
  const auto known = std::make_shared<const TierWorkload>(known_to_forest(call, forest, *index));
  call.estimate_at = [forest, known, index = *index](const TierTarget& target) {
    const std::vector<TierEstimate> all = forest.estimate(*known, target);
    std::vector<TierEstimate> estimates;
    for (const std::size_t tier : index) estimates.push_back(at_unit_price(all[tier], forest.tiers()[tier]));
    return estimates;
  };
  call.explain = [forest, known, index = *index](std::size_t tier) { return forest.explain(*known, index[tier]); };
  return {};
}

std::vector<MeasuredCheck> checks_of(const ChooseCall& call, const Estimator& forest) {
  const auto index = match_tiers(call.tiers, forest.tiers());
  ENSURE(index.has_value());
  const TierWorkload known = known_to_forest(call, forest, *index);
  TierWorkload of_anchor = known;
  const auto anchor = std::ranges::find_if(known.points, [](const auto& points) { return !points.empty(); });
  ENSURE(anchor != known.points.end());
  for (std::size_t i = 0; i < known.points.size(); ++i) {
    if (&known.points[i] != &*anchor) of_anchor.points[i].clear();
  }
  const std::vector<TierEstimate> measured = forest.estimate(known, call.target);
  const std::vector<TierEstimate> predicted = forest.estimate(of_anchor, call.target);
  std::vector<MeasuredCheck> checks;
  for (std::size_t i = 0; i < index->size(); ++i) {
    const std::size_t tier = (*index)[i];
    if (known.points[tier].empty() || !of_anchor.points[tier].empty()) continue;
    const TierEstimate& from = predicted[tier];
    if (from.per_second_p10 <= 0 || measured[tier].per_second <= 0) continue;
    checks.push_back({.tier = i,
                      .predicted = {.median = from.per_second, .p10 = from.per_second_p10, .p90 = from.per_second_p90},
                      .measured = measured[tier].per_second});
  }
  return checks;
}

}  // namespace berth::tier
