#include "models/optimize/measuring.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "models/compare/sqnr.h"
#include "models/onnx/write_model.h"
#include "models/optimize/keep_rules.h"
#include "models/optimize/loss_figures.h"
#include "models/probing/latency.h"
#include "models/probing/run_rows.h"

namespace berth::models {
namespace {

/// Rows of a run where only the answers matter.
constexpr std::size_t kBatchRows = 16;
/// Rows on which each rewrite is checked.
constexpr std::size_t kCheckRows = 16;
constexpr int kProcesses = 5;

RowSet first_rows(const RowSet& rows, std::size_t count) {
  std::vector<std::size_t> indices(std::min(count, rows.count));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return select_rows(rows, indices);
}

template <class Figure>
Figure median_of(std::vector<Figure> figures) {
  std::ranges::sort(figures);
  return figures[figures.size() / 2];
}

void add_footprint(ModelFigures& figures, const ModelFootprint& footprint) {
  figures.load_us = footprint.load.count();
  figures.loaded_bytes = footprint.loaded_bytes;
  figures.run_bytes = footprint.run_bytes;
}

/// A model may refuse some sizes: reshapes to a fixed one.
std::vector<std::int64_t> batches_of(const ProbedModel& model, const OptimizeRows& rows, const OptimizeTerms& terms,
                                     bool& has_fixed_batch) {
  const auto fixed = fixed_rows(model.inputs(), rows.calibration);
  has_fixed_batch = fixed.has_value();
  if (fixed) return {static_cast<std::int64_t>(*fixed)};
  return terms.batches;
}

Result<BatchLatency> measure_batch(ProbedModel& original, ProbedModel& variant, std::int64_t batch,
                                   const OptimizeRows& rows, Micros budget, const OptimizeTools& tools) {
  // An interrupt looks like the end of the budget.
  const auto now = [&tools] { return tools.should_stop() ? Instant::never() : tools.now(); };
  if (tools.should_stop()) return stopped();
  const std::vector<Tensor> inputs = inputs_of(rows, batch);
  const auto measured = measure_latency(original, variant, inputs, {.budget = budget}, now);
  if (!measured) return pass_on(measured.error());
  if (tools.should_stop()) return stopped();
  return BatchLatency{
      .batch = batch,
      .ratio = {.value = measured->ratio.ratio, .low = measured->ratio.low, .high = measured->ratio.high},
      .original_us = measured->original_us,
      .variant_us = measured->variant_us,
      .rounds = measured->rounds,
      .is_settled = measured->is_settled};
}

Result<void> measure_latencies(const WrittenVariant& variant, ProbedModel& loaded, const MeasuredOriginal& original,
                               const OptimizeRows& rows, Micros budget, const OptimizeTools& tools,
                               VariantFigures& figures) {
  const Micros each(budget.count() / static_cast<std::int64_t>(original.batches.size()));
  for (const std::int64_t batch : original.batches) {
    tools.report(fmt::format("{}: time at batch {}", variant.name, batch));
    const auto latency = measure_batch(*original.loaded, loaded, batch, rows, each, tools);
    if (!latency) return pass_on(latency.error());
    figures.latency.push_back(*latency);
  }
  figures.time_ratio = geometric_mean(figures.latency);
  return {};
}

Result<void> measure_losses(ProbedModel& loaded, const MeasuredOriginal& original, const OptimizeRows& rows,
                            const OptimizeTerms& terms, VariantFigures& figures) {
  const auto loss_on = [&](const RowSet& half, const std::vector<Tensor>& answers,
                           LossFigure& figure) -> Result<std::vector<Tensor>> {
    auto outputs = run_rows(loaded, half, original.batch_rows);
    if (!outputs) return pass_on(outputs.error());
    auto loss =
        loss_figure(original.metric, {.original = answers, .variant = *outputs, .labels = half.labels}, terms.max_loss);
    if (!loss) return pass_on(loss.error());
    figure = *loss;
    return outputs;
  };
  if (auto outputs = loss_on(rows.choosing, original.choosing, figures.choosing); !outputs) {
    return pass_on(outputs.error());
  }
  const auto outputs = loss_on(rows.judging, original.judging, figures.judging);
  if (!outputs) return pass_on(outputs.error());
  figures.sqnr_db = sqnr_db(std::span<const Tensor>(original.judging), std::span<const Tensor>(*outputs));
  return {};
}

Result<void> answer_rows(MeasuredOriginal& original, const OptimizeRows& rows) {
  const auto answers = [&](const RowSet& to, std::vector<Tensor>& place) -> Result<void> {
    auto outputs = run_rows(*original.loaded, to, original.batch_rows);
    if (!outputs) return pass_on(outputs.error());
    place = *std::move(outputs);
    return {};
  };
  original.check.rows = first_rows(rows.calibration, kCheckRows);
  original.check.batch_rows = original.batch_rows;
  if (auto done = answers(original.check.rows, original.check.outputs); !done) return done;
  if (auto done = answers(rows.choosing, original.choosing); !done) return done;
  return answers(rows.judging, original.judging);
}

/// Also says whether the metric suits the model and the rows.
Result<void> score_original(MeasuredOriginal& original, const OptimizeRows& rows) {
  for (const auto& [half, answers] :
       {std::pair(&rows.choosing, &original.choosing), std::pair(&rows.judging, &original.judging)}) {
    const auto itself =
        loss_figure(original.metric, {.original = *answers, .variant = *answers, .labels = half->labels}, 1);
    if (!itself) return pass_on(itself.error());
    if (original.metric == Metric::kAccuracy) original.score = itself->score;
  }
  return {};
}

}  // namespace

std::vector<Tensor> inputs_of(const OptimizeRows& rows, std::int64_t batch) {
  const RowSet& from = rows.calibration;
  if (from.count >= static_cast<std::size_t>(batch) || from.rows_are_runs) {
    return batch_of(from, 0, static_cast<std::size_t>(batch));
  }
  std::vector<std::size_t> indices(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i % from.count;
  return batch_of(select_rows(from, indices), 0, indices.size());
}

std::int64_t count_nodes(const Graph& graph) {
  std::int64_t count = 0;
  for (const Node& node : graph.nodes) {
    ++count;
    for (const GraphPtr& inner : graphs_in(node)) count += count_nodes(*inner);
  }
  return count;
}

Result<ModelFootprint> median_footprint(std::string_view model, std::span<const Tensor> inputs,
                                        const OptimizeTools& tools) {
  std::vector<std::chrono::microseconds> loads;
  std::vector<std::int64_t> loaded;
  std::vector<std::int64_t> run;
  if (tools.should_stop()) return stopped();
  const auto footprints = tools.footprints(model, inputs, kProcesses);
  if (!footprints) return pass_on(footprints.error());
  ENSURE(!footprints->empty());
  for (const ModelFootprint& footprint : *footprints) {
    loads.push_back(footprint.load);
    loaded.push_back(footprint.loaded_bytes);
    run.push_back(footprint.run_bytes);
  }
  return ModelFootprint{.load = median_of(loads), .loaded_bytes = median_of(loaded), .run_bytes = median_of(run)};
}

Result<MeasuredOriginal> measure_original(const Model& model, std::int64_t file_bytes, const OptimizeRows& rows,
                                          const OptimizeTerms& terms, const OptimizeTools& tools) {
  tools.report("the original: answers and memory");
  const auto bytes = write_model(model);
  if (!bytes) return pass_on(bytes.error());
  auto loaded = tools.probe.load(*bytes, EngineOptimisation::kAll);
  if (!loaded) return pass_on(loaded.error());
  MeasuredOriginal original;
  original.loaded = *std::move(loaded);
  original.batches = batches_of(*original.loaded, rows, terms, original.has_fixed_batch);
  original.batch_rows = rows.calibration.rows_are_runs ? 1 : kBatchRows;
  original.metric = terms.metric.value_or(rows.judging.labels.empty() ? Metric::kAgreement : Metric::kAccuracy);
  if (auto answered = answer_rows(original, rows); !answered) return pass_on(answered.error());
  if (auto scored = score_original(original, rows); !scored) return pass_on(scored.error());
  const auto footprint = median_footprint(*bytes, inputs_of(rows, original.batches.back()), tools);
  if (!footprint) return pass_on(footprint.error());
  add_footprint(original.figures, *footprint);
  original.figures.file_bytes = file_bytes;
  original.figures.nodes = count_nodes(model.graph);
  return original;
}

Result<VariantFigures> measure_variant(const WrittenVariant& variant, const MeasuredOriginal& original,
                                       const OptimizeRows& rows, const OptimizeTerms& terms, Micros budget,
                                       const OptimizeTools& tools) {
  tools.report(fmt::format("{}: loss", variant.name));
  auto loaded = tools.probe.load(variant.bytes, EngineOptimisation::kAll);
  if (!loaded) return pass_on(loaded.error());
  VariantFigures figures;
  if (auto lost = measure_losses(**loaded, original, rows, terms, figures); !lost) return pass_on(lost.error());
  if (auto timed = measure_latencies(variant, **loaded, original, rows, budget, tools, figures); !timed) {
    return pass_on(timed.error());
  }
  tools.report(fmt::format("{}: memory", variant.name));
  const auto footprint = median_footprint(variant.bytes, inputs_of(rows, original.batches.back()), tools);
  if (!footprint) return pass_on(footprint.error());
  add_footprint(figures.model, *footprint);
  figures.model.file_bytes = static_cast<std::int64_t>(variant.bytes.size());
  figures.model.nodes = variant.nodes;
  return figures;
}

}  // namespace berth::models
