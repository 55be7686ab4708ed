/// Writes a graph node by node, as exporters do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/rng.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Names values and weights by number. Weights are drawn.
class GraphWriter {
 public:
  using Names = std::vector<std::string>;
  using Attributes = std::map<std::string, AttributeValue, std::less<>>;

  explicit GraphWriter(Rng rng) : rng_(rng) {}

  /// -1: any size, named `batch` for the first dimension and else `length`.
  std::string input(const std::string& name, ElementType type, const Dims& dims);
  void output(const std::string& name, const Dims& dims);

  /// The name of the node's output: `name`, or one by number.
  std::string add(const std::string& op, const Names& inputs, Attributes attributes = {}, const std::string& name = {});
  /// A node Constant.
  std::string constant(ConstantPtr value);
  std::string weight(ConstantPtr value);
  /// Normally distributed floats.
  std::string drawn(const Dims& dims, double deviation);
  /// Uniformly distributed ones.
  std::string drawn_between(const Dims& dims, double least, double most);

  [[nodiscard]] Model finish(std::string_view name, std::int64_t opset);

 private:
  [[nodiscard]] std::string new_name(std::string_view stem);
  [[nodiscard]] double normal();

  Rng rng_;
  Graph graph_;
  std::size_t name_count_ = 0;
};

}  // namespace berth::models
