/// Writes a plan and ranges into a model.
#pragma once

#include <map>
#include <string>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/int8/int8_plan.h"
#include "models/int8/quantize_weights.h"
#include "models/ranges/quantization.h"

namespace berth::models {

struct Int8Settings {
  QuantizedType activations = {};  ///< not symmetric: else a Relu is not absorbed
  int weight_bits = 8;             ///< 7 or 8
  WeightScale weight_scale = WeightScale::kLargest;

  friend bool operator==(const Int8Settings&, const Int8Settings&) = default;
};

/// By Int8Plan::range_values.
using RangesByValue = std::map<std::string, Range, std::less<>>;

/// Inputs, outputs and values that are left keep their names: a rounded value has the name of the value that it was
/// made from, where it replaces that. Each is a QuantizeLinear and a DequantizeLinear, which engines join with the
/// nodes around them; so are weights (per channel, symmetric, signed) and biases (32 bits, scale = input's *
/// weights').
/// Errors: version of the operators below 13, which knows no scales per channel; a plan without heavy nodes. Requires:
/// the plan of this graph; a range for each of its range_values.
[[nodiscard]] Result<Model> quantize(const Model& model, const Int8Plan& plan, const RangesByValue& ranges,
                                     const Int8Settings& settings);

}  // namespace berth::models
