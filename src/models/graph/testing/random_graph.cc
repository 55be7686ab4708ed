#include "models/graph/testing/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "models/graph/graph_edit.h"
#include "models/graph/tensors.h"

namespace berth::testing {
namespace {

using models::ConstantPtr;
using models::Dims;
using models::Graph;
using models::Node;

constexpr std::int64_t kFixedBatch = 2;

float normal(Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.unit()));
  return static_cast<float>(radius * std::cos(2 * std::numbers::pi * rng.unit()));
}

/// A float value of the graph; `dims` without the batch.
struct LiveValue {
  std::string name;
  Dims dims;
  bool is_channel_last = false;  ///< of an image

  [[nodiscard]] bool is_rows() const { return dims.size() == 1; }
  [[nodiscard]] bool is_image() const { return dims.size() == 3 && !is_channel_last; }
};

class RandomModel {
 public:
  RandomModel(Rng rng, const RandomModelOptions& options) : rng_(rng), options_(options) {}

  models::Model make() {
    add_inputs();
    const std::size_t steps = 1 + rng_.below(options_.step_count_max);
    for (std::size_t i = 0; i < steps; ++i) add_step();
    if (one_in(3)) add_to_rows(pick());
    if (one_in(4)) (void)add_node("Exp", {pick().name}, {"dead"});
    add_outputs();
    return {.ir_version = options_.opset > 18 ? 10 : 8, .opsets = {{"", options_.opset}}, .graph = std::move(graph_)};
  }

 private:
  bool one_in(std::uint64_t count) { return rng_.below(count) == 0; }
  std::int64_t any_of(std::initializer_list<std::int64_t> values) { return values.begin()[rng_.below(values.size())]; }
  std::string new_name(std::string_view stem) { return fmt::format("{}{}", stem, name_count_++); }

  void add_inputs() {
    const Dims dims = one_in(3) ? Dims{any_of({4, 10, 16})} : Dims{any_of({1, 3, 4, 8}), any_of({6, 8, 9}), 8};
    const std::size_t count = one_in(4) ? 2 : 1;
    for (std::size_t i = 0; i < count; ++i) {
      values_.push_back({.name = i == 0 ? "x" : "x2", .dims = dims});
      graph_.inputs.push_back(info_of(values_.back()));
    }
  }

  models::ValueInfo info_of(const LiveValue& value) const {
    std::vector<models::Dimension> shape;
    shape.push_back(options_.has_any_batch ? models::Dimension{.symbol = "N"} : models::Dimension{.size = kFixedBatch});
    for (const std::int64_t dim : value.dims) shape.push_back({.size = dim});
    return {.name = value.name, .type = models::ElementType::kFloat, .shape = std::move(shape)};
  }

  /// The last value, its predecessors, or some other one.
  const LiveValue& pick() {
    if (one_in(8)) return values_[rng_.below(values_.size())];
    return values_[values_.size() - 1 - (values_.size() > 1 && one_in(6) ? 1 : 0)];
  }

