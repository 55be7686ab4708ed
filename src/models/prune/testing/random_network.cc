#include "models/prune/testing/random_network.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace berth::testing {
namespace {

using models::AttributeValue;
using models::Dims;
using models::Graph;
using models::Node;

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// A value with channels in dimension 1, `size` high and wide.
struct Picture {
  std::string name;
  std::int64_t channels;
  std::int64_t size;
};

class RandomNetwork {
 public:
  RandomNetwork(Rng rng, const RandomNetworkOptions& options) : rng_(rng), options_(options) {}

  models::Model make() {
    Picture now = conv({"x", 3, 12}, any_channels(), false);
    const std::uint64_t layers = 2 + rng_.below(4);
    for (std::uint64_t i = 0; i < layers; ++i) now = layer(now);
    finish(head(now));
    models::Model model{.ir_version = 8, .opsets = {{"", options_.opset}}};
    graph_.name = "network";
    graph_.inputs = {info("x", {3, 12, 12})};
    graph_.outputs = {info("y", {5})};
    model.graph = std::move(graph_);
    return model;
  }

 private:
  static models::ValueInfo info(std::string name, const Ints& sizes) {
    std::vector<models::Dimension> shape = {{.symbol = "N"}};
    for (const std::int64_t size : sizes) shape.push_back({.size = size});
    return {.name = std::move(name), .type = models::ElementType::kFloat, .shape = std::move(shape)};
  }

  bool chance(double share) { return rng_.unit() < share; }
  std::int64_t any_channels() { return 16 + static_cast<std::int64_t>(rng_.below(4)) * 8; }
  std::string fresh(std::string_view stem) { return fmt::format("{}{}", stem, ++names_); }

  /// Uniform around `middle`.
  std::string weights(Dims dims, double spread, double middle = 0) {
    std::vector<float> values(static_cast<std::size_t>(models::count_of(dims)));
    for (float& value : values) value = static_cast<float>(middle + spread * (2 * rng_.unit() - 1));
    const std::string name = fresh("w");
    if (chance(0.1)) {
      const std::string made = fresh("c");
      graph_.nodes.push_back(
          {.op = "Constant", .outputs = {made}, .attributes = {{"value", models::floats(dims, values)}}});
      return made;
    }
    graph_.initializers.emplace(name, models::floats(std::move(dims), values));
    return name;
  }

  std::string numbers(const Ints& values) {
    const std::string name = fresh("i");
    graph_.initializers.emplace(name, models::int64s({static_cast<std::int64_t>(values.size())}, values));
    return name;
  }

  std::string add(std::string op, std::vector<std::string> inputs, Attributes attributes = {}) {
    const std::string output = fresh("v");
    graph_.nodes.push_back({.name = chance(0.5) ? fresh("n") : "",
                            .op = std::move(op),
                            .inputs = std::move(inputs),
                            .outputs = {output},
                            .attributes = std::move(attributes)});
    return output;
  }

  Picture describe(Picture picture) {
    if (chance(0.3)) graph_.values.push_back(info(picture.name, {picture.channels, picture.size, picture.size}));
    return picture;
  }

  /// A Conv, often with BatchNormalization, and an activation function. Keeps the size, if it is to.
  Picture conv(const Picture& from, std::int64_t channels, bool keeps_size) {
    const bool is_wide = from.size > 4 && chance(0.6) && (options_.has_padding || !keeps_size);
    const std::int64_t kernel = is_wide ? 3 : 1;
    std::int64_t size = from.size;
    Attributes attributes;
    const std::int64_t stride = keeps_size || from.size < 5 || chance(0.7) ? 1 : 2;
    if (is_wide && options_.has_padding && chance(0.3)) {
      attributes.emplace("auto_pad", std::string(chance(0.5) ? "SAME_UPPER" : "SAME_LOWER"));
      size = (size + stride - 1) / stride;
    } else {
      const std::int64_t pad = is_wide && options_.has_padding && (keeps_size || chance(0.7)) ? 1 : 0;
      if (pad > 0) attributes.emplace("pads", Ints{pad, pad, pad, pad});
      size = (size + 2 * pad - kernel) / stride + 1;
    }
    if (stride > 1) attributes.emplace("strides", Ints{stride, stride});
    const double spread = 1.7 / std::sqrt(static_cast<double>(from.channels * kernel * kernel));
    std::vector<std::string> inputs = {from.name, weights({channels, from.channels, kernel, kernel}, spread)};
    if (chance(0.6)) inputs.push_back(weights({channels}, 0.3));
    Picture to{add("Conv", inputs, attributes), channels, size};
    if (chance(0.5)) to = normalise(to, "BatchNormalization");
    return activate(describe(to));
  }

