#include "apps/optimize/workbench.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "apps/optimize/unnamed_file.h"
#include "models/onnx/write_model.h"

namespace berth::optimizer {
namespace {

Instant steady_instant() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

Result<std::vector<ModelFootprint>> measure_footprints(ModelProbe& probe, std::string_view model,
                                                       std::span<const Tensor> inputs, int processes) {
  const auto file = UnnamedFile::write(model);
  if (!file) return pass_on(file.error());
  std::vector<ModelFootprint> footprints;
  for (int process = 0; process < processes; ++process) {
    const auto footprint = probe.footprint(file->path(), inputs);
    if (!footprint) return pass_on(footprint.error());
    footprints.push_back(*footprint);
  }
  return footprints;
}

/// What the engine says of the model's inputs.
Result<std::vector<TensorSignature>> inputs_of_model(ModelProbe& probe, const models::Model& model,
                                                     const std::string& path) {
  const auto bytes = models::write_model(model);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  const auto loaded = probe.load(*bytes, EngineOptimisation::kNone);
  if (!loaded) return fail(loaded.error().code, fmt::format("{}: {}", path, loaded.error().message));
  const auto inputs = (*loaded)->inputs();
  return std::vector<TensorSignature>(inputs.begin(), inputs.end());
}

}  // namespace

models::OptimizeTools Workbench::tools(const cli::OptimizeHooks& hooks) const {
  ModelProbe& probe = *engine.probe;
  return {.probe = probe,
          .now = steady_instant,
          .should_stop = hooks.should_stop,
          .footprints = [&probe](std::string_view bytes, std::span<const Tensor> inputs,
                                 int processes) { return measure_footprints(probe, bytes, inputs, processes); },
          .report = hooks.report};
}

Result<Workbench> open_workbench(const FileTree& tree, const WorkbenchTerms& terms, const cli::OptimizeHooks& hooks) {
  Workbench bench;
  auto engine = find_probe({.library = terms.engine, .cuda_index = terms.cuda_index, .is_stopped = hooks.should_stop});
  if (!engine) return pass_on(engine.error());
  bench.engine = *std::move(engine);
  hooks.report("reading the model");
  auto model = read_model_source(tree, terms.model);
  if (!model) return pass_on(model.error());
  bench.model = *std::move(model);
  const auto inputs = inputs_of_model(*bench.engine.probe, bench.model.model, terms.model);
  if (!inputs) return pass_on(inputs.error());
  hooks.report("reading the rows");
  auto rows = read_row_sources(tree, terms.rows, *inputs, terms.seed);
  if (!rows) return pass_on(rows.error());
  bench.rows = *std::move(rows);
  return bench;
}

}  // namespace berth::optimizer
