#include "models/generate/resnet.h"

#include <cmath>
#include <string>

#include "base/core/ensure.h"
#include "models/generate/detail/graph_writer.h"

namespace berth::models {
namespace {

using Int64s = std::vector<std::int64_t>;

constexpr std::int64_t kOperators = 17;
constexpr std::int64_t kExpansion = 4;  // of the outer channels of a bottleneck

struct ConvSizes {
  std::int64_t inputs;
  std::int64_t outputs;
  std::int64_t kernel;
  std::int64_t stride = 1;
};

std::string convolve(GraphWriter& graph, const std::string& x, const ConvSizes& sizes) {
  const double fan_in = static_cast<double>(sizes.inputs * sizes.kernel * sizes.kernel);
  const std::string weight =
      graph.drawn({sizes.outputs, sizes.inputs, sizes.kernel, sizes.kernel}, std::sqrt(2 / fan_in));
  const std::int64_t pad = sizes.kernel / 2;
  return graph.add("Conv", {x, weight},
                   {{"kernel_shape", Int64s{sizes.kernel, sizes.kernel}},
                    {"strides", Int64s{sizes.stride, sizes.stride}},
                    {"pads", Int64s{pad, pad, pad, pad}},
                    {"dilations", Int64s{1, 1}},
                    {"group", std::int64_t{1}}});
}

std::string normalize(GraphWriter& graph, const std::string& x, std::int64_t channels) {
  const std::string scale = graph.drawn_between({channels}, 0.5, 1);
  const std::string bias = graph.drawn_between({channels}, -0.1, 0.1);
  const std::string mean = graph.drawn_between({channels}, -0.1, 0.1);
  const std::string variance = graph.drawn_between({channels}, 0.5, 1.5);
  return graph.add("BatchNormalization", {x, scale, bias, mean, variance}, {{"epsilon", 1e-5F}, {"momentum", 0.9F}});
}

std::string convolve_and_normalize(GraphWriter& graph, const std::string& x, const ConvSizes& sizes) {
  return normalize(graph, convolve(graph, x, sizes), sizes.outputs);
}

std::string bottleneck(GraphWriter& graph, const std::string& x, const ConvSizes& sizes, bool has_projection) {
  std::string y = graph.add("Relu", {convolve_and_normalize(graph, x, {sizes.inputs, sizes.outputs, 1})});
  y = graph.add("Relu", {convolve_and_normalize(graph, y, {sizes.outputs, sizes.outputs, 3, sizes.stride})});
  y = convolve_and_normalize(graph, y, {sizes.outputs, kExpansion * sizes.outputs, 1});
  const std::string aside =
      has_projection ? convolve_and_normalize(graph, x, {sizes.inputs, kExpansion * sizes.outputs, 1, sizes.stride})
                     : x;
  return graph.add("Relu", {graph.add("Add", {y, aside})});
}

std::string drawn_matrix(GraphWriter& graph, std::int64_t rows, std::int64_t columns) {
  return graph.drawn({rows, columns}, std::sqrt(1 / static_cast<double>(rows)));
}

std::string size_at(GraphWriter& graph, const std::string& x, std::int64_t axis) {
  const std::string size = graph.add("Gather", {graph.add("Shape", {x}), graph.constant(int64s({}, {axis}))});
  return graph.add("Unsqueeze", {size, graph.constant(int64s({1}, {0}))});
}

/// As exporters write x.view(x.size(0), -1).
std::string flatten(GraphWriter& graph, const std::string& x) {
  const std::string rest = graph.constant(int64s({1}, {-1}));
  return graph.add("Reshape", {x, graph.add("Concat", {size_at(graph, x, 0), rest}, {{"axis", std::int64_t{0}}})});
}

}  // namespace

Model resnet(const ResNetOptions& options, Rng rng) {
  ENSURE(!options.blocks.empty() && options.width > 0 && options.image >= 32 && options.class_count > 0);
  GraphWriter graph(rng);
  std::string x = graph.input("x", ElementType::kFloat, {-1, 3, options.image, options.image});
  x = graph.add("Relu", {convolve_and_normalize(graph, x, {3, options.width, 7, 2})});
  x = graph.add("MaxPool", {x},
                {{"kernel_shape", Int64s{3, 3}}, {"strides", Int64s{2, 2}}, {"pads", Int64s{1, 1, 1, 1}}});
  std::int64_t channels = options.width;
  std::int64_t width = options.width;
  for (std::size_t stage = 0; stage < options.blocks.size(); ++stage) {
    for (std::int64_t block = 0; block < options.blocks[stage]; ++block) {
      const std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      x = bottleneck(graph, x, {.inputs = channels, .outputs = width, .kernel = 3, .stride = stride}, block == 0);
      channels = kExpansion * width;
    }
    width *= 2;
  }
  x = graph.add("Flatten", {graph.add("GlobalAveragePool", {x})}, {{"axis", std::int64_t{1}}});
  const std::string weight = graph.drawn({options.class_count, channels}, std::sqrt(1 / static_cast<double>(channels)));
  graph.add("Gemm", {x, weight, graph.drawn({options.class_count}, 0.1)}, {{"transB", std::int64_t{1}}}, "y");
  graph.output("y", {-1, options.class_count});
  return graph.finish("resnet", kOperators);
}

Model small_cnn(const SmallCnnOptions& options, Rng rng) {
  ENSURE(options.image >= 4 && options.channels > 0 && options.class_count > 0);
  GraphWriter graph(rng);
  const std::int64_t channels = options.channels;
  std::string x = graph.input("x", ElementType::kFloat, {-1, 1, options.image, options.image});
  x = convolve(graph, x, {1, channels, 3});
  x = graph.add("Add", {x, graph.drawn({1, channels, 1, 1}, 0.1)});
  x = graph.add("Relu", {normalize(graph, x, channels)});
  x = graph.add("Relu", {convolve_and_normalize(graph, x, {channels, channels, 3})});
  x = graph.add("MaxPool", {x}, {{"kernel_shape", Int64s{2, 2}}, {"strides", Int64s{2, 2}}});
  x = graph.add("Identity", {graph.add("Dropout", {x})});
  x = flatten(graph, x);
  const std::int64_t side = options.image / 2;
  const std::int64_t hidden = 2 * channels;
  x = graph.add("MatMul", {x, drawn_matrix(graph, channels * side * side, hidden)});
  x = graph.add("Relu", {graph.add("Add", {x, graph.drawn({hidden}, 0.1)})});
  x = graph.add("MatMul", {x, drawn_matrix(graph, hidden, options.class_count)});
  graph.add("Add", {graph.drawn({options.class_count}, 0.1), x}, {}, "y");
  graph.output("y", {-1, options.class_count});
  return graph.finish("small_cnn", kOperators);
}

}  // namespace berth::models
