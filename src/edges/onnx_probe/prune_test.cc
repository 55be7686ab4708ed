// models/prune through the real engine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "edges/onnx_probe/testing/engine_probe.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/graph/tensors.h"
#include "models/graph/testing/random_graph.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/probing/run_rows.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_statistics.h"
#include "models/prune/remove_channels.h"
#include "models/prune/testing/random_network.h"

namespace berth::edges {
namespace {

using models::ChannelChoice;
using models::ChannelGroup;
using models::Compensation;
using models::Constant;
using models::Model;
using PruneTest = berth::testing::EngineTest;

struct Network {
  Model model;
  models::RowSet rows;
};

Network network_with(Model model, const Rng& rng) {
  std::vector<Tensor> inputs = berth::testing::random_inputs(model, 6, rng.split("rows"));
  const auto count = static_cast<std::size_t>(inputs.front().shape.front());
  return {.model = std::move(model), .rows = {.inputs = std::move(inputs), .count = count}};
}

/// Keeps at least one channel of each group, and removes about half.
std::vector<ChannelChoice> random_choices(Rng rng, const std::vector<ChannelGroup>& groups) {
  std::vector<ChannelChoice> choices;
  for (const ChannelGroup& group : groups) {
    if (group.left_out) continue;
    ChannelChoice choice{.group = &group, .kept = std::vector<bool>(static_cast<std::size_t>(group.channels), false)};
    for (std::size_t c = 0; c < choice.kept.size(); ++c) choice.kept[c] = rng.below(2) == 0;
    choice.kept[rng.below(choice.kept.size())] = true;
    choices.push_back(std::move(choice));
  }
  return choices;
}

/// Sets the weights of channels that go to 0, of one input of one node.
void clear(Model& model, std::size_t n, std::size_t input, const models::ChannelAxis& at,
           const std::vector<bool>& kept) {
  models::Graph& graph = model.graph;
  const models::GraphIndex index(graph);
  const auto found = models::constant_input(graph, index, graph.nodes[n], input);
  if (!found) return;
  const models::Dims dims = (*found)->dims;
  std::vector<float> values = models::to_floats(**found);
  std::size_t after = static_cast<std::size_t>(at.inner);
  for (std::size_t i = at.axis + 1; i < dims.size(); ++i) after *= static_cast<std::size_t>(dims[i]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!kept[i / after % kept.size()]) values[i] = 0;
  }
  models::ValueNames names(graph);
  const std::string name = names.make("cleared");
  graph.initializers.emplace(name, models::floats(dims, values));
  graph.nodes[n].inputs[input] = name;
}

class Outputs {
 public:
  Outputs(ModelProbe& probe, const models::RowSet& rows) : probe_(probe), rows_(rows) {}

  /// All outputs, one after another.
  std::vector<float> operator()(const Model& model) const {
    const auto loaded = probe_.load(models::write_model(model).value(), EngineOptimisation::kBasic);
    EXPECT_TRUE(loaded) << loaded.error().message;
    if (!loaded) return {};
    const auto outputs = models::run_rows(**loaded, rows_, 4);
    EXPECT_TRUE(outputs) << outputs.error().message;
    std::vector<float> all;
    for (std::size_t i = 0; outputs && i < outputs->size(); ++i) {
      const std::vector<float> each = models::to_floats(models::constant_of((*outputs)[i]));
      all.insert(all.end(), each.begin(), each.end());
    }
    return all;
  }

 private:
  ModelProbe& probe_;
  const models::RowSet& rows_;
};

/// The largest difference, relative to the largest output.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  double most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    if (std::isnan(a[i]) || std::isnan(b[i])) return INFINITY;
  }
  return most / std::max(largest, 1e-20);
}

