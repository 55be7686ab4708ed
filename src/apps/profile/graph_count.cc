#include "apps/profile/graph_count.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "base/core/rng.h"
#include "models/count/content_sized.h"
#include "models/count/one_row.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/profiling/random_rows.h"

namespace berth::profiler {
namespace {

bool is_whole(const models::ValueShape& shape) {
  return shape.dims && std::ranges::find(*shape.dims, -1) == shape.dims->end();
}

/// Adds the sizes that a run has, where inference does not know them (behind operators that it has no rule for), but
/// they are the same for all rows. A value that cannot be observed stays as it is.
void complete(ModelProbe& probe, const models::Model& one, const models::RowSet& rows, models::ValueShapes& shapes) {
  const std::set<std::string> by_content = models::sized_by_content(one.graph);
  models::ObserveOptions options;
  for (const auto& [name, shape] : shapes) {
    const bool is_tensor = shape.type != models::ElementType::kUndefined;
    if (is_tensor && !is_whole(shape) && !by_content.contains(name)) options.values.push_back(name);
  }
  if (options.values.empty()) return;
  const models::RowSet first = models::select_rows(rows, std::array<std::size_t, 1>{0});
  models::ValueShapes seen;
  const auto observed =
      models::observe(probe, one, first, options, [&](std::size_t, std::span<const Tensor> values) -> Result<void> {
        for (const Tensor& value : values) seen[value.name].dims = value.shape;
        return {};
      });
  if (!observed) return;
  for (auto& [name, shape] : seen) shapes[name].dims = std::move(shape.dims);
}

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
  auto shapes = models::shapes_seen(probe, one, *random);
  if (shapes) complete(probe, one, *random, *shapes);
  return shapes;
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
