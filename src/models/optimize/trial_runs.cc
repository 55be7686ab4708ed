#include "models/optimize/trial_runs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "models/compare/loss.h"
#include "models/compare/sqnr.h"
#include "models/onnx/write_model.h"
#include "models/probing/latency.h"
#include "models/probing/run_rows.h"

namespace berth::models {
namespace {

/// Searches compare many candidates: a ratio within 3 % suffices.
constexpr int kTrialRoundsMax = 30;
constexpr double kTrialWidth = 0.03;
constexpr Micros kTrialBudget = Micros::seconds(1);

/// What a search may believe: the loss and one standard error of it, as other rows will judge. Of shares by the rows
/// that differ, whose difference has the variance of their number.
double cautious_loss(const Loss& loss) {
  constexpr double kHalfWidths = 2 * 1.96;
  if (loss.metric == Metric::kError) return loss.loss + (loss.high - loss.low) / kHalfWidths;
  // What was gained may be luck.
  return std::max(loss.loss, 0.0) +
         std::sqrt(static_cast<double>(loss.lost + loss.gained)) / static_cast<double>(loss.rows);
}

}  // namespace

Trials TrialRuns::trials() {
  return {.loss = [this](const Model& candidate) { return loss(candidate); },
          .sqnr_db = [this](const Model& candidate) { return sqnr(candidate); },
          .row_noise = [this](const Model& candidate) { return noise(candidate); },
          .time_ratio = [this](const Model& candidate, const Model& than) { return time_ratio(candidate, than); },
          .has_time = [this] { return !tools_.should_stop() && clock_.has_time(tools_.now()); }};
}

Result<ProbedModel*> TrialRuns::load(const Model& model, Loaded& place) {
  auto bytes = write_model(model);
  if (!bytes) return pass_on(bytes.error());
  if (place.model == nullptr || place.bytes != *bytes) {
    place.model.reset();
    auto loaded = tools_.probe.load(*bytes, EngineOptimisation::kAll);
    if (!loaded) return pass_on(loaded.error());
    place = {.bytes = *std::move(bytes), .model = *std::move(loaded)};
  }
  return place.model.get();
}

Result<double> TrialRuns::loss(const Model& candidate) {
  const auto loaded = load(candidate, candidate_);
  if (!loaded) return pass_on(loaded.error());
  const auto outputs = run_rows(**loaded, rows_.choosing, original_.batch_rows);
  if (!outputs) return pass_on(outputs.error());
  const bool has_labels = original_.metric == Metric::kAccuracy;
  const auto loss =
      loss_of(original_.metric, original_.choosing, *outputs,
              has_labels ? std::span<const std::int64_t>(rows_.choosing.labels) : std::span<const std::int64_t>());
  if (!loss) return pass_on(loss.error());
  return cautious_loss(*loss);
}

Result<std::vector<Tensor>> TrialRuns::answers(const Model& candidate) {
  const auto loaded = load(candidate, candidate_);
  if (!loaded) return pass_on(loaded.error());
  auto outputs = run_rows(**loaded, rows_.calibration, original_.batch_rows);
  if (!outputs) return pass_on(outputs.error());
  if (calibration_.empty()) {
    auto wanted = run_rows(*original_.loaded, rows_.calibration, original_.batch_rows);
    if (!wanted) return pass_on(wanted.error());
    calibration_ = *std::move(wanted);
  }
  return outputs;
}

Result<std::vector<double>> TrialRuns::noise(const Model& candidate) {
  const auto outputs = answers(candidate);
  if (!outputs) return pass_on(outputs.error());
  return row_noise(calibration_, *outputs, rows_.calibration.count);
}

Result<double> TrialRuns::sqnr(const Model& candidate) {
  const auto outputs = answers(candidate);
  if (!outputs) return pass_on(outputs.error());
  return sqnr_db(std::span<const Tensor>(calibration_), std::span<const Tensor>(*outputs));
}

Result<double> TrialRuns::time_ratio(const Model& candidate, const Model& than) {
  const auto faster = load(candidate, candidate_);
  if (!faster) return pass_on(faster.error());
  const auto slower = load(than, than_);
  if (!slower) return pass_on(slower.error());
  double logarithms = 0;
  for (const std::int64_t batch : original_.batches) {
    const auto measured = measure_latency(
        **slower, **faster, inputs_of(rows_, batch),
        {.rounds_max = kTrialRoundsMax, .width_target = kTrialWidth, .budget = kTrialBudget}, tools_.now);
    if (!measured) return pass_on(measured.error());
    logarithms += std::log(measured->ratio.ratio);
  }
  return std::exp(logarithms / static_cast<double>(original_.batches.size()));
}

}  // namespace berth::models
