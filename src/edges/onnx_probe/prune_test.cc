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

models::RowSet random_rows(Rng rng, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count) * 3 * 12 * 12);
  for (float& value : values) value = static_cast<float>(2 * rng.unit() - 1);
  return {.inputs = {models::tensor_of(*models::floats({count, 3, 12, 12}, values), "x").value()},
          .count = static_cast<std::size_t>(count)};
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

  std::vector<float> operator()(const Model& model) const {
    const auto loaded = probe_.load(models::write_model(model).value(), EngineOptimisation::kBasic);
    EXPECT_TRUE(loaded) << loaded.error().message;
    if (!loaded) return {};
    const auto outputs = models::run_rows(**loaded, rows_, 4);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? models::to_floats(models::constant_of(outputs->front())) : std::vector<float>{};
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

std::size_t weights_in(const Model& model) {
  std::size_t count = 0;
  for (const auto& [name, constant] : model.graph.initializers) count += constant->bytes.size();
  return count;
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

/// Prunes random networks in which `make_exact` made the channels that go superfluous.
template <class MakeExact>
void prune_networks(ModelProbe& probe, const berth::testing::RandomNetworkOptions& options,
                    const MakeExact& make_exact) {
  int pruned_count = 0;
  const int networks = berth::testing::by_build(60, 12);
  for (int i = 0; i < networks; ++i) {
    SCOPED_TRACE(fmt::format("network {}", i));
    const Rng rng = Rng(1).split("network", static_cast<std::uint64_t>(i));
    Model model =
        berth::testing::random_network(rng, {.has_padding = options.has_padding, .opset = i % 2 == 0 ? 17 : 18});
    const auto shapes = models::value_shapes(probe, model);
    ASSERT_TRUE(shapes) << shapes.error().message;
    std::vector<ChannelGroup> groups = models::channel_groups(model, *shapes);
    const std::vector<ChannelChoice> first = random_choices(rng.split("choices"), groups);
    for (const ChannelChoice& choice : first) make_exact(model, choice);
    groups = models::channel_groups(model, *shapes);
    const std::vector<ChannelChoice> choices = random_choices(rng.split("choices"), groups);
    ASSERT_EQ(choices.size(), first.size());

    const models::RowSet rows = random_rows(rng.split("rows"), 6);
    const auto statistics = models::measure_channels(probe, model, groups, rows, {.batch_rows = 4});
    ASSERT_TRUE(statistics) << statistics.error().message;
    const Outputs outputs(probe, rows);
    const std::vector<float> before = outputs(model);
    for (const Compensation compensation : {Compensation::kMean, Compensation::kReconstruct}) {
      const Model pruned = models::remove_channels(model, choices, *statistics, compensation);
      expect_whole(model, pruned, choices);
      EXPECT_LT(difference(before, outputs(pruned)), 1e-4);
      EXPECT_TRUE(choices.empty() || weights_in(pruned) < weights_in(model));
    }
    pruned_count += static_cast<int>(choices.size());
  }
  EXPECT_GT(pruned_count, 2 * networks);
}

TEST_F(PruneTest, ChannelsThatNoNodeWeighsGoWithoutATrace) {
  prune_networks(probe(), {}, [](Model& model, const ChannelChoice& choice) {
    for (const models::ChannelConsumer& consumer : choice.group->consumers) {
      clear(model, consumer.node, 1, consumer.weight_at, choice.kept);
    }
  });
}

TEST_F(PruneTest, ChannelsThatAreConstantGoIntoTheBias) {
  prune_networks(probe(), {.has_padding = false}, [](Model& model, const ChannelChoice& choice) {
    for (const models::ChannelProducer& producer : choice.group->producers) {
      clear(model, producer.node, 1, producer.weight_at, choice.kept);
    }
  });
}

}  // namespace
}  // namespace berth::edges
