/// Graphs between the file's format and ours.
#pragma once

#include <onnx/onnx_pb.h>

#include "base/core/result.h"
#include "models/graph/graph.h"

namespace berth::models::detail {

/// Moves the graph out of `proto`. Errors: a tensor that cannot be read; two initialisers or two attributes of one
/// name; a name that is not UTF-8.
[[nodiscard]] Result<Graph> take_graph(onnx::GraphProto& proto);

/// The graph in three pieces, whose bytes one after another are the message: nodes and name; the initialisers, in the
/// order of their names; all else.
struct GraphPieces {
  onnx::GraphProto front;
  /// By initialiser: all but its elements, unless they are texts.
  std::vector<onnx::TensorProto> tensors;
  onnx::GraphProto back;
};
[[nodiscard]] GraphPieces graph_pieces(const Graph& graph);

/// The graph as one message; copies its weights.
[[nodiscard]] onnx::GraphProto graph_proto(const Graph& graph);

/// "ai.onnx" and "" are two names of the standard operators.
[[nodiscard]] std::string domain_from(const std::string& domain);

}  // namespace berth::models::detail
