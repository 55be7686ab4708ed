#include "models/int8/quantize.h"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/core/ensure.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/int8/detail/heavy_node.h"

namespace berth::models {
namespace {

constexpr std::int64_t kOpsetMin = 13;

/// The initialisers that are added, each content once.
class ConstantPool {
 public:
  ConstantPool(Graph& graph, ValueNames& names) : graph_(graph), names_(names) {}

  std::string add(const ConstantPtr& constant, const std::string& wanted_name) {
    const auto key = std::tuple(constant->type, constant->dims, constant->bytes);
    const auto known = added_.find(key);
    if (known != added_.end()) return known->second;
    const std::string name = names_.make(wanted_name);
    graph_.initializers.emplace(name, constant);
    added_.emplace(key, name);
    return name;
  }

 private:
  Graph& graph_;
  ValueNames& names_;
  std::map<std::tuple<ElementType, Dims, std::string>, std::string> added_;
};

Node node_of(const std::string& op, std::vector<std::string> inputs, std::string output) {
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {std::move(output)};
  return node;
}

class Quantizer {
 public:
  Quantizer(const Model& model, const Int8Plan& plan, const RangesByValue& ranges, const Int8Settings& settings)
      : before_(model.graph),
        index_(model.graph),
        plan_(plan),
        ranges_(ranges),
        settings_(settings),
        model_(model),
        names_(model.graph),
        pool_(model_.graph, names_) {}

  Model run() {
    model_.graph.nodes.clear();
    name_values();
    for (const auto& [value, quantized] : plan_.values) {
      if (!index_.maker(value)) round(value);
    }
    for (std::size_t i = 0; i < before_.nodes.size(); ++i) {
      if (!plan_.absorbed.contains(i)) add_node(i);
      for (const std::string& output : before_.nodes[i].outputs) {
        if (plan_.values.contains(output)) round(output);
      }
    }
    remove_dead(model_.graph);
    return std::move(model_);
  }

 private:
  /// The names of a value before and after it is rounded.
  struct RoundedNames {
    std::string unrounded;
    std::string rounded;
  };

  void name_values() {
    for (const auto& [value, quantized] : plan_.values) {
      const bool is_renamed = quantized.replaces && quantized.source == value;
      value_names_[value] = {.unrounded = is_renamed ? names_.make(value + "_exact") : quantized.source,
                             .rounded = quantized.replaces ? value : names_.make(value + "_rounded")};
    }
  }

  [[nodiscard]] Quantization quantization_for(const std::string& value) const {
    const auto range = ranges_.find(plan_.values.at(value).range_value);
    ENSURE(range != ranges_.end());
    return quantization_of(range->second, settings_.activations);
  }

  void round(const std::string& value) {
    const Quantization quantization = quantization_for(value);
    const std::string& base = plan_.values.at(value).range_value;
    const std::string scale = pool_.add(float_scalar(quantization.scale), base + "_scale");
    const std::string zero = pool_.add(zero_point_of(quantization), base + "_zero");
    const RoundedNames& names = value_names_.at(value);
    const std::string integers = names_.make(value + "_int8");
    model_.graph.nodes.push_back(node_of("QuantizeLinear", {names.unrounded, scale, zero}, integers));
    model_.graph.nodes.push_back(node_of("DequantizeLinear", {integers, scale, zero}, names.rounded));
  }

  [[nodiscard]] ConstantPtr zero_point_of(const Quantization& quantization) const {
    if (settings_.activations.is_signed) return int8s({}, {static_cast<std::int8_t>(quantization.zero_point)});
    return uint8s({}, {static_cast<std::uint8_t>(quantization.zero_point)});
  }

  void add_node(std::size_t node_index) {
    Node node = before_.nodes[node_index];
    const bool is_heavy = plan_.heavy.contains(node_index);
    if (is_heavy) {
      use_integer_weights(node);
      node.inputs.front() = value_names_.at(node.inputs.front()).rounded;
    }
    if (plan_.carried.contains(node_index)) {
      for (std::size_t i = 0; i < activation_count(node); ++i) {
        node.inputs[i] = value_names_.at(node.inputs[i]).rounded;
      }
    }
    for (std::string& output : node.outputs) {
      const auto rounded = value_names_.find(output);
      if (rounded != value_names_.end() && plan_.values.at(output).source == output) {
        output = rounded->second.unrounded;
      }
    }
    model_.graph.nodes.push_back(std::move(node));
  }

