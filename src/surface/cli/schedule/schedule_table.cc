#include "surface/cli/schedule/schedule_table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/core/count_words.h"
#include "scheduling/jobs/verdict.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using sched::PolicyFigures;

std::string seconds_text(double seconds) { return with_separators(std::llround(seconds)); }

std::vector<std::string> policy_row(const PolicyFigures& figures, bool has_deadlines) {
  std::string name(sched::name_of(figures.policy));
  if (sched::has_hindsight(figures.policy)) name += " (hindsight)";
  std::vector<std::string> row = {std::move(name),
                                  seconds_text(figures.completion.mean),
                                  with_separators(figures.completion.p99),
                                  seconds_text(figures.wait.mean),
                                  fmt::format("{:.2f}", figures.slowdown_mean),
                                  fmt::format("{:.2f}", figures.rho_worst),
                                  with_separators(figures.makespan),
                                  with_separators(figures.preemptions)};
  if (has_deadlines) row.push_back(with_separators(figures.deadlines_missed));
  return row;
}

}  // namespace

std::string schedule_table(const sched::Workload& workload, const std::vector<PolicyFigures>& results,
                           bool has_colour) {
  bool has_deadlines = false;
  for (const sched::Job& job : workload.jobs) has_deadlines = has_deadlines || job.deadline.has_value();
  std::vector<std::vector<std::string>> rows = {
      {"policy", "completion", "p99", "wait", "slowdown", "rho worst", "makespan", "preempted"}};
  if (has_deadlines) rows.front().emplace_back("late");
  for (const PolicyFigures& figures : results) rows.push_back(policy_row(figures, has_deadlines));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = fmt::format("{} on {}; completion and wait: means in seconds; no makespan below {} s\n\n",
                                 counted_noun(std::ssize(workload.jobs), "job"), counted_noun(workload.gpus, "GPU"),
                                 with_separators(sched::makespan_bound(workload)));
  text += styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool is_ours = results[i - 1].policy == sched::Policy::kBerth;
    text += styled_line(has_colour, is_ours ? "1" : "", lines[i]);
  }
  return text + "\n" + wrapped(sched::schedule_verdict(results)) + "\n";
}

}  // namespace berth::cli
