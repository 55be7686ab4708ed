#include "surface/cli/case/case_table.h"

#include <fmt/format.h>

#include <vector>

#include "sim/study/case_words.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using study::CaseStep;

std::string saving_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::vector<std::string> step_row(const CaseStep& step) {
  std::string name = step.name;
  if (step.is_hindsight) name += " (hindsight)";
  if (step.infeasible) {
    std::vector<std::string> row(11, std::string(kAbsentText));
    row.front() = std::move(name);
    return row;
  }
  return {std::move(name),
          fmt::format("{:.2f}", step.gpus_mean),
          with_separators(step.gpus_max),
          dollars(step.cost_micro_usd),
          shown(step.cost_micro_usd_per_million_in_time, dollars),
          shown(step.slo_attainment_worst_service, study::floored_share),
          step.holds ? "yes" : "NO",
          saving_text(step.utilisation.allocated),
          saving_text(step.utilisation.busy),
          saving_text(step.utilisation.effective),
          shown(step.saves_of_first, saving_text)};
}

}  // namespace

std::string case_table(const study::CaseResult& result, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {{"step", "GPUs", "most", "cost", "per million", "worst service",
                                                 "holds", "allocated", "busy", "effective", "saves"}};
  for (const CaseStep& step : result.steps) rows.push_back(step_row(step));
  const std::vector<std::string> lines = aligned(rows);
  std::string text = wrapped(fmt::format("{} s on {} at ${} an hour; {} of each service's requests in time; a GPU is "
                                         "there {} s after its order",
                                         with_separators(result.simulated_seconds), result.gpu_model,
                                         result.usd_per_gpu_hour.to_string(),
                                         percent(result.options.attainment.to_double()), result.provision_seconds)) +
                     "\n\n" + styled_line(has_colour, "2", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    text += styled_line(has_colour, result.steps[i - 1].name == "scaling" ? "1" : "", lines[i]);
  }
  text += "\n";
  for (const CaseStep& step : result.steps) {
    const std::string& remark = step.infeasible ? *step.infeasible : step.how;
    if (!remark.empty()) text += wrapped(step.name + ": " + remark) + "\n";
  }
  text += "\n" + wrapped(study::case_verdict(result)) + "\n";
  if (const std::string small = study::case_small_words(result); !small.empty()) text += wrapped(small) + "\n";
  text += wrapped(study::case_assumption(result)) + "\n";
  return text;
}

}  // namespace berth::cli