  void use_integer_weights(Node& node) {
    const Result<HeavyNode> heavy = heavy_node(before_, index_, node);
    ENSURE(heavy);
    const float input_scale = quantization_for(node.inputs.front()).scale;
    const std::vector<float> bias = heavy->bias.value_or(std::vector<float>{});
    const QuantizedWeights weights = quantize_weights(*heavy->weights,
                                                      {.channel_axis = heavy->channel_axis,
                                                       .bits = settings_.weight_bits,
                                                       .scale = settings_.weight_scale,
                                                       .factor = heavy->weight_factor},
                                                      bias, input_scale);
    node.inputs[1] = dequantized_weights(node.inputs[1], *heavy, weights);
    if (heavy->bias) node.inputs[2] = dequantized_bias(node.inputs[2], bias, weights.scales, input_scale);
    if (is_op(node, "Gemm")) {
      node.attributes.erase("alpha");
      node.attributes.erase("beta");
    }
  }

  std::string dequantized_weights(const std::string& name, const HeavyNode& heavy, const QuantizedWeights& weights) {
    const auto count = static_cast<std::int64_t>(weights.scales.size());
    const Dims scale_dims = heavy.channel_axis ? Dims{count} : Dims{};
    const std::vector<std::int8_t> zeros(weights.scales.size(), 0);
    return dequantized_constant({.integers = int8s(heavy.weights->dims, weights.values),
                                 .scales = floats(scale_dims, weights.scales),
                                 .zeros = int8s(scale_dims, zeros),
                                 .axis = heavy.channel_axis},
                                name, "_int8");
  }

  std::string dequantized_bias(const std::string& name, const std::vector<float>& bias,
                               const std::vector<float>& weight_scales, float input_scale) {
    const Dims dims = {static_cast<std::int64_t>(bias.size())};
    const std::vector<std::int32_t> zeros(bias.size(), 0);
    return dequantized_constant({.integers = int32s(dims, quantize_bias(bias, weight_scales, input_scale)),
                                 .scales = floats(dims, bias_scales(weight_scales, input_scale)),
                                 .zeros = int32s(dims, zeros),
                                 .axis = 0},
                                name, "_int32");
  }

  struct IntegerConstant {
    ConstantPtr integers;
    ConstantPtr scales;
    ConstantPtr zeros;  // engines do not join a Gemm without them
    std::optional<std::size_t> axis;
  };

  /// The name of the constant as floats; the same one for the same integers and scales.
  std::string dequantized_constant(const IntegerConstant& constant, const std::string& name,
                                   const std::string& suffix) {
    const std::vector<std::string> inputs = {pool_.add(constant.integers, name + suffix),
                                             pool_.add(constant.scales, name + "_scale"),
                                             pool_.add(constant.zeros, name + "_zero")};
    const auto known = constants_.find({inputs, constant.axis});
    if (known != constants_.end()) return known->second;
    Node node = node_of("DequantizeLinear", inputs, names_.make(name + "_rounded"));
    if (constant.axis) node.attributes.emplace("axis", static_cast<std::int64_t>(*constant.axis));
    constants_.emplace(std::pair(inputs, constant.axis), node.outputs.front());
    model_.graph.nodes.push_back(node);
    return node.outputs.front();
  }

  const Graph& before_;
  GraphIndex index_;
  const Int8Plan& plan_;
  const RangesByValue& ranges_;
  const Int8Settings& settings_;
  Model model_;
  ValueNames names_;
  ConstantPool pool_;
  std::map<std::string, RoundedNames, std::less<>> value_names_;
  std::map<std::pair<std::vector<std::string>, std::optional<std::size_t>>, std::string> constants_;
};

}  // namespace

Result<Model> quantize(const Model& model, const Int8Plan& plan, const RangesByValue& ranges,
                       const Int8Settings& settings) {
  if (model.opset() < kOpsetMin) {
    return invalid(fmt::format("int8 needs version {} of the operators, found {}", kOpsetMin, model.opset()));
  }
  if (plan.heavy.empty()) return invalid("int8: there is no Conv, Gemm or MatMul with constant weights");
  return Quantizer(model, plan, ranges, settings).run();
}

}  // namespace berth::models
