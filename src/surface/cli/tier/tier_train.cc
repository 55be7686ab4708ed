#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "edges/files/file_sink.h"
#include "surface/cli/shared/distinct_paths.h"
#include "surface/cli/shared/unwritable.h"
#include "surface/cli/tier/measurement_files.h"
#include "surface/cli/tier/tier_subcommands.h"
#include "surface/cli/tier/tier_train_options.h"
#include "tier/estimate/estimator.h"
#include "tier/readers/join_tables.h"

namespace berth::cli {
namespace {

constexpr const char* kTrainHelp =
    "Trains a forest that predicts what a workload gives on tiers where it was not measured.";

constexpr const char* kTrainExamples = R"(Examples:
  berth tier train --data measurements.csv --tiers tiers.yaml --out forest
  berth tier train --data prof_data --source parvagpu --out forest

Exit status: 0 done, 1 the file cannot be written, 2 bad input (nothing is written).)";

Result<tier::TierTable> table_of_training(const TierTrainRequest& request, const Files& files) {
  const auto tiers = tiers_to_read(request.source, request.tiers_path, files);
  if (!tiers) return pass_on(tiers.error());
  std::vector<tier::NamedTable> tables;
  for (const std::string& path : request.data_paths) {
    auto table = read_measurements(request.source, path, *tiers, files);
    if (!table) return pass_on(table.error());
    tables.push_back({.file = path, .table = std::move(*table)});
  }
  return tier::join_tables(tables);
}

std::string trained_text(const tier::Estimator& forest, const tier::TierTable& table, const std::string& path) {
  const tier::TrainingFigures& figures = forest.trained_on();
  const std::string left_out =
      table.rows_left_out == 0 ? "" : fmt::format("; {} rows of other tiers were left out", table.rows_left_out);
  return fmt::format(
      "{}: {} workloads of {} models on {} tiers{}\nBy leaving groups out, half of the predictions are "
      "within a factor of {:.3f}.\n",
      path, with_separators(static_cast<std::int64_t>(figures.workload_count)), figures.groups.size(),
      forest.tiers().size(), left_out, std::exp(figures.error_median));
}

Result<std::string> run_tier_train(const TierTrainRequest& request, const VerbContext& context) {
  std::vector<NamedPath> inputs = {{"--tiers", request.tiers_path}};
  if (request.tiers_path.empty()) inputs.clear();
  for (const std::string& path : request.data_paths) inputs.push_back({"--data", path});
  if (auto checked = check_outputs_are_distinct(inputs, {{"--out", request.out_path}}); !checked) {
    return pass_on(checked.error());
  }
  const auto table = table_of_training(request, *context.files);
  if (!table) return pass_on(table.error());
  const auto forest = tier::Estimator::train(*table, {}, {.seed = request.seed, .trees = request.trees});
  if (!forest) return invalid(fmt::format("{}: {}", request.data_paths.front(), forest.error().message));
  if (auto written = edges::write_file_whole(request.out_path, forest->write()); !written) {
    return unwritable(written.error());
  }
  return trained_text(*forest, *table, request.out_path);
}

}  // namespace

Verb tier_train_subcommand() {
  return with_words({.name = "train", .help = kTrainHelp, .examples = kTrainExamples}, tier_train_option_rows,
                    checked_run(check_tier_train, run_tier_train));
}

}  // namespace berth::cli
