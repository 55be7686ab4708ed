/// Counts the graph of a model, with shapes that the engine infers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/optimize/model_source.h"
#include "base/core/result.h"
#include "domain/ports/model_probe.h"
#include "domain/values/tensor.h"
#include "models/count/count_model.h"

namespace berth::profiler {

/// For one row. Nothing of it is an error: what cannot be counted is absent. Values whose rank the engine does not
/// infer may be scalars: a run of one random row shows them, if the model runs with one.
[[nodiscard]] models::ModelCount count_graph(ModelProbe& probe, const models::Model& model);

}  // namespace berth::profiler
