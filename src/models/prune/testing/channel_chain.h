// A small network by hand, for tests without an engine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"
#include "models/prune/channel_groups.h"

namespace berth::testing {

inline models::Node node(std::string op, std::vector<std::string> inputs, std::string output,
                         std::map<std::string, models::AttributeValue, std::less<>> attributes = {}) {
  return {.op = std::move(op),
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}

inline models::ConstantPtr ones(models::Dims dims) {
  const auto count = static_cast<std::size_t>(models::count_of(dims));
  return models::floats(std::move(dims), std::vector<float>(count, 1.0F));
}

/// x [N, 3, 8, 8] -> Conv a (16) -> BatchNormalization n -> Relu r -> Conv b (24) -> Relu rb -> Flatten f -> Gemm y
/// (10).
struct ChannelChain {
  models::Model model = {};
  models::ValueShapes shapes = {};

  ChannelChain() {
    model.opsets = {{"", 17}};
    models::Graph& graph = model.graph;
    graph.inputs = {{.name = "x"}};
    graph.outputs = {{.name = "y"}};
    graph.values = {{.name = "r"}, {.name = "f"}};
    graph.nodes = {
        node("Conv", {"x", "wa"}, "a"),
        node("BatchNormalization", {"a", "s", "o", "m", "v"}, "n"),
        node("Relu", {"n"}, "r"),
        node("Conv", {"r", "wb", "bb"}, "b"),
        node("Relu", {"b"}, "rb"),
        node("Flatten", {"rb"}, "f"),
        node("Gemm", {"f", "wy", "by"}, "y", {{"transB", std::int64_t{1}}}),
    };
    graph.initializers = {{"wa", ones({16, 3, 1, 1})},
                          {"wb", ones({24, 16, 1, 1})},
                          {"bb", ones({24})},
                          {"wy", ones({10, 24 * 64})},
                          {"by", ones({10})}};
    for (const char* name : {"s", "o", "m", "v"}) graph.initializers.emplace(name, ones({16}));
    image("x", 3);
    for (const char* name : {"a", "n", "r"}) image(name, 16);
    for (const char* name : {"b", "rb"}) image(name, 24);
    shapes["f"] = {models::ElementType::kFloat, std::vector<std::int64_t>{-1, 24 * 64}};
    shapes["y"] = {models::ElementType::kFloat, std::vector<std::int64_t>{-1, 10}};
  }

  void image(const std::string& name, std::int64_t channels) {
    shapes[name] = {models::ElementType::kFloat, std::vector<std::int64_t>{-1, channels, 8, 8}};
  }
  [[nodiscard]] std::vector<models::ChannelGroup> groups() const { return models::channel_groups(model, shapes); }
};

}  // namespace berth::testing