/// What must hold of any model that was pruned.
void expect_whole(const Model& before, const Model& after, const std::vector<ChannelChoice>& choices) {
  const auto checked = models::check_names(after.graph);
  EXPECT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(before.graph.inputs, after.graph.inputs);
  EXPECT_EQ(before.graph.outputs, after.graph.outputs);
  for (const ChannelChoice& choice : choices) {
    if (std::ranges::count(choice.kept, false) == 0) continue;
    for (const models::ValueInfo& value : after.graph.values) {
      EXPECT_EQ(std::ranges::count(choice.group->values, value.name), 0) << value.name;
    }
  }
}

/// Prunes random networks in which `make_exact` made the channels that go superfluous: how many groups there were.
template <class Make, class MakeExact>
int prune_networks(ModelProbe& probe, int networks, const Make& make, const MakeExact& make_exact) {
  int pruned_count = 0;
  for (int i = 0; i < networks; ++i) {
    SCOPED_TRACE(fmt::format("network {}", i));
    const Rng rng = Rng(1).split("network", static_cast<std::uint64_t>(i));
    auto [model, rows] = make(i, rng);
    const auto shapes = models::value_shapes(probe, model);
    EXPECT_TRUE(shapes) << shapes.error().message;
    if (!shapes) return 0;
    std::vector<ChannelGroup> groups = models::channel_groups(model, *shapes);
    for (const ChannelChoice& choice : random_choices(rng.split("choices"), groups)) make_exact(model, choice);
    groups = models::channel_groups(model, *shapes);
    const std::vector<ChannelChoice> choices = random_choices(rng.split("choices"), groups);

    const auto statistics = models::measure_channels(probe, model, groups, rows, {.batch_rows = 4});
    EXPECT_TRUE(statistics) << statistics.error().message;
    if (!statistics) return 0;
    const Outputs outputs(probe, rows);
    const std::vector<float> before = outputs(model);
    for (const Compensation compensation : {Compensation::kMean, Compensation::kReconstruct}) {
      const Model pruned = models::remove_channels(model, choices, *statistics, compensation);
      expect_whole(model, pruned, choices);
      EXPECT_LT(difference(before, outputs(pruned)), 1e-4);
    }
    pruned_count += static_cast<int>(choices.size());
  }
  return pruned_count;
}

void clear_consumers(Model& model, const ChannelChoice& choice) {
  for (const models::ChannelConsumer& consumer : choice.group->consumers) {
    clear(model, consumer.node, 1, consumer.weight_at, choice.kept);
  }
}

TEST_F(PruneTest, ChannelsThatNoNodeWeighsGoWithoutATrace) {
  const int networks = berth::testing::by_build(60, 12);
  const auto make = [](int i, const Rng& rng) {
    return network_with(berth::testing::random_network(rng, {.opset = i % 2 == 0 ? 17 : 18}), rng);
  };
  EXPECT_GT(prune_networks(probe(), networks, make, clear_consumers), 2 * networks);
}

TEST_F(PruneTest, SoTheyDoInOtherModels) {
  const int networks = berth::testing::by_build(150, 30);
  const auto make = [](int i, const Rng& rng) {
    const std::int64_t opset = 13 + i % 9;
    return network_with(berth::testing::random_model(rng, {.has_any_batch = i % 4 != 0, .opset = opset}), rng);
  };
  EXPECT_GT(prune_networks(probe(), networks, make, clear_consumers), networks / 4);
}

TEST_F(PruneTest, ChannelsThatAreConstantGoIntoTheBias) {
  const int networks = berth::testing::by_build(60, 12);
  const auto make = [](int i, const Rng& rng) {
    return network_with(berth::testing::random_network(rng, {.has_padding = false, .opset = i % 2 == 0 ? 17 : 18}),
                        rng);
  };
  const auto clear_producers = [](Model& model, const ChannelChoice& choice) {
    for (const models::ChannelProducer& producer : choice.group->producers) {
      clear(model, producer.node, 1, producer.weight_at, choice.kept);
    }
  };
  EXPECT_GT(prune_networks(probe(), networks, make, clear_producers), 2 * networks);
}

}  // namespace
}  // namespace berth::edges
