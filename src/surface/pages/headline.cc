#include "surface/pages/headline.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

namespace berth::report {
namespace {

std::optional<double> goodput_of(const measure::PolicyResult& policy, Objective objective) {
  if (policy.infeasible) return std::nullopt;
  return objective == Objective::kServices ? policy.figures.goodput_mean_of_services : policy.figures.goodput;
}

/// Of the policies without hindsight.
const measure::PolicyResult* best_of(const study::ReplayResult& result, Objective objective) {
  const measure::PolicyResult* best = nullptr;
  for (const measure::PolicyResult& policy : result.policies) {
    const std::optional<double> goodput = goodput_of(policy, objective);
    if (!goodput || policy.is_hindsight) continue;
    if (best == nullptr || *goodput > *goodput_of(*best, objective)) best = &policy;
  }
  return best;
}

/// The policy that `best` is compared with: `shared`, or else the even layout, if it ran and is not `best`.
const measure::PolicyResult* reference_for(const study::ReplayResult& result, Objective objective,
                                           const measure::PolicyResult& best) {
  for (const std::string_view name : {"shared", "static-even"}) {
    for (const measure::PolicyResult& policy : result.policies) {
      if (policy.name == name && &policy != &best && goodput_of(policy, objective)) return &policy;
    }
  }
  return nullptr;
}

std::string rounded_dollars(std::int64_t micro_usd) {
  const double usd = static_cast<double>(micro_usd) / 1e6;
  return fmt::format("${:.{}f}", usd, usd < 1 ? 4 : 2);
}

std::string percent_change(double value, double reference) {
  const double percent = std::round((value / reference - 1) * 100);
  if (percent == 0) return "about as much as";
  return fmt::format("{:.0f} % {} than", std::abs(percent), percent > 0 ? "more" : "less");
}

/// ", 38 % more than shared (0.674)"; without a percentage if the reference is 0.
std::string compared(double goodput, double reference, const std::string& name) {
  if (reference <= 0) return fmt::format("; that of {} is 0", name);
  return fmt::format(", {} {} ({:.3f})", percent_change(goodput, reference), name, reference);
}

/// The costs of both, in total and per million answers in time; empty if the fleet has no price.
std::string cost_sentence(const measure::Figures& best, const measure::Figures& reference) {
  if (!best.cost_micro_usd || !reference.cost_micro_usd) return "";
  std::string text = *best.cost_micro_usd == *reference.cost_micro_usd
                         ? fmt::format(" Both cost {}", rounded_dollars(*best.cost_micro_usd))
                         : fmt::format(" It costs {} instead of {}", rounded_dollars(*best.cost_micro_usd),
                                       rounded_dollars(*reference.cost_micro_usd));
  if (best.cost_micro_usd_per_million_in_time && reference.cost_micro_usd_per_million_in_time) {
    text += fmt::format("; a million answers in time cost {} instead of {}",
                        rounded_dollars(*best.cost_micro_usd_per_million_in_time),
                        rounded_dollars(*reference.cost_micro_usd_per_million_in_time));
  }
  return text + ".";
}

}  // namespace

std::string headline(const Scenario& scenario, const study::ReplayResult& result) {
  const Objective objective = scenario.objective;
  const measure::PolicyResult* best = best_of(result, objective);
  if (best == nullptr) return "None of the policies that could run live gives a figure for this scenario.";

  const double goodput = *goodput_of(*best, objective);
  const char* over = objective == Objective::kServices ? "mean of services" : "over all requests";
  std::string text = fmt::format("{} has the highest goodput: {:.3f} ({})", best->name, goodput, over);
  const measure::PolicyResult* reference = reference_for(result, objective, *best);
  if (reference != nullptr) text += compared(goodput, *goodput_of(*reference, objective), reference->name);
  text += ".";
  if (reference != nullptr) text += cost_sentence(best->figures, reference->figures);
  return text;
}

}  // namespace berth::report
