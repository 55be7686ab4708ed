#include "surface/cli/tier/tier_evaluate_run.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/tier/measurement_files.h"
#include "surface/cli/tier/tier_evaluate_table.h"
#include "tier/decide/decide.h"
#include "tier/evaluate/estimators.h"
#include "tier/evaluate/evaluate.h"
#include "tier/evaluate/evaluation_text.h"
#include "tier/evaluate/leave_file.h"

namespace berth::cli {
namespace {

/// What is judged: the measurements, the tier that targets of services are made from, and what is left out together.
struct TierInputs {
  tier::TierTable table;
  std::size_t reference = 0;
  std::map<std::string, std::string> leave;
};

Result<std::map<std::string, std::string>> left_together(const TierEvaluateRequest& request, const Files& files) {
  if (!request.leave_path) return std::map<std::string, std::string>();
  const auto text = files.read(*request.leave_path);
  if (!text) return pass_on(text.error());
  return tier::read_leave_file(*text, *request.leave_path);
}

Result<TierInputs> read_tier_inputs(const TierEvaluateRequest& request, const Files& files) {
  const auto tiers = tiers_to_read(request.source, request.tiers_path.value_or(""), files);
  if (!tiers) return pass_on(tiers.error());
  auto table = read_measurements(request.source, request.data, *tiers, files);
  if (!table) return pass_on(table.error());
  const auto reference = tier::reference_tier(request.source, *table);
  if (!reference) {
    return invalid(fmt::format("{}: wanted the tier 7g, from which the targets are made, found none",
                               request.tiers_path.value_or("--tiers")));
  }
  auto leave = left_together(request, files);
  if (!leave) return pass_on(leave.error());
  return TierInputs{.table = std::move(*table), .reference = *reference, .leave = std::move(*leave)};
}

Result<tier::Evaluation> run_evaluation(const TierEvaluateRequest& request, const TierInputs& inputs,
                                        ProgressOutput progress, const RunOutputs& outputs) {
  ProgressBar bar(progress, 1, steady_now);
  auto evaluation = tier::evaluate(
      {.table = &inputs.table,
       .reference = inputs.reference,
       .cases = request.cases,
       .decision = {.decide = tier::decide, .measurements_max = request.measurements_max, .sure = request.sure},
       .leave = inputs.leave,
       .estimated = {{"berth", tier::make_forest}, {"nearest", tier::make_nearest}, {"linear", tier::make_linear}},
       .progress = [&](double done) {
         bar.show("cases", 0, done);
         return outputs.may_continue();
       }});
  if (!evaluation && evaluation.error().code == ErrorCode::kInterrupted) return pass_on(outputs.reason_of_stop());
  if (!evaluation && evaluation.error().code == ErrorCode::kInvalidInput) {
    return invalid(fmt::format("{}: {}", request.data, evaluation.error().message));
  }
  return evaluation;
}

void warn_of_left_out_rows(const TierEvaluateRequest& request, const TierInputs& inputs, std::FILE* err) {
  const bool is_shown = request.format == OutputFormat::kTable;  // the table says it itself
  if (is_shown || !request.tiers_path || inputs.table.rows_left_out == 0) return;
  print_warnings({fmt::format("{} rows of other tiers were left out", inputs.table.rows_left_out)}, err);
}

}  // namespace

Result<std::string> run_tier_evaluate(const TierEvaluateRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto inputs = read_tier_inputs(request, *context.files);
  if (!inputs) return pass_on(inputs.error());
  outputs.begin();
  const auto log = outputs.open_lines(request.log_path);
  if (!log) return pass_on(log.error());
  const auto evaluation = run_evaluation(request, *inputs, context.progress(), outputs);
  if (!evaluation) return pass_on(evaluation.error());
  warn_of_left_out_rows(request, *inputs, context.err);
  if ((*log)->is_open()) {
    for (const std::string& line : tier::evaluation_log(inputs->table, *evaluation)) (*log)->add(line);
  }
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? tier::evaluation_json(tier::name_of(request.source), *evaluation,
                                                                  request.measurements_max)
                                          : tier_evaluate_table(inputs->table, *evaluation, request.measurements_max,
                                                                context.has_colour());
                             },
                         .page = {}});
}

}  // namespace berth::cli