  Picture normalise(const Picture& from, const std::string& op) {
    std::vector<std::string> inputs = {from.name, weights({from.channels}, 0.4, 1), weights({from.channels}, 0.3)};
    if (op == "BatchNormalization") {
      inputs.push_back(weights({from.channels}, 0.3));
      inputs.push_back(weights({from.channels}, 0.4, 1));
    }
    return {add(op, inputs), from.channels, from.size};
  }

  Picture activate(const Picture& from) {
    static constexpr std::array<const char*, 9> kOps = {"Relu", "Relu",     "Sigmoid",  "Tanh",       "LeakyRelu",
                                                        "Elu",  "Softplus", "Identity", "HardSigmoid"};
    const std::uint64_t kind = rng_.below(kOps.size() + 2);
    Picture to = from;
    if (kind < kOps.size()) {
      to.name = add(kOps[kind], {from.name});
    } else if (kind == kOps.size()) {
      to.name = add("PRelu", {from.name, weights({from.channels, 1, 1}, 0.2, 0.2)});
    } else {
      to.name = add("Clip", {from.name, weights({}, 0.1, -0.5), weights({}, 0.1, 1)});
    }
    return describe(to);
  }

  Picture layer(const Picture& from) {
    switch (rng_.below(10)) {
      case 0:
        return residual(from);
      case 1:
        return residual(from);
      case 2:
        return depthwise(from);
      case 3:
        return squeeze_and_excite(from);
      case 4:
        return pool(from);
      case 5:
        return scaled(from);
      case 6:
        return reshaped(from);
      default:
        return conv(from, any_channels(), false);
    }
  }

  Picture residual(const Picture& from) {
    const Picture inner = conv(from, any_channels(), true);
    const Picture back = conv(inner, from.channels, true);
    return activate({add(chance(0.8) ? "Add" : "Sub", {from.name, back.name}), from.channels, from.size});
  }

  Picture depthwise(const Picture& from) {
    const std::int64_t each = chance(0.7) ? 1 : 2;
    const bool is_padded = options_.has_padding;
    if (from.size < 4 && !is_padded) return scaled(from);
    Attributes attributes{{"group", from.channels}};
    if (is_padded) attributes.emplace("pads", Ints{1, 1, 1, 1});
    std::vector<std::string> inputs = {from.name, weights({from.channels * each, 1, 3, 3}, 0.5)};
    if (chance(0.5)) inputs.push_back(weights({from.channels * each}, 0.3));
    return activate({add("Conv", inputs, attributes), from.channels * each, is_padded ? from.size : from.size - 2});
  }

  /// A weight between 0 and 1 for each channel, computed from the means of all.
  Picture squeeze_and_excite(const Picture& from) {
    Picture gate{add("GlobalAveragePool", {from.name}), from.channels, 1};
    gate = conv(gate, 16, true);
    const std::string wide =
        add("Conv", {gate.name, weights({from.channels, 16, 1, 1}, 0.4), weights({from.channels}, 0.3)});
    const std::string share = add("Sigmoid", {wide});
    return {add("Mul", {from.name, share}), from.channels, from.size};
  }

  Picture pool(const Picture& from) {
    if (from.size < 4) return scaled(from);
    Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
    return describe(
        {add(chance(0.5) ? "MaxPool" : "AveragePool", {from.name}, attributes), from.channels, from.size / 2});
  }

  /// Constants for each channel, or for all.
  Picture scaled(const Picture& from) {
    const bool is_each = chance(0.7);
    const Dims dims = is_each ? (chance(0.5) ? Dims{from.channels, 1, 1} : Dims{1, from.channels, 1, 1}) : Dims{1};
    const std::string factor = weights(dims, 0.4, 1);
    const std::string op = chance(0.6) ? "Mul" : chance(0.5) ? "Add" : "Max";
    const std::vector<std::string> inputs =
        chance(0.5) ? std::vector<std::string>{from.name, factor} : std::vector<std::string>{factor, from.name};
    return {add(op, inputs), from.channels, from.size};
  }