  /// Adds the node with a fresh output, or those given; the name of the first output.
  std::string add_node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs = {},
                       std::map<std::string, models::AttributeValue, std::less<>> attributes = {}) {
    if (outputs.empty()) outputs.push_back(new_name("v"));
    std::string first = outputs.front();
    graph_.nodes.push_back({.name = one_in(5) ? "" : new_name(op + "_"),
                            .op = std::move(op),
                            .inputs = std::move(inputs),
                            .outputs = std::move(outputs),
                            .attributes = std::move(attributes)});
    return first;
  }

  void add_value(std::string name, Dims dims, bool is_channel_last = false) {
    values_.push_back({.name = std::move(name), .dims = std::move(dims), .is_channel_last = is_channel_last});
  }

  /// An initialiser, or the output of a node Constant, or an initialiser that stands there already.
  std::string constant(const ConstantPtr& value) {
    if (one_in(8)) return add_node("Constant", {}, {}, {{"value", value}});
    std::string name = new_name("w");
    graph_.initializers.emplace(name, value);
    return name;
  }

  std::string weights(Dims dims, double scale, double mean = 0) {
    for (const auto& [name, known] : graph_.initializers) {
      if (known->dims == dims && known->type == models::ElementType::kFloat && mean == 0 && one_in(6)) {
        return one_in(2) ? name : constant(known);  // shared, or twice
      }
    }
    std::vector<float> elements(static_cast<std::size_t>(models::count_of(dims)));
    for (float& element : elements) element = static_cast<float>(mean + scale * normal(rng_));
    return constant(models::floats(std::move(dims), elements));
  }

  std::string positive(std::int64_t count, double least) {
    std::vector<float> elements(static_cast<std::size_t>(count));
    for (float& element : elements) element = static_cast<float>(least + rng_.unit());
    return constant(models::floats({count}, elements));
  }

  void add_step() {
    const LiveValue value = pick();
    if (rng_.below(5) < 2) return add_elementwise(value);
    if (value.is_rows()) return add_rows_step(value);
    if (value.is_image()) return add_image_step(value);
    add_value(add_node("Transpose", {value.name}, {}, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}}),
              {value.dims[2], value.dims[0], value.dims[1]});
  }

  void add_elementwise(const LiveValue& value) {
    std::string made;
    switch (rng_.below(8)) {
      case 0:
      case 1:
        made = add_node("Relu", {value.name});
        break;
      case 2:
        made = add_clip(value.name);
        break;
      case 3:
        made = add_node("Identity", {value.name});
        break;
      case 4:
        made = add_node("Dropout", one_in(2) ? std::vector{value.name}
                                             : std::vector{value.name, constant(models::float_scalar(0.25F))});
        break;
      case 5:
        made = add_residual(value);
        break;
      case 6:
        made = add_node("Mul", either_order(value.name, broadcast_weights(value, 1)));
        break;
      default:
        made = add_node("Add", either_order(value.name, broadcast_weights(value, 0)));
        break;
    }
    add_value(made, value.dims, value.is_channel_last);
  }

  std::vector<std::string> either_order(std::string a, std::string b) {
    if (one_in(3)) std::swap(a, b);
    return {std::move(a), std::move(b)};
  }

  std::string add_clip(const std::string& value) {
    const std::string low = one_in(4) ? "" : constant(models::float_scalar(one_in(2) ? 0.0F : -1.0F));
    std::vector<std::string> inputs{value, low};
    if (!one_in(4)) inputs.push_back(constant(models::float_scalar(6)));
    return add_node("Clip", std::move(inputs));
  }

  /// The sum with another value of that shape.
  std::string add_residual(const LiveValue& value) {
    std::vector<std::string> equals;
    for (const LiveValue& other : values_) {
      if (other.dims == value.dims && other.is_channel_last == value.is_channel_last) equals.push_back(other.name);
    }
    return add_node("Add", either_order(value.name, equals[rng_.below(equals.size())]));
  }

  /// Of a shape that the value's is broadcast with, and does not change it.
  std::string broadcast_weights(const LiveValue& value, double mean) {
    if (one_in(3)) return weights(one_in(2) ? Dims{} : Dims{1}, 0.3, mean);
    if (value.is_rows()) return weights(one_in(3) ? Dims{1, value.dims[0]} : value.dims, 0.3, mean);
    if (value.is_channel_last) return weights({value.dims[2]}, 0.3, mean);
    if (one_in(3)) return weights({1, value.dims[0], 1, 1}, 0.3, mean);
    return weights({value.dims[0], 1, 1}, 0.3, mean);
  }

  void add_rows_step(const LiveValue& value) {
    switch (rng_.below(6)) {
      case 0:
      case 1:
        return add_gemm(value);
      case 2:
      case 3:
        return add_matmul(value);
      case 4:
        return add_concat(value);
      default:
        return add_rows_chain(value);
    }
  }

  void add_gemm(const LiveValue& value) {
    const std::int64_t from = value.dims[0];
    const std::int64_t to = any_of({3, 8, 10, 16, 24});
    const bool is_turned = one_in(2);
    const double scale = 1 / std::sqrt(static_cast<double>(from));
    std::vector<std::string> inputs{value.name, weights(is_turned ? Dims{to, from} : Dims{from, to}, scale)};
    if (!one_in(4)) inputs.push_back(weights(one_in(4) ? Dims{1, to} : Dims{to}, 0.2));
    std::map<std::string, models::AttributeValue, std::less<>> attributes;
    if (is_turned) attributes.emplace("transB", std::int64_t{1});
    if (one_in(4)) attributes.emplace("alpha", 0.5F);
    if (one_in(4)) attributes.emplace("beta", 2.0F);
    add_value(add_node("Gemm", std::move(inputs), {}, std::move(attributes)), {to});
  }

  void add_matmul(const LiveValue& value) {
    const std::int64_t to = any_of({3, 8, 10, 16, 24});
    std::string made = add_node(
        "MatMul", {value.name, weights({value.dims[0], to}, 1 / std::sqrt(static_cast<double>(value.dims[0])))});
    if (!one_in(3)) made = add_node("Add", either_order(made, weights({to}, 0.2)));
    add_value(made, {to});
  }

  void add_concat(const LiveValue& value) {
    std::vector<std::string> inputs{value.name};
    Dims dims = value.dims;
    for (const LiveValue& other : values_) {
      const bool fits = other.dims.size() == dims.size() && !other.is_channel_last &&
                        std::equal(dims.begin() + 1, dims.end(), other.dims.begin() + 1);
      if (!fits || dims[0] + other.dims[0] > 64 || inputs.size() > 2) continue;
      inputs.push_back(other.name);
      dims[0] += other.dims[0];
    }
    add_value(add_node("Concat", std::move(inputs), {}, {{"axis", std::int64_t{1}}}), dims);
  }

  /// There and back again.
  void add_rows_chain(const LiveValue& value) {
    if (one_in(2)) {
      const std::vector<std::int64_t> perm{1, 0};
      std::string turned = add_node("Transpose", {value.name}, {}, {{"perm", perm}});
      if (one_in(2)) turned = add_node("Relu", {turned});
      add_value(add_node("Transpose", {turned}, {}, {{"perm", perm}}), value.dims);
      return;
    }
    const std::string first = add_node("Reshape", {value.name, constant(models::int64s({3}, {-1, value.dims[0], 1}))});
    add_value(add_node("Reshape", {first, constant(models::int64s({2}, {-1, value.dims[0]}))}), value.dims);
  }

  void add_image_step(const LiveValue& value) {
    switch (rng_.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return add_conv(value);
      case 4:
        return add_pool(value);
      case 5:
        return add_value(add_normalisation(value.name, value.dims[0]), value.dims);
      case 6:
        return add_concat(value);
      case 7:
        return add_conv_transpose(value);
      case 8:
        return add_to_rows(value);
      default:
        return add_value(add_node("Transpose", {value.name}, {}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}}),
                         {value.dims[1], value.dims[2], value.dims[0]}, true);
    }
  }

  std::string add_normalisation(const std::string& value, std::int64_t channels) {
    std::map<std::string, models::AttributeValue, std::less<>> attributes;
    if (one_in(2)) attributes.emplace("epsilon", 1e-3F);
    const std::string scale = positive(channels, 0.5);
    const std::string bias = weights({channels}, 0.3);
    const std::string mean = weights({channels}, 0.3);
    const std::string variance = positive(channels, 0.5);
    return add_node("BatchNormalization", {value, scale, bias, mean, variance}, {}, std::move(attributes));
  }

  void add_conv(const LiveValue& value) {
    const std::int64_t from = value.dims[0];
    const bool is_depthwise = from > 1 && one_in(4);
    const std::int64_t to = is_depthwise ? from : any_of({4, 8, 12, 16});
    const std::int64_t kernel = any_of({1, 3});
    const std::int64_t stride = value.dims[1] > 4 && one_in(4) ? 2 : 1;
    const std::int64_t pad = kernel / 2;
    const double scale = 1 / std::sqrt(static_cast<double>((is_depthwise ? 1 : from) * kernel * kernel));
    std::vector<std::string> inputs{value.name, weights({to, is_depthwise ? 1 : from, kernel, kernel}, scale)};
    if (one_in(2)) inputs.push_back(weights({to}, 0.2));
    std::map<std::string, models::AttributeValue, std::less<>> attributes{
        {"kernel_shape", std::vector<std::int64_t>{kernel, kernel}}, {"pads", std::vector<std::int64_t>(4, pad)}};
    if (is_depthwise) attributes.emplace("group", from);
    if (stride > 1) attributes.emplace("strides", std::vector<std::int64_t>{stride, stride});
    std::string made = add_node("Conv", std::move(inputs), {}, std::move(attributes));
    if (one_in(2)) made = add_normalisation(made, to);
    if (one_in(2)) made = add_node("Relu", {made});
    add_value(made, {to, (value.dims[1] - 1) / stride + 1, (value.dims[2] - 1) / stride + 1});
  }

  void add_conv_transpose(const LiveValue& value) {
    if (value.dims[1] > 8 || value.dims[2] > 8) return add_pool(value);
    const std::int64_t to = any_of({2, 4, 8});
    const double scale = 1 / std::sqrt(static_cast<double>(value.dims[0]));
    std::vector<std::string> inputs{value.name, weights({value.dims[0], to, 2, 2}, scale)};
    if (one_in(2)) inputs.push_back(weights({to}, 0.2));
    std::string made = add_node("ConvTranspose", std::move(inputs), {}, {{"strides", std::vector<std::int64_t>{2, 2}}});
    if (one_in(2)) made = add_normalisation(made, to);
    add_value(made, {to, value.dims[1] * 2, value.dims[2] * 2});
  }

  void add_pool(const LiveValue& value) {
    if (value.dims[1] < 2 || value.dims[2] < 2) return add_conv(value);
    const std::vector<std::int64_t> twice{2, 2};
    const char* const op = one_in(3) ? "AveragePool" : "MaxPool";
    add_value(add_node(op, {value.name}, {}, {{"kernel_shape", twice}, {"strides", twice}}),
              {value.dims[0], value.dims[1] / 2, value.dims[2] / 2});
  }

  void add_to_rows(const LiveValue& value) {
    if (value.is_rows()) return;
    const std::int64_t columns = models::count_of(value.dims);
    if (value.is_image() && (columns > 200 || one_in(3))) {
      const std::string pooled = add_node("GlobalAveragePool", {value.name});
      return add_value(add_node("Flatten", {pooled}), {value.dims[0]});
    }
    if (one_in(2)) return add_value(add_node("Flatten", {value.name}, {}, {{"axis", std::int64_t{1}}}), {columns});
    if (one_in(2)) {
      return add_value(add_node("Reshape", {value.name, constant(models::int64s({2}, {-1, columns}))}), {columns});
    }
    // As exporters write x.view(x.size(0), -1).
    const std::string shape = add_node("Shape", {value.name});
    const std::string batch =
        add_node("Gather", {shape, constant(models::int64s({1}, {0}))}, {}, {{"axis", std::int64_t{0}}});
    const std::string wanted =
        add_node("Concat", {batch, constant(models::int64s({1}, {-1}))}, {}, {{"axis", std::int64_t{0}}});
    add_value(add_node("Reshape", {value.name, wanted}), {columns});
  }

  void add_outputs() {
    graph_.outputs.push_back(info_of(made_value(values_.back())));
    if (!one_in(4)) return;
    const LiveValue other = made_value(values_[rng_.below(values_.size())]);
    if (other.name != graph_.outputs.front().name) graph_.outputs.push_back(info_of(other));
  }

  /// The value itself, or if it is an input, a copy that a node makes.
  LiveValue made_value(LiveValue value) {
    for (const models::ValueInfo& input : graph_.inputs) {
      if (input.name == value.name) return {.name = add_node("Neg", {value.name}), .dims = value.dims};
    }
    return value;
  }

  Rng rng_;
  RandomModelOptions options_;
  Graph graph_{.name = "random"};
  std::vector<LiveValue> values_;
  std::size_t name_count_ = 0;
};

}  // namespace

models::Model random_model(Rng rng, const RandomModelOptions& options) {
  ENSURE(options.step_count_max >= 1 && options.opset >= 13 && options.opset <= 21);
  models::Model model = RandomModel(rng, options).make();
  ENSURE(models::check_names(model.graph));
  return model;
}

std::vector<Tensor> random_inputs(const models::Model& model, std::int64_t rows, Rng rng) {
  std::vector<Tensor> inputs;
  for (const models::ValueInfo& info : model.graph.inputs) {
    Dims dims;
    for (const models::Dimension& dimension : info.shape.value()) dims.push_back(dimension.size.value_or(rows));
    std::vector<float> elements(static_cast<std::size_t>(models::count_of(dims)));
    for (float& element : elements) element = normal(rng);
    inputs.push_back(models::tensor_of(*models::floats(std::move(dims), elements), info.name).value());
  }
  return inputs;
}

}  // namespace berth::testing
