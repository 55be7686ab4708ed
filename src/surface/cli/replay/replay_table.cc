#include "surface/cli/replay/replay_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "sim/study/replay_verdict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using Row = std::vector<std::string>;

std::string goodput_text(double goodput) { return fmt::format("{:.4f}", goodput); }

std::string shown_name(const measure::PolicyResult& policy) { return policy.name + (policy.is_hindsight ? "*" : ""); }

/// The goodput that the scenario's objective averages.
std::optional<double> goodput_of(const measure::PolicyResult& policy, Objective objective) {
  const measure::Figures& f = policy.figures;
  return objective == Objective::kServices ? f.goodput_mean_of_services : f.goodput;
}

std::vector<Row> head_rows(Objective objective) {
  const std::string over = objective == Objective::kServices ? "(mean)" : "(requests)";
  return {{"", "goodput", "worst", "share", "requests", "p50", "p99", "GPU-", "cost", "cost /", "SM-time, %", ""},
          {"policy", over, "service", "in time", "in time", "ms", "ms", "hours", "", "million", "alloc>busy>eff",
           "changes"}};
}

Row figures_row(const measure::PolicyResult& policy, Objective objective) {
  const measure::Figures& f = policy.figures;
  return {shown_name(policy),
          shown(goodput_of(policy, objective), goodput_text),
          shown(f.goodput_worst_service, goodput_text),
          shown(f.slo_attainment, percent),
          with_separators(f.in_time),
          shown(f.latency_p50_ms, significant),
          shown(f.latency_p99_ms, significant),
          significant(f.gpu_seconds / 3600),
          shown(f.cost_micro_usd, dollars),
          shown(f.cost_micro_usd_per_million_in_time, dollars),
          fmt::format("{:.0f} > {:.0f} > {:.0f}", f.utilisation.allocated * 100, f.utilisation.busy * 100,
                      f.utilisation.effective * 100),
          with_separators(f.changes)};
}

Row infeasible_row(const measure::PolicyResult& policy) {
  Row row(head_rows({}).front().size(), std::string(kAbsentText));
  row.front() = shown_name(policy);
  return row;
}

// ---- several fleets

const measure::RowFleet& shown_fleet(const study::ReplayResult& result, const measure::PolicyResult& policy) {
  return policy.fleet ? *policy.fleet : *result.recorded_fleet;
}

/// Adds each row's fleet after its name: the GPUs, and what they cost. The GPU-hours that were used make room for them.
void insert_fleets(const study::ReplayResult& result, std::size_t head_count, std::vector<Row>& rows) {
  constexpr std::ptrdiff_t kGpuHours = 7;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].erase(rows[i].begin() + kGpuHours);
    std::vector<std::string> cells = {i == 0 ? "" : "GPUs", i == 0 ? "fleet" : "costs"};
    if (i >= head_count) {
      const measure::PolicyResult& policy = result.policies[i - head_count];
      const measure::RowFleet& fleet = shown_fleet(result, policy);
      rows[i].front() = fleet.policy + (policy.is_hindsight ? "*" : "");
      cells = {with_separators(fleet.gpus),
               shown(fleet.cost_micro_usd, [](std::int64_t cost) { return dollars(cost); })};
    }
    rows[i].insert(rows[i].begin() + 1, cells.begin(), cells.end());
  }
}

/// ", for $4.00 more"; empty if a fleet has no price.
std::string price_words(const measure::RowFleet& more, const measure::RowFleet& recorded) {
  if (!more.cost_micro_usd || !recorded.cost_micro_usd) return "";
  return fmt::format(", for {} more", dollars(*more.cost_micro_usd - *recorded.cost_micro_usd));
}

/// What the added GPUs change for each policy, a line each.
std::vector<std::string> gains_of_fleet(const study::ReplayResult& result) {
  std::vector<std::string> lines;
  for (const measure::PolicyResult& more : result.policies) {
    const auto recorded = std::ranges::find_if(result.policies, [&](const measure::PolicyResult& other) {
      return more.fleet && other.fleet && other.fleet->policy == more.fleet->policy &&
             other.fleet->gpus < more.fleet->gpus;
    });
    if (recorded == result.policies.end() || more.infeasible || recorded->infeasible) continue;
    const auto goodput = [&](const measure::PolicyResult& of) {
      return shown(goodput_of(of, result.objective), goodput_text);
    };
    const std::int64_t added = more.fleet->gpus - recorded->fleet->gpus;
    lines.push_back(fmt::format("{} with {} more GPU{}: {} in time instead of {}, goodput {} instead of {}{}",
                                more.name, with_separators(added), added == 1 ? "" : "s",
                                shown(more.figures.slo_attainment, percent),
                                shown(recorded->figures.slo_attainment, percent), goodput(more), goodput(*recorded),
                                price_words(*more.fleet, *recorded->fleet)));
  }
  return lines;
}

const measure::PolicyResult* first_that_ran(const study::ReplayResult& result) {
  const auto ran = std::find_if(result.policies.begin(), result.policies.end(),
                                [](const measure::PolicyResult& policy) { return !policy.infeasible; });
  return ran == result.policies.end() ? nullptr : &*ran;
}