  /// To other shapes and back, or borders that are cut off or repeated.
  Picture reshaped(const Picture& from) {
    const std::int64_t size = from.size;
    switch (rng_.below(5)) {
      case 0: {
        const std::string flat = add("Reshape", {from.name, numbers({0, from.channels, size * size})});
        const std::string back = add("Reshape", {flat, numbers({-1, from.channels, size, size})});
        return {back, from.channels, size};
      }
      case 1: {
        const std::string last = add("Transpose", {from.name}, {{"perm", Ints{0, 2, 3, 1}}});
        const std::string scaled = add("Mul", {last, weights({from.channels}, 0.4, 1)});
        return {add("Transpose", {scaled}, {{"perm", Ints{0, 3, 1, 2}}}), from.channels, size};
      }
      case 2: {
        const std::string mode = options_.has_padding ? "constant" : "edge";
        const std::string wide = add("Pad", {from.name, numbers({0, 0, 1, 0, 0, 0, 0, 1})}, {{"mode", mode}});
        return {wide, from.channels, size + 1};
      }
      case 3: {
        const std::string part = add("Slice", {from.name, numbers({0, 0}), numbers({size, size}), numbers({2, -1})});
        return {part, from.channels, size};
      }
      default: {
        graph_.initializers.emplace("none", models::floats({0}, {}));
        if (size > 6) return from;
        const std::string scales = fresh("s");
        graph_.initializers.emplace(scales, models::floats({4}, {1, 1, 2, 2}));
        return {add("Resize", {from.name, "", scales}, {{"mode", std::string("nearest")}}), from.channels, size * 2};
      }
    }
  }

  /// Rows, and how many columns they have.
  std::pair<std::string, std::int64_t> head(const Picture& from) {
    const std::int64_t all = from.channels * from.size * from.size;
    switch (rng_.below(6)) {
      case 0:
        return {add("Flatten", {from.name}), all};
      case 1:
        return {add("Reshape", {from.name, numbers({-1, all})}), all};
      case 2:
        return {computed_reshape(from), all};
      case 3: {
        const std::string last = add("Transpose", {from.name}, {{"perm", Ints{0, 2, 3, 1}}});
        return {add("Flatten", {last}), all};
      }
      case 4:
        return {add("Flatten", {add("GlobalAveragePool", {from.name})}), from.channels};
      default:
        if (options_.opset >= 18) {
          return {add("ReduceMean", {from.name, numbers({2, -1})}, {{"keepdims", std::int64_t{0}}}), from.channels};
        }
        return {add("ReduceMean", {from.name}, {{"axes", Ints{2, -1}}, {"keepdims", std::int64_t{0}}}), from.channels};
    }
  }

  /// As exporters write `x.view(x.size(0), -1)`.
  std::string computed_reshape(const Picture& from) {
    const std::string shape = add("Shape", {from.name});
    const std::string rows = add("Gather", {shape, numbers({0})}, {{"axis", std::int64_t{0}}});
    const std::int64_t rest = chance(0.5) ? -1 : from.channels * from.size * from.size;
    const std::string wanted = add("Concat", {rows, numbers({rest})}, {{"axis", std::int64_t{0}}});
    return add("Reshape", {from.name, wanted});
  }

  /// Hidden layers, and the output.
  void finish(std::pair<std::string, std::int64_t> rows) {
    const std::uint64_t layers = rng_.below(3);
    for (std::uint64_t i = 0; i < layers; ++i) {
      const std::int64_t columns = any_channels();
      const std::string hidden = chance(0.5) ? gemm(rows, columns) : mat_mul(rows, columns);
      rows = {add(chance(0.5) ? "Relu" : "Tanh", {hidden}), columns};
    }
    (void)(chance(0.5) ? gemm(rows, 5) : mat_mul(rows, 5));
    graph_.nodes.back().outputs = {"y"};
  }

  std::string gemm(const std::pair<std::string, std::int64_t>& rows, std::int64_t columns) {
    const double spread = 1.7 / std::sqrt(static_cast<double>(rows.second));
    const bool is_turned = chance(0.5);
    std::vector<std::string> inputs = {
        rows.first, weights(is_turned ? Dims{columns, rows.second} : Dims{rows.second, columns}, spread)};
    if (chance(0.7))
      inputs.push_back(weights(chance(0.6) ? Dims{columns} : chance(0.5) ? Dims{1, columns} : Dims{1}, 0.5));
    Attributes attributes{{"transB", std::int64_t{is_turned ? 1 : 0}}};
    if (chance(0.3)) attributes.emplace("alpha", 0.75F);
    if (chance(0.3)) attributes.emplace("beta", 1.5F);
    return add("Gemm", inputs, attributes);
  }

  std::string mat_mul(const std::pair<std::string, std::int64_t>& rows, std::int64_t columns) {
    const double spread = 1.7 / std::sqrt(static_cast<double>(rows.second));
    const std::string product = add("MatMul", {rows.first, weights({rows.second, columns}, spread)});
    if (chance(0.4)) return product;
    const std::string bias = weights({columns}, 0.3);
    return chance(0.5) ? add("Add", {product, bias}) : add("Add", {bias, product});
  }

  Rng rng_;
  RandomNetworkOptions options_;
  Graph graph_ = {};
  int names_ = 0;
};

}  // namespace

models::Model random_network(Rng rng, const RandomNetworkOptions& options) {
  return RandomNetwork(rng, options).make();
}

}  // namespace berth::testing
