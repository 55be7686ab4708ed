#include "surface/cli/place/place_table.h"

#include <fmt/format.h>

#include <iterator>

#include "base/core/count_words.h"
#include "scheduling/placement/verdict.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/place_figures.h"

namespace berth::cli {
namespace {

using placement::ArrivalOrder;

std::string heading_text(const placement::Problem& problem, const placement::StudyOptions& study) {
  std::string text =
      fmt::format("{}, {}, {}; ", counted_noun(std::ssize(problem.nodes), "node"),
                  counted_noun(problem.gpu_count, "GPU"), counted_noun(std::ssize(problem.pod_names), "pod"));
  const std::string seeds = counted_noun(std::ssize(study.seeds), "seed");
  switch (study.order) {
    case ArrivalOrder::kGiven:
      text += "in the order of the file";
      break;
    case ArrivalOrder::kSeeded:
      text += fmt::format("{}, up to {} x the GPUs", seeds, study.demand.to_string());
      break;
    case ArrivalOrder::kChurn:
      text += fmt::format("{}, pods leave, {} x the GPUs asked for on average", seeds, study.demand.to_string());
      break;
  }
  return text + "; percent of the GPUs";
}

}  // namespace

std::string place_table(const placement::Problem& problem, const placement::StudyOptions& study,
                        const std::vector<placement::PolicyResult>& results, bool has_colour) {
  return heading_text(problem, study) + "\n\n" + figures_text(figures::place_figures(problem, results), has_colour) +
         "\n" + wrapped(placement::placement_verdict(results)) + "\n";
}

}  // namespace berth::cli
