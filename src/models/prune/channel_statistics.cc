#include "models/prune/channel_statistics.h"

#include <utility>

#include "models/graph/graph_index.h"
#include "models/probing/observe.h"
#include "models/prune/detail/channel_moments.h"

namespace berth::models {
namespace {

using MomentsByValue = std::map<std::string, ChannelMoments, std::less<>>;

MomentsByValue moments_of(std::span<const ChannelGroup> groups) {
  MomentsByValue moments;
  for (const ChannelGroup& group : groups) {
    if (group.left_out) continue;
    for (const ChannelConsumer& consumer : group.consumers) {
      moments.try_emplace(consumer.value, consumer.at, group.channels);
    }
  }
  return moments;
}

Result<void> take_moments(ModelProbe& probe, const Model& model, const RowSet& rows, const ChannelMeasuring& measuring,
                          MomentsByValue& moments) {
  ObserveOptions options{.values = {}, .batch_rows = measuring.batch_rows, .bytes_max = measuring.bytes_max};
  for (const auto& [value, unused] : moments) options.values.push_back(value);
  const Visit add_means = [&](std::size_t, std::span<const Tensor> values) -> Result<void> {
    for (const Tensor& value : values) {
      if (Result<void> added = moments.at(value.name).add_mean(value); !added) return added;
    }
    return {};
  };
  if (Result<void> seen = observe(probe, model, rows, options, add_means); !seen) return seen;
  const Visit add_spreads = [&](std::size_t, std::span<const Tensor> values) -> Result<void> {
    for (const Tensor& value : values) moments.at(value.name).add_spread(value);
    return {};
  };
  return observe(probe, model, rows, options, add_spreads);
}

}  // namespace

Result<ChannelStatistics> measure_channels(ModelProbe& probe, const Model& model, std::span<const ChannelGroup> groups,
                                           const RowSet& rows, const ChannelMeasuring& options) {
  const Graph& graph = model.graph;
  MomentsByValue moments = moments_of(groups);
  if (moments.empty()) return ChannelStatistics{};
  if (Result<void> taken = take_moments(probe, model, rows, options, moments); !taken) return pass_on(taken.error());

  const GraphIndex index(graph);
  ChannelStatistics statistics;
  for (auto& [value, each] : moments) statistics.spreads.emplace(value, each.spread());
  for (const ChannelGroup& group : groups) {
    if (group.left_out) continue;
    for (const ChannelConsumer& consumer : group.consumers) {
      const Node& node = graph.nodes[consumer.node];
      const ChannelMoments& each = moments.at(consumer.value);
      const ConstantPtr weight = constant_input(graph, index, node, 1).value();
      statistics.inputs.emplace(consumer.node, filter_inputs(node, weight->dims, each.means(), each.dims()));
    }
  }
  return statistics;
}

}  // namespace berth::models