std::string opening(const study::ReplayResult& result) {
  std::string text = fmt::format("{}: {} s simulated", result.scenario, with_separators(result.simulated_seconds));
  if (const measure::PolicyResult* ran = first_that_ran(result)) {
    text += fmt::format(", {} requests", with_separators(ran->figures.requests));
  }
  const char* fleet = result.recorded_fleet ? "the fleet with the added GPUs" : "the fleet";
  text += fmt::format(", seed {}; {} costs {}", result.seed, fleet,
                      shown(result.cost_micro_usd_fleet, [](std::int64_t cost) { return dollars(cost); }));
  if (!result.cost_micro_usd_fleet) text += " (no price given)";
  return text;
}

/// Remarks on the policies, grouped by text.
template <class TextOf>
std::vector<std::string> remarks_on(const study::ReplayResult& result, std::string_view pattern, TextOf text_of) {
  std::vector<Remark> remarks;
  remarks.reserve(result.policies.size());
  for (const measure::PolicyResult& policy : result.policies)
    remarks.push_back({.name = policy.name, .text = text_of(policy)});
  return grouped(pattern, remarks);
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  return fmt::format("{}", fmt::join(texts, between));
}

/// The bound in words; empty if there is none.
std::string bound_text(const study::ReplayResult& result) {
  const bool is_mean = result.objective == Objective::kServices;
  const auto of = [&](const bound::Goodputs& both) { return is_mean ? both.goodput_mean_of_services : both.goodput; };
  const auto any = of(result.bound.any);
  const auto unshared = of(result.bound.without_sharing);
  if (!any || !unshared) return "";
  if (*any == *unshared) return fmt::format("bound: no policy can exceed {}", goodput_text(*any));
  return fmt::format("bound: no policy can exceed {}; none that keeps services apart can exceed {}", goodput_text(*any),
                     goodput_text(*unshared));
}

std::vector<std::string> remarks(const study::ReplayResult& result, bool has_timings) {
  std::vector<std::string> lines;
  if (const std::string bound = bound_text(result); !bound.empty()) lines.push_back(bound);
  const auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  add(gains_of_fleet(result));
  const bool has_hindsight = std::any_of(result.policies.begin(), result.policies.end(),
                                         [](const measure::PolicyResult& policy) { return policy.is_hindsight; });
  if (has_hindsight) lines.emplace_back("* works in hindsight: it knows the whole trace beforehand");
  add(remarks_on(result, "{} cannot run: {}",
                 [](const measure::PolicyResult& policy) { return policy.infeasible.value_or(""); }));
  add(remarks_on(result, "{}: {}", [](const measure::PolicyResult& policy) { return policy.how; }));
  add(remarks_on(result, "not obeyed by {}: {}",
                 [](const measure::PolicyResult& policy) { return joined(constraint_names(policy.ignores), ", "); }));
  add(remarks_on(result, "{}: {}", [](const measure::PolicyResult& policy) { return joined(policy.notes, "; "); }));
  if (has_timings) {
    std::vector<std::string> times;
    times.reserve(result.policies.size());
    for (const measure::PolicyResult& policy : result.policies) {
      times.push_back(fmt::format("{} {:.2f} s", policy.name, policy.wall_seconds));
    }
    lines.push_back("took: " + joined(times, ", "));
  }
  return lines;
}

/// The policy with the highest goodput of those without hindsight, which is printed in bold.
const measure::PolicyResult* best_of(const study::ReplayResult& result) {
  const measure::PolicyResult* best = nullptr;
  for (const measure::PolicyResult& policy : result.policies) {
    const auto goodput = goodput_of(policy, result.objective);
    if (policy.infeasible || policy.is_hindsight || !goodput) continue;
    if (best == nullptr || *goodput > *goodput_of(*best, result.objective)) best = &policy;
  }
  return best;
}

}  // namespace

std::string replay_table(const study::ReplayResult& result, TableStyle style) {
  const auto in_style = [style](std::string_view code, const std::string& text) {
    return styled_line(style.has_colour, code, text);
  };
  std::vector<Row> rows = head_rows(result.objective);
  const std::size_t head_count = rows.size();
  for (const measure::PolicyResult& policy : result.policies) {
    rows.push_back(policy.infeasible ? infeasible_row(policy) : figures_row(policy, result.objective));
  }

  if (result.recorded_fleet) insert_fleets(result, head_count, rows);

  std::string text = wrapped(opening(result)) + "\n\n";
  const std::vector<std::string> lines = aligned(rows);
  const measure::PolicyResult* best = best_of(result);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_head = i < head_count;
    const bool is_best = !is_head && &result.policies[i - head_count] == best;
    text += is_head ? in_style("2", lines[i]) : is_best ? in_style("1", lines[i]) : lines[i] + "\n";
  }
  text += "\n";
  for (const std::string& line : remarks(result, style.has_timings)) text += wrapped(line) + "\n";
  text += in_style(
      "2", "More: --report DIR (a page with charts), --format json (every figure), --journal FILE (every event)");
  // Last, where a reader of a long table looks first.
  return text + in_style("1", wrapped(study::replay_verdict(result)));
}

}  // namespace berth::cli
