/// Integers that models compute from shapes, followed through the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/known_dims.h"
#include "models/fuse/detail/sweep.h"
#include "models/graph/graph.h"

namespace berth::models {

/// A number, or the size of dimension `axis` of `value`, or (neither) unknown.
struct SizeTerm {
  std::optional<std::int64_t> number = std::nullopt;
  std::string value = {};
  std::int64_t axis = 0;

  friend bool operator==(const SizeTerm&, const SizeTerm&) = default;
};

/// A tensor of integers with no dimension or one.
struct SizeTensor {
  std::vector<SizeTerm> terms;
  bool is_scalar = false;
  ElementType type = ElementType::kInt64;
};

/// What is known of the integers in a graph, node by node in their order.
class SizeReader {
 public:
  explicit SizeReader(const Sweep& sweep) : sweep_(sweep), dims_(sweep) {}

  /// Of the node's first output, which others may then use. Nothing: it is no such tensor.
  [[nodiscard]] std::optional<SizeTensor> read(const Node& node);
  /// Nothing: not read, or no such tensor; constants are.
  [[nodiscard]] std::optional<SizeTensor> of(const Node& node, std::size_t input) const;
  [[nodiscard]] const KnownDims& dims() const { return dims_; }
  /// The size of a dimension, in terms of the value that it comes from: nodes that keep it are followed up. Two
  /// dimensions with the same term are of the same size.
  [[nodiscard]] SizeTerm dimension(const std::string& value, std::int64_t axis) const;

 private:
  [[nodiscard]] std::optional<SizeTensor> shape(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> gather(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> slice(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> concat(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> reshaped(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> cast(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> arithmetic(const Node& node) const;
  [[nodiscard]] std::optional<SizeTensor> compute(const Node& node) const;

  [[nodiscard]] SizeTerm follow(const std::string& value, std::int64_t axis) const;
  [[nodiscard]] std::optional<SizeTerm> through(const Node& node, std::int64_t axis) const;
  [[nodiscard]] std::optional<SizeTerm> broadcast(const Node& node, std::int64_t axis_from_back) const;
  [[nodiscard]] std::optional<SizeTerm> through_product(const Node& node, std::int64_t axis) const;

  const Sweep& sweep_;
  KnownDims dims_;
  std::map<std::string, SizeTensor, std::less<>> known_;
  /// Answers of `dimension`, and how deep in itself it is.
  mutable std::map<std::pair<std::string, std::int64_t>, SizeTerm> dimensions_;
  mutable int depth_ = 0;
};

}  // namespace berth::models
