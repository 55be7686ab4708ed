/// The dimensions of values, also where the engine did not say them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/fuse/detail/sweep.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Engines do not see through every computed shape; behind one that is understood here, common operators are followed.
class KnownDims {
 public:
  using Sizes = std::vector<std::int64_t>;

  explicit KnownDims(const Sweep& sweep) : sweep_(sweep) {}

  /// -1: any size. Nothing: the number of dimensions is not known.
  [[nodiscard]] std::optional<Sizes> of(std::string_view value) const;
  /// Of the node's first output, from its inputs; `target`: the shape that a Reshape is given, with -1 for what is not
  /// known, and 0 for what is copied.
  void learn(const Node& node, const std::optional<Sizes>& target);

 private:
  [[nodiscard]] std::optional<Sizes> inferred(const Node& node, const std::optional<Sizes>& target) const;
  [[nodiscard]] std::optional<Sizes> reshaped(const Node& node, const Sizes& target) const;
  [[nodiscard]] std::optional<Sizes> reduced(const Node& node, const Sizes& from) const;
  [[nodiscard]] std::optional<Sizes> product(const Node& node) const;

  const Sweep& sweep_;
  std::map<std::string, Sizes, std::less<>> learnt_;
};

}  // namespace berth::models
