/// A model that can be rewritten: nodes, weights, inputs and outputs, after ONNX's intermediate representation
/// (https://onnx.ai/onnx/repo-docs/IR.html).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/graph/constant.h"

namespace berth::models {

struct Graph;
/// Never null. A graph inside a node does not change: copy it, and put the copy in its place.
using GraphPtr = std::shared_ptr<const Graph>;

/// An attribute of a kind that no pass looks into (sparse tensors, types, references of functions): an AttributeProto.
struct OpaqueAttribute {
  std::string bytes;

  friend bool operator==(const OpaqueAttribute&, const OpaqueAttribute&) = default;
};

using AttributeValue =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, ConstantPtr, GraphPtr, std::vector<GraphPtr>, OpaqueAttribute>;

/// An operator applied to values. A value is a name: of an input, an initialiser, or an output of a node.
struct Node {
  std::string name = {};                  ///< may be empty, and need not be unique
  std::string op = {};                    ///< such as "Conv"
  std::string domain = {};                ///< empty: the standard operators ("ai.onnx" is read as empty)
  std::vector<std::string> inputs = {};   ///< an empty name: an optional one that is left out
  std::vector<std::string> outputs = {};  ///< likewise
  std::map<std::string, AttributeValue, std::less<>> attributes = {};
  std::string rest = {};  ///< what else a NodeProto held
};

/// A size of a dimension: a number, or a symbol such as "batch", or neither (any size).
struct Dimension {
  std::optional<std::int64_t> size = std::nullopt;
  std::string symbol = {};

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// What the file says of a value.
struct ValueInfo {
  std::string name;
  ElementType type = ElementType::kUndefined;  ///< kUndefined: no tensor, or not said
  std::optional<std::vector<Dimension>> shape = std::nullopt;
  std::string proto = {};  ///< the ValueInfoProto, where it was read from a file: written as it is unless empty

  friend bool operator==(const ValueInfo&, const ValueInfo&) = default;
};

struct Graph {
  std::string name = {};
  std::vector<Node> nodes = {};  ///< each after those whose outputs it takes
  std::map<std::string, ConstantPtr, std::less<>> initializers = {};
  std::vector<ValueInfo> inputs = {};  ///< those with an initialiser of that name have it as default
  std::vector<ValueInfo> outputs = {};
  std::vector<ValueInfo> values = {};    ///< what the file says of values in between
  std::vector<std::string> sparse = {};  ///< names of sparse initialisers, which are in `rest`
  std::string rest = {};                 ///< what else a GraphProto held
};

struct Model {
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t, std::less<>> opsets = {};  ///< version by domain; "": the standard operators
  Graph graph = {};
  std::string rest = {};  ///< what else a ModelProto held: producer, metadata, functions

  /// Of the standard operators; 0: the model uses none.
  [[nodiscard]] std::int64_t opset() const;
};

/// Whether the node is the standard operator `op`.
[[nodiscard]] bool is_op(const Node& node, std::string_view op);

/// The attribute, or `fallback` if the node has none of that name or it is of another kind.
[[nodiscard]] std::int64_t attribute_or(const Node& node, std::string_view name, std::int64_t fallback);
[[nodiscard]] float attribute_or(const Node& node, std::string_view name, float fallback);
[[nodiscard]] std::string attribute_or(const Node& node, std::string_view name, const std::string& fallback);
[[nodiscard]] std::vector<std::int64_t> attribute_or(const Node& node, std::string_view name,
                                                     const std::vector<std::int64_t>& fallback);

/// The graphs inside the node's attributes, in the order of the attributes' names.
[[nodiscard]] std::vector<GraphPtr> graphs_in(const Node& node);

}  // namespace berth::models
