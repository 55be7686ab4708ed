/// Follows channels through a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/graph.h"
#include "models/graph/graph_index.h"
#include "models/graph/value_shapes.h"
#include "models/prune/channel_groups.h"
#include "models/prune/detail/channel_sets.h"

namespace berth::models {

/// Visits the nodes in their order. A value carries the channels of at most one set. Where a node does something with
/// them that is not understood, the set is left out, and what the node makes carries none.
class ChannelWalk {
 public:
  ChannelWalk(const Graph& graph, const ValueShapes& shapes) : graph_(graph), shapes_(shapes), index_(graph) {}

  [[nodiscard]] std::vector<ChannelGroup> groups() &&;

 private:
  /// The channels that a value carries.
  struct Carried {
    std::size_t set;
    ChannelAxis at;
  };
  using SizedDims = std::vector<std::int64_t>;

  void visit(std::size_t n);
  void visit_unary(std::size_t n);
  void visit_broadcast(std::size_t n);
  void visit_pool(std::size_t n);
  void visit_normalise(std::size_t n);
  void visit_reshape(std::size_t n);
  void visit_transpose(std::size_t n);
  void visit_reduce(std::size_t n);
  void visit_pad(std::size_t n);
  void visit_resize(std::size_t n);
  void visit_slice(std::size_t n);
  void visit_shape(std::size_t n);
  void visit_conv(std::size_t n);
  void visit_depthwise(std::size_t n, const Constant& weight);
  void visit_gemm(std::size_t n);
  void visit_mat_mul(std::size_t n);

  /// Joins the channels of all inputs that carry some, as broadcasting aligns them; `at.axis` counts from the last
  /// dimension, beginning with 1. Nothing: none carries any, or they cannot be joined and are left out.
  [[nodiscard]] std::optional<Carried> joined_inputs(std::size_t n);
  /// Input `i` carries no channels: whether it meets those of `common` in a way that can be pruned.
  [[nodiscard]] bool meets(std::size_t n, std::size_t i, const Carried& common);
  [[nodiscard]] bool set_shape_entry(std::size_t n, const Carried& from, const ChannelAxis& to);
  [[nodiscard]] std::optional<ChannelEntry> entry_of_concat(std::size_t n, std::size_t entry);

  /// Channels that node `n` makes, with its bias, if it has one, at `bias`.
  void make_channels(std::size_t n, std::int64_t channels, const ChannelAxis& weight_at, std::size_t output_axis);
  void consume(std::size_t n, const Carried& from, const ChannelAxis& weight_at);
  [[nodiscard]] ConstantPtr own_weight(std::size_t n);

  void carry(std::string_view value, const Carried& carried);
  [[nodiscard]] std::optional<Carried> carried(std::size_t n, std::size_t input) const;
  /// Of a value or constant; -1: any size.
  [[nodiscard]] std::optional<SizedDims> dims_of(std::size_t n, std::size_t input) const;
  [[nodiscard]] std::optional<SizedDims> dims_of(std::string_view value) const;
  [[nodiscard]] std::optional<ConstantPtr> constant(std::size_t n, std::size_t input) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(std::size_t n, std::size_t input) const;
  [[nodiscard]] bool has_input(std::size_t n, std::size_t input) const;
  [[nodiscard]] bool is_used(std::string_view value) const;
  void refuse(std::size_t n, std::string_view why = "");
  void leave_out_seen();

  const Graph& graph_;
  const ValueShapes& shapes_;
  GraphIndex index_;
  ChannelSets sets_;
  std::map<std::string, Carried, std::less<>> carried_;
};

/// Such as "Conv 'stem'"; the first output names a node without a name.
[[nodiscard]] std::string node_text(const Node& node);

}  // namespace berth::models
