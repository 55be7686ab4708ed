#include "models/int8/detail/layer_errors.h"

#include <cmath>
#include <cstddef>
#include <limits>

#include "base/core/ensure.h"
#include "models/graph/graph_index.h"
#include "models/int8/detail/heavy_node.h"
#include "models/ranges/range_rules.h"

namespace berth::models {
namespace {

double decibels(double energy, double error) {
  return error == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(energy / error);
}

double weight_sqnr_db(const HeavyNode& heavy, const Int8Settings& settings, float input_scale) {
  const QuantizedWeights quantized = quantize_weights(*heavy.weights,
                                                      {.channel_axis = heavy.channel_axis,
                                                       .bits = settings.weight_bits,
                                                       .scale = settings.weight_scale,
                                                       .factor = heavy.weight_factor},
                                                      heavy.bias.value_or(std::vector<float>{}), input_scale);
  std::size_t inner = 1;
  if (heavy.channel_axis) {
    for (std::size_t i = *heavy.channel_axis + 1; i < heavy.weights->dims.size(); ++i) {
      inner *= static_cast<std::size_t>(heavy.weights->dims[i]);
    }
  }
  const std::vector<float> weights = to_floats(*heavy.weights);
  double energy = 0;
  double error = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = static_cast<double>(weights[i]) * heavy.weight_factor;
    const std::size_t channel = heavy.channel_axis ? i / inner % quantized.scales.size() : 0;
    const double difference = weight - static_cast<double>(quantized.values[i]) * quantized.scales[channel];
    energy += weight * weight;
    error += difference * difference;
  }
  return decibels(energy, error);
}

}  // namespace

std::vector<LayerError> layer_errors(const Graph& graph, const Int8Plan& plan, const StatisticsByValue& statistics,
                                     const RangesByValue& ranges, const Int8Settings& settings) {
  const GraphIndex index(graph);
  std::vector<LayerError> layers;
  for (const std::size_t node_index : plan.heavy) {
    const Node& node = graph.nodes[node_index];
    const Result<HeavyNode> heavy = heavy_node(graph, index, node);
    ENSURE(heavy);
    const std::string& value = plan.values.at(node.inputs.front()).range_value;
    const Range& range = ranges.at(value);
    const RangeStatistics& seen = statistics.at(value);
    const float input_scale = quantization_of(range, settings.activations).scale;
    layers.push_back({.output = node.outputs.front(),
                      .op = node.op,
                      .input_sqnr_db = decibels(seen.energy(), squared_error(seen, range, settings.activations)),
                      .weight_sqnr_db = weight_sqnr_db(*heavy, settings, input_scale)});
  }
  return layers;
}

}  // namespace berth::models
