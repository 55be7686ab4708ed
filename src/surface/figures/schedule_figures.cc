#include "surface/figures/schedule_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/figure_text.h"

namespace berth::figures {
namespace {

using sched::PolicyFigures;

std::string rounded_text(double value) { return with_separators(std::llround(value)); }

json::Value spread_value(const sched::Spread& spread) {
  return json::Value::Object{{"sum", spread.sum},
                             {"mean", nine_digits(spread.mean)},
                             {"p50", spread.p50},
                             {"p99", spread.p99},
                             {"max", spread.max}};
}

/// For programs, the whole spread; for people, its mean.
Cell spread_cell(const sched::Spread& spread) {
  return {.value = spread_value(spread), .text = rounded_text(spread.mean)};
}

Cell slowdown_cell(const PolicyFigures& figures) {
  return {.value = json::Value::Object{{"mean", nine_digits(figures.slowdown_mean)},
                                       {"p99", nine_digits(figures.slowdown_p99)}},
          .text = fmt::format("{:.2f}", figures.slowdown_mean)};
}

/// In GPU-seconds for programs, in GPU-hours for people.
Cell restart_cell(Int128 gpu_seconds) {
  constexpr double kSecondsPerHour = 3'600;
  return {.value = gpu_seconds, .text = rounded_text(static_cast<double>(gpu_seconds) / kSecondsPerHour)};
}

json::Value tenants_value(const PolicyFigures& figures) {
  json::Value::List tenants;
  for (const sched::TenantFigures& tenant : figures.tenants) {
    tenants.push_back(json::Value::Object{{"tenant", tenant.tenant},
                                          {"jobs", tenant.jobs},
                                          {"gpu_seconds", tenant.gpu_seconds},
                                          {"completion_mean", nine_digits(tenant.completion_mean)},
                                          {"gpu_seconds_borrowed", tenant.gpu_seconds_borrowed}});
  }
  return tenants;
}

std::vector<Column> schedule_columns(bool has_deadlines) {
  return {
      {.key = "policy", .heading = "policy", .label = "Policy"},
      {.key = "hindsight"},
      {.key = "completion_seconds",
       .heading = "completion",
       .label = "Mean completion, s",
       .head = "Mean completion<br>s"},
      {.heading = "p99", .label = "p99 completion, s", .head = "p99 completion<br>s"},
      {.key = "wait_seconds", .heading = "wait", .label = "Mean wait, s", .head = "Mean wait<br>s"},
      {.label = "p99 wait, s", .head = "p99 wait<br>s"},
      {.key = "slowdown", .heading = "slowdown", .label = "Mean slowdown", .head = "Mean<br>slowdown"},
      {.key = "rho_worst", .heading = "rho worst", .label = "Worst rho"},
      {.key = "makespan_seconds", .heading = "makespan", .label = "Makespan, s", .head = "Makespan<br>s"},
      {.key = "utilisation", .label = "Utilisation"},
      {.key = "preemptions", .heading = "preempted", .label = "Preemptions"},
      {.key = "restart_gpu_seconds", .label = "Restarts, GPU-h", .head = "Restarts<br>GPU-h"},
      {.key = "deadlines_missed",
       .heading = has_deadlines ? "late" : "",
       .label = has_deadlines ? "Deadlines missed" : "",
       .head = "Deadlines<br>missed"},
      {.key = "tenants"},
  };
}

Row schedule_row(const PolicyFigures& figures, double longest) {
  const bool has_hindsight = sched::has_hindsight(figures.policy);
  return {
      .cells = {name_cell(sched::name_of(figures.policy), has_hindsight),
                {.value = has_hindsight},
                barred_cell(spread_cell(figures.completion), figures.completion.mean / longest),
                count_cell(figures.completion.p99),
                spread_cell(figures.wait),
                count_cell(figures.wait.p99),
                slowdown_cell(figures),
                {.value = nine_digits(figures.rho_worst), .text = fmt::format("{:.2f}", figures.rho_worst)},
                count_cell(figures.makespan),
                {.value = nine_digits(figures.utilisation), .text = fmt::format("{:.1f} %", figures.utilisation * 100)},
                count_cell(figures.preemptions),
                restart_cell(figures.restart_gpu_seconds),
                count_cell(figures.deadlines_missed),
                {.value = tenants_value(figures)}},
      .is_ours = figures.policy == sched::Policy::kBerth};
}

}  // namespace

FigureTable schedule_figures(const sched::Workload& workload, const std::vector<PolicyFigures>& results) {
  const bool has_deadlines =
      std::ranges::any_of(workload.jobs, [](const sched::Job& job) { return job.deadline.has_value(); });
  double longest = 0;
  for (const PolicyFigures& figures : results) longest = std::max(longest, figures.completion.mean);
  FigureTable table{.columns = schedule_columns(has_deadlines), .rows = {}};
  for (const PolicyFigures& figures : results) table.rows.push_back(schedule_row(figures, longest));
  return table;
}

}  // namespace berth::figures
