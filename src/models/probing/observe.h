/// Asks the engine for what a model computes on the way.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"
#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// What the engine's inference says of all values of the main graph: it loads the model, without optimisations, with
/// each value as an output. Errors: those of loading the model.
[[nodiscard]] Result<ValueShapes> value_shapes(ModelProbe& probe, const Model& model);

/// Computes the outputs of a model without inputs. Errors: those of loading and running it; an output of a type that
/// tensors do not have.
[[nodiscard]] Result<std::vector<ConstantPtr>> evaluate(ModelProbe& probe, const Model& model);

/// Given the values named `values` of the main graph, in that order, for each batch of `rows`; an error ends it.
using Visit = std::function<Result<void>(std::size_t row_first, std::span<const Tensor> values)>;

struct ObserveOptions {
  std::vector<std::string> values;
  std::size_t batch_rows = 8;
  /// Of the values of one run: where they would take more, the rows are run several times, for some of the values each.
  std::size_t bytes_max = std::size_t{256} << 20;
};

/// Runs all `rows` through the model and shows the values to `visit`; memory does not grow with the number of rows.
[[nodiscard]] Result<void> observe(ModelProbe& probe, const Model& model, const RowSet& rows,
                                   const ObserveOptions& options, const Visit& visit);

}  // namespace berth::models
