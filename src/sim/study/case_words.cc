#include "sim/study/case_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/core/figure_text.h"

namespace berth::study {
namespace {

const CaseStep* case_step_named(const CaseResult& result, std::string_view name) {
  const auto it = std::ranges::find(result.steps, name, &CaseStep::name);
  return it == result.steps.end() ? nullptr : &*it;
}

/// "12.3% less"; "1.0% more".
std::string saving_words(double saves) {
  return fmt::format("{:.1f}% {}", std::abs(saves) * 100, saves < 0 ? "more" : "less");
}

/// "$3.10 for whole GPUs at the peak (12.3% less)"; empty if there is no such cost.
std::string beside_baseline(const CaseStep* base, std::optional<double> saves, std::string_view what) {
  if (base == nullptr || base->infeasible || !saves) return "";
  return fmt::format("{} for {} ({}{})", dollars(base->cost_micro_usd), what, saving_words(*saves),
                     base->holds ? "" : ", though those do not keep the share");
}

/// "; with 3 GPUs committed, a number found in hindsight, 40.1% less and 30.0% less".
std::string committed_words(const CaseStep* step) {
  if (step == nullptr || step->infeasible || !step->saves_of_first) return "";
  std::string text =
      fmt::format("; with {}, a number found in hindsight, {}", step->how, saving_words(*step->saves_of_first));
  if (step->saves_of_second) text += " and " + saving_words(*step->saves_of_second);
  return text;
}

}  // namespace

std::string case_verdict(const CaseResult& result) {
  const CaseStep* step = case_step_named(result, "scaling");
  if (step == nullptr) return "No verdict: nothing was scaled.";
  if (step->infeasible) return fmt::format("No verdict: {}.", *step->infeasible);
  std::string text = "Cut, rearrange and scale the GPUs by berth: " + dollars(step->cost_micro_usd);
  const std::string first =
      beside_baseline(case_step_named(result, "whole-peak"), step->saves_of_first, "whole GPUs at the peak");
  const std::string second = beside_baseline(case_step_named(result, "whole-tracking"), step->saves_of_second,
                                             "whole GPUs that follow the load");
  if (!first.empty() || !second.empty()) text += " instead of ";
  text += first;
  if (!first.empty() && !second.empty()) text += " and ";
  text += second + committed_words(case_step_named(result, "commitments"));
  return text + (step->holds ? ". Every service keeps its share in time."
                             : ". But a service does not keep its share in time.");
}

std::string case_assumption(const CaseResult& result) {
  return fmt::format(
      "Assumed: the recorded arrivals; a price of ${} per GPU-hour{}, as given, of unknown age. Steps with hindsight "
      "were sized or tuned on this very run. Utilisation is over the GPU-time paid for.",
      result.usd_per_gpu_hour.to_string(),
      result.options.committed_micro_usd_per_gpu_hour
          ? fmt::format(", {} for one that is committed", dollars(*result.options.committed_micro_usd_per_gpu_hour))
          : "");
}

std::string case_small_words(const CaseResult& result) {
  if (!result.is_small) return "";
  return "Small: some service has fewer than 2 whole GPUs at its peak, so whole GPUs cannot follow its load.";
}

std::string floored_share(double share) {
  constexpr double kRoundingError = 1e-9;  // far below one request of any run
  return fmt::format("{:.2f}%", std::floor(share * 10'000 + kRoundingError) / 100);
}

}  // namespace berth::study
