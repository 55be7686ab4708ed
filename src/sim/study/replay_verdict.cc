#include "sim/study/replay_verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/core/figure_text.h"
#include "engine/policy/registry.h"

namespace berth::study {
namespace {

using measure::Figures;
using measure::PolicyResult;

constexpr std::string_view kOurs = "berth";
constexpr std::string_view kEven = "static-even";

std::string goodput_words(double goodput) { return fmt::format("{:.4f}", goodput); }

/// The goodput of the scenario's objective, from figures or a bound.
template <class Goodputs>
std::optional<double> objective_of(const ReplayResult& result, const Goodputs& goodputs) {
  return result.objective == Objective::kServices ? goodputs.goodput_mean_of_services : goodputs.goodput;
}

/// Absent for a policy that could not run.
std::optional<double> goodput_of(const ReplayResult& result, const PolicyResult& policy) {
  return policy.infeasible ? std::nullopt : objective_of(result, policy.figures);
}

const PolicyResult* replayed_policy(const ReplayResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.policies, name, &PolicyResult::name);
  return found == result.policies.end() ? nullptr : &*found;
}

/// Whether a policy keeps one layout for the whole run, gives each slice to one service, and could be used live.
bool is_static_layout(const PolicyResult& policy) {
  const policy::Policy* row = policy::find_policy(policy.name);
  if (row == nullptr || row->is_hindsight() || row->sharings.size() > 1) return false;
  return !row->replans(policy::Settings());
}

/// A column of the table in which less is better, or more.
struct VerdictColumn {
  std::string_view name;
  std::optional<double> (*value)(const Figures&);
  std::string (*text)(double);
  bool is_more_better = false;
};

template <class Number>
std::optional<double> as_double(const std::optional<Number>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::string milliseconds_words(double value) { return significant(value) + " ms"; }
std::string dollars_words(double micro_usd) { return dollars(static_cast<std::int64_t>(micro_usd)); }

constexpr VerdictColumn kVerdictColumns[] = {
    {"worst service", [](const Figures& f) { return f.goodput_worst_service; }, goodput_words, true},
    {"share in time", [](const Figures& f) { return f.slo_attainment; }, percent, true},
    {"p50", [](const Figures& f) { return f.latency_p50_ms; }, milliseconds_words},
    {"p99", [](const Figures& f) { return f.latency_p99_ms; }, milliseconds_words},
    {"GPU-hours", [](const Figures& f) { return std::optional(f.gpu_seconds / 3600); }, significant},
    {"cost", [](const Figures& f) { return as_double(f.cost_micro_usd); }, dollars_words},
    {"cost per million", [](const Figures& f) { return as_double(f.cost_micro_usd_per_million_in_time); },
     dollars_words},
};

/// The columns in which `ours` is worse than `other` as far as the figures show it: "p99 180 ms (150 ms)".
std::vector<std::string> worse_columns(const Figures& ours, const Figures& other) {
  std::vector<std::string> worse;
  for (const VerdictColumn& column : kVerdictColumns) {
    const std::optional<double> own = column.value(ours);
    const std::optional<double> theirs = column.value(other);
    if (!own || !theirs || (column.is_more_better ? *own >= *theirs : *own <= *theirs)) continue;
    if (column.text(*own) == column.text(*theirs)) continue;
    worse.push_back(fmt::format("{} {} ({})", column.name, column.text(*own), column.text(*theirs)));
  }
  return worse;
}

std::string changes_words(const Figures& figures) {
  return fmt::format("{} change{}", with_separators(figures.changes), figures.changes == 1 ? "" : "s");
}

/// The bound of policies that give each slice to one service at a time; absent without one.
std::optional<double> bound_of(const ReplayResult& result) {
  const std::optional<double> unshared = objective_of(result, result.bound.without_sharing);
  return unshared ? unshared : objective_of(result, result.bound.any);
}

/// "94.3 % of the bound (0.9012)" after `before`; empty without a bound.
std::string bound_words(const ReplayResult& result, double goodput, std::string_view before) {
  const std::optional<double> bound = bound_of(result);
  if (!bound || *bound <= 0) return "";
  return fmt::format("{}{:.1f} % of the bound ({})", before, 100 * std::min(1.0, goodput / *bound),
                     goodput_words(*bound));
}

/// The static layout with the highest goodput that is enough, if one is; the first of equals.
const PolicyResult* static_layout_that_is_enough(const ReplayResult& result, double goodput) {
  const PolicyResult* best = nullptr;
  for (const PolicyResult& policy : result.policies) {
    const std::optional<double> its = goodput_of(result, policy);
    if (!its || *its < goodput - kStaticShortfall || !is_static_layout(policy)) continue;
    if (best == nullptr || *its > *goodput_of(result, *best)) best = &policy;
  }
  return best;
}

/// " More in this run: ekya (0.8600)."; empty if no policy without hindsight has more.
std::string higher_words(const ReplayResult& result, double goodput) {
  std::vector<std::string> higher;
  for (const PolicyResult& policy : result.policies) {
    const std::optional<double> its = goodput_of(result, policy);
    if (policy.is_hindsight || policy.name == kOurs || !its) continue;
    if (*its <= goodput || goodput_words(*its) == goodput_words(goodput)) continue;
    higher.push_back(fmt::format("{} ({})", policy.name, goodput_words(*its)));
  }
  if (higher.empty()) return "";
  return fmt::format(" More in this run: {}.", fmt::join(higher, ", "));
}

std::string enough_words(const ReplayResult& result, const PolicyResult& layout, const PolicyResult& ours) {
  const double goodput = *goodput_of(result, layout);
  return fmt::format("a static layout is enough here: {} has a goodput of {}{}; berth has {}, with {}.", layout.name,
                     goodput_words(goodput), bound_words(result, goodput, ", "),
                     goodput_words(*goodput_of(result, ours)), changes_words(ours.figures));
}

/// The distance of `berth` from the even layout, with the columns in which it is worse.
struct EvenWords {
  std::string distance;
  std::string remark;
};

EvenWords even_words(const ReplayResult& result, const PolicyResult& ours, double goodput) {
  const PolicyResult* even = replayed_policy(result, kEven);
  if (even == nullptr) return {.distance = "", .remark = " static-even was not replayed."};
  const std::optional<double> its = goodput_of(result, *even);
  if (!its) return {.distance = "", .remark = " static-even cannot run here."};
  EvenWords words{.distance = fmt::format(", {:.1f} points above the even layout (static-even, {})",
                                          100 * (goodput - *its), goodput_words(*its)),
                  .remark = ""};
  const std::vector<std::string> worse = worse_columns(ours.figures, even->figures);
  if (!worse.empty()) words.remark = fmt::format(" Worse than static-even (in brackets): {}.", fmt::join(worse, ", "));
  return words;
}

std::string gain_words(const ReplayResult& result, const PolicyResult& ours, double goodput) {
  const EvenWords even = even_words(result, ours, goodput);
  return fmt::format("berth has a goodput of {}{}{}, with {}.{}{}", goodput_words(goodput), even.distance,
                     bound_words(result, goodput, even.distance.empty() ? ", " : " and "), changes_words(ours.figures),
                     even.remark, higher_words(result, goodput));
}

}  // namespace

std::string replay_verdict(const ReplayResult& result) {
  const PolicyResult* ours = replayed_policy(result, kOurs);
  if (ours == nullptr) {
    return "No verdict on berth, which was not replayed: --policies static-even,berth compares it with the even "
           "layout.";
  }
  if (ours->infeasible) return "No verdict: berth cannot run here.";
  const std::optional<double> goodput = goodput_of(result, *ours);
  if (!goodput) return "No verdict: no request arrived.";
  const PolicyResult* layout = static_layout_that_is_enough(result, *goodput);
  return "Verdict: " + (layout != nullptr ? enough_words(result, *layout, *ours) : gain_words(result, *ours, *goodput));
}

}  // namespace berth::study
