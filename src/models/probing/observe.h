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

/// As value_shapes; where inference does not know how many dimensions a value has (behind operators that it has no rule
/// for), as many as a run of the first row gives, of any size. Errors: also those of running it. Requires: rows.count >
/// 0.
[[nodiscard]] Result<ValueShapes> shapes_seen(ModelProbe& probe, const Model& model, const RowSet& rows);

/// Computes the outputs of a model without inputs. Errors: those of loading and running it; an output of a type that
/// tensors do not have.
[[nodiscard]] Result<std::vector<ConstantPtr>> evaluate(ModelProbe& probe, const Model& model);

/// Given values of the main graph for a batch of rows that begins with `row_first`; an error ends it.
using Visit = std::function<Result<void>(std::size_t row_first, std::span<const Tensor> values)>;

struct ObserveOptions {
  std::vector<std::string> values;  ///< of the main graph, each once
  std::size_t batch_rows = 8;       ///< where the model does not say how many
  /// Of the values of one run: where they would take more, the rows are run several times, for some of the values each.
  std::size_t bytes_max = std::size_t{256} << 20;
};

/// Runs all `rows` through the model, as it is written, and shows each value of each batch to `visit` once: in the
/// order of `options.values`, those of one run together. The last batch is filled up by repeating the last row, where
/// the model has a fixed number of rows. Memory does not grow with the number of rows. Errors: those of loading and
/// running the model; a name that is no value; a value that is no tensor of a known type. Requires: rows.count > 0.
[[nodiscard]] Result<void> observe(ModelProbe& probe, const Model& model, const RowSet& rows,
                                   const ObserveOptions& options, const Visit& visit);

}  // namespace berth::models
