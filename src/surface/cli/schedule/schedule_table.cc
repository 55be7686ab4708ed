#include "surface/cli/schedule/schedule_table.h"

#include <fmt/format.h>

#include <iterator>

#include "base/core/count_words.h"
#include "scheduling/jobs/verdict.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/schedule_figures.h"

namespace berth::cli {

std::string schedule_table(const sched::Workload& workload, const std::vector<sched::PolicyFigures>& results,
                           bool has_colour) {
  return fmt::format("{} on {}; completion and wait: means in seconds; no makespan below {} s\n\n",
                     counted_noun(std::ssize(workload.jobs), "job"), counted_noun(workload.gpus, "GPU"),
                     with_separators(sched::makespan_bound(workload))) +
         figures_text(figures::schedule_figures(workload, results), has_colour) + "\n" +
         wrapped(sched::schedule_verdict(results)) + "\n";
}

}  // namespace berth::cli
