/// A packing with its proof as JSON: the keys of docs/reference/packing.md, in their order.
#pragma once

#include "base/json/writer.h"
#include "domain/values/packing.h"
#include "planner/packing/pack.h"

namespace berth::packing {

/// Whether slices name the model of their GPU: offers have prices, or there are several.
[[nodiscard]] bool names_gpu_models(const PackingProblem& problem);

/// Adds the members from `gpus` to `nodes`, which plan_file.h reads again, to an open object. Rates are written
/// exactly; absent values are null; new keys are appended. The same packing gives the same bytes.
void put_packing(json::Writer& json, const PackingProblem& problem, const packing::PackResult& result);

}  // namespace berth::packing
