// models/probing through the real engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "edges/onnx_probe/testing/engine_probe.h"
#include "models/graph/constant.h"
#include "models/graph/graph.h"
#include "models/graph/tensors.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/probing/run_rows.h"
#include "models/rows/row_set.h"

namespace berth::edges {
namespace {

using models::ElementType;
using models::Model;
using models::Node;
using models::RowSet;
using models::ValueInfo;
using ProbingTest = berth::testing::EngineTest;

ValueInfo info(std::string name, std::vector<models::Dimension> shape) {
  return {.name = std::move(name), .type = ElementType::kFloat, .shape = std::move(shape)};
}

/// x [rows, 2] -> h = x * w, s = Shape(h), d = Gather(s, 1), y = Relu(h); w is an initialiser.
Model small_model(models::Dimension rows) {
  Model model{.ir_version = 8, .opsets = {{"", 17}}};
  model.graph.name = "small";
  model.graph.nodes = {
      Node{.op = "Mul", .inputs = {"x", "w"}, .outputs = {"h"}},
      Node{.op = "Shape", .inputs = {"h"}, .outputs = {"s"}},
      Node{.op = "Gather", .inputs = {"s", "one"}, .outputs = {"d"}},
      Node{.op = "Relu", .inputs = {"h"}, .outputs = {"y"}},
  };
  model.graph.initializers = {{"w", models::floats({2}, {2, -3})}, {"one", models::int64s({}, {1})}};
  model.graph.inputs = {info("x", {rows, {.size = 2}})};
  model.graph.outputs = {info("y", {rows, {.size = 2}})};
  return model;
}

Tensor floats_tensor(const std::string& name, models::Dims dims, const std::vector<float>& values) {
  return models::tensor_of(*models::floats(std::move(dims), values), name).value();
}

RowSet five_rows() { return {.inputs = {floats_tensor("x", {5, 2}, {1, 1, 2, 2, 3, 3, 4, 4, 5, -5})}, .count = 5}; }

std::vector<float> values_of(const Tensor& tensor) { return models::to_floats(models::constant_of(tensor)); }

TEST_F(ProbingTest, SaysTheShapesOfAllValues) {
  const auto shapes = models::value_shapes(probe(), small_model({.symbol = "rows"}));
  ASSERT_TRUE(shapes) << shapes.error().message;
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(shapes->at("x"), (models::ValueShape{.type = ElementType::kFloat, .dims = Sizes{-1, 2}}));
  EXPECT_EQ(shapes->at("h"), (models::ValueShape{.type = ElementType::kFloat, .dims = Sizes{-1, 2}}));
  EXPECT_EQ(shapes->at("s"), (models::ValueShape{.type = ElementType::kInt64, .dims = Sizes{2}}));
  EXPECT_EQ(shapes->at("d").type, ElementType::kInt64);
  EXPECT_EQ(shapes->at("w").dims, Sizes{2});
  EXPECT_EQ(shapes->at("one").dims, Sizes{});
}

TEST_F(ProbingTest, SeesRanksThatInferenceDoesNotKnow) {
  Model model = small_model({.symbol = "rows"});
  model.graph.nodes[0] = {.op = "Scaler",
                          .domain = "ai.onnx.ml",
                          .inputs = {"x"},
                          .outputs = {"h"},
                          .attributes = {{"offset", std::vector<float>{0, 0}}, {"scale", std::vector<float>{2, -3}}}};
  model.graph.initializers.erase("w");
  model.opsets["ai.onnx.ml"] = 3;
  model.graph.outputs = {{.name = "y"}};
  const auto shapes = models::shapes_seen(probe(), model, five_rows());
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(shapes->at("h").dims->size(), 2U);
  EXPECT_EQ(shapes->at("y").dims->size(), 2U);
  EXPECT_EQ(shapes->at("d").dims->size(), 0U);
}

TEST_F(ProbingTest, EvaluatesWhatHasNoInputs) {
  Model model = small_model({.size = 1});
  model.graph.inputs = {};
  model.graph.initializers["x"] = models::floats({1, 2}, {5, 7});
  model.graph.outputs = {{.name = "d"}, {.name = "h"}};
  const auto values = models::evaluate(probe(), model);
  ASSERT_TRUE(values) << values.error().message;
  ASSERT_EQ(values->size(), 2U);
  EXPECT_EQ(*(*values)[0], *models::int64s({}, {2}));
  EXPECT_EQ(*(*values)[1], *models::floats({1, 2}, {10, -21}));
}

TEST_F(ProbingTest, ObservesEachValueOfEachBatchOnce) {
  for (const models::Dimension& rows : {models::Dimension{.symbol = "rows"}, models::Dimension{.size = 2}}) {
    for (const std::size_t bytes_max : {std::size_t{1}, std::size_t{40}, std::size_t{1} << 20}) {
      std::map<std::string, std::vector<float>> seen;
      std::size_t visits = 0;
      const auto observed = models::observe(
          probe(), small_model(rows), five_rows(), {.values = {"h", "x", "y"}, .batch_rows = 2, .bytes_max = bytes_max},
          [&](std::size_t first, std::span<const Tensor> values) -> Result<void> {
            ++visits;
            EXPECT_EQ(first % 2, 0U);
            for (const Tensor& value : values) {
              const auto numbers = values_of(value);
              seen[value.name].insert(seen[value.name].end(), numbers.begin(), numbers.end());
            }
            return {};
          });
      ASSERT_TRUE(observed) << observed.error().message;
      std::vector<float> wanted = {2, -3, 4, -6, 6, -9, 8, -12, 10, 15};
      if (rows.size) wanted.insert(wanted.end(), {10, 15});  // the last row again
      EXPECT_EQ(seen.at("h"), wanted);
      EXPECT_EQ(seen.at("x").size(), wanted.size());
      EXPECT_EQ(seen.at("y")[1], 0);
      EXPECT_EQ(visits % 3, 0U) << "batches";
      EXPECT_EQ(visits, bytes_max == 1 ? 9U : bytes_max == 40 ? 6U : 3U) << "runs with " << bytes_max << " bytes";
    }
  }
}

TEST_F(ProbingTest, AnErrorOfTheVisitorEndsIt) {
  int visits = 0;
  const auto observed =
      models::observe(probe(), small_model({.symbol = "n"}), five_rows(), {.values = {"h"}, .batch_rows = 1},
                      [&](std::size_t, std::span<const Tensor>) -> Result<void> {
                        ++visits;
                        return invalid("enough");
                      });
  ASSERT_FALSE(observed);
  EXPECT_EQ(observed.error().message, "enough");
  EXPECT_EQ(visits, 1);
  EXPECT_FALSE(models::observe(probe(), small_model({.symbol = "n"}), five_rows(), {.values = {"nothing"}},
                               [](std::size_t, std::span<const Tensor>) -> Result<void> { return {}; }));
}

TEST_F(ProbingTest, RunsAllRows) {
  for (const models::Dimension& rows : {models::Dimension{.symbol = "rows"}, models::Dimension{.size = 2}}) {
    const auto model = probe().load(models::write_model(small_model(rows)).value(), EngineOptimisation::kAll);
    ASSERT_TRUE(model) << model.error().message;
    const auto outputs = models::run_rows(**model, five_rows(), 3);
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), 1U);
    EXPECT_EQ((*outputs)[0].shape, (std::vector<std::int64_t>{5, 2}));
    EXPECT_EQ(values_of((*outputs)[0]), (std::vector<float>{2, 0, 4, 0, 6, 0, 8, 0, 10, 15}));
  }
}

TEST_F(ProbingTest, RowsMayBeWholeRuns) {
  RowSet rows{.inputs = {floats_tensor("x", {3, 1, 2}, {1, 1, 2, 2, 3, -3})}, .count = 3, .rows_are_runs = true};
  Model model = small_model({.symbol = "rows"});
  model.graph.outputs.push_back({.name = "d"});
  const auto loaded = probe().load(models::write_model(model).value(), EngineOptimisation::kAll);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto outputs = models::run_rows(**loaded, rows, 2);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ((*outputs)[0].shape, (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ((*outputs)[1].shape, (std::vector<std::int64_t>{3}));
  rows.rows_are_runs = false;
  rows.inputs[0].shape = {3, 2};
  const auto refused = models::run_rows(**loaded, rows, 2);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              ::testing::HasSubstr("output d: wanted a row for each of 2 rows, found the shape []; where a run"));
}

}  // namespace
}  // namespace berth::edges
