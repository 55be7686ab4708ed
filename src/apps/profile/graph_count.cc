#include "apps/profile/graph_count.h"

#include "base/core/rng.h"
#include "models/count/one_row.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/profiling/random_rows.h"

namespace berth::profiler {
namespace {

Result<models::ValueShapes> shapes_with_a_run(ModelProbe& probe, const models::Model& one, std::int64_t rows) {
  const auto bytes = models::write_model(one);
  if (!bytes) return pass_on(bytes.error());
  std::vector<TensorSignature> inputs;
  {
    const auto loaded = probe.load(*bytes, EngineOptimisation::kNone);
    if (!loaded) return pass_on(loaded.error());
    inputs.assign((*loaded)->inputs().begin(), (*loaded)->inputs().end());
  }
  const auto random = models::random_rows(inputs, rows, Rng(1));
  if (!random) return pass_on(random.error());
  return models::shapes_seen(probe, one, *random);
}

}  // namespace

models::ModelCount count_graph(ModelProbe& probe, const models::Model& model) {
  const std::int64_t fixed = models::fixed_rows_of(model);
  const std::int64_t rows = fixed > 0 ? fixed : 1;
  const models::Model one = models::for_one_row(model);
  auto shapes = shapes_with_a_run(probe, one, rows);
  if (!shapes) shapes = models::value_shapes(probe, one);
  return models::per_row(models::count_model(one, shapes.value_or(models::ValueShapes())), rows);
}

}  // namespace berth::profiler
