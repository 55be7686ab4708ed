// With the real engine: edges/onnx_probe/probing_test.cc.
#include "models/probing/observe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "models/graph/tensors.h"
#include "models/onnx/read_model.h"
#include "models/probing/run_rows.h"

namespace berth::models {
namespace {

/// Value NAME of a run with n rows is n rows of `columns` floats.
class FakeModel final : public ProbedModel {
 public:
  FakeModel(std::vector<TensorSignature> inputs, std::vector<TensorSignature> outputs, std::size_t columns)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), columns_(columns) {}

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return outputs_; }
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs,
                                                std::span<const std::string> wanted) override {
    const std::int64_t rows = inputs.empty() ? 1 : inputs[0].shape[0];
    const Dims dims = {rows, static_cast<std::int64_t>(columns_)};
    std::vector<Tensor> values;
    for (const std::string& name : wanted) {
      const auto count = static_cast<std::size_t>(rows) * columns_;
      values.push_back(tensor_of(*floats(dims, std::vector<float>(count)), name).value());
    }
    return values;
  }
  [[nodiscard]] Result<std::chrono::nanoseconds> time(std::span<const Tensor> /*inputs*/, int /*runs*/) override {
    return std::chrono::nanoseconds(1);
  }

 private:
  std::vector<TensorSignature> inputs_;
  std::vector<TensorSignature> outputs_;
  std::size_t columns_;
};

/// Loads models without running them, and notes how many outputs each one has.
class FakeProbe final : public ModelProbe {
 public:
  explicit FakeProbe(std::size_t columns) : columns_(columns) {}

  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::string device() const override { return "fake"; }
  [[nodiscard]] Result<std::unique_ptr<ProbedModel>> load(std::string_view model,
                                                          EngineOptimisation /*optimisation*/) override {
    const auto read = read_model(model, "model", [](const auto&...) -> Result<std::string> { return invalid("none"); });
    if (!read) return pass_on(read.error());
    std::vector<TensorSignature> outputs;
    for (const ValueInfo& output : read->graph.outputs) {
      const bool is_sequence = output.name == "sequence";
      if (!is_sequence) outputs.push_back({.name = output.name});
    }
    output_counts.push_back(read->graph.outputs.size());
    return std::make_unique<FakeModel>(std::vector<TensorSignature>{{.name = "x", .shape = {-1, 1}}}, outputs,
                                       columns_);
  }
  [[nodiscard]] Result<ModelFootprint> footprint(const std::string& /*path*/,
                                                 std::span<const Tensor> /*inputs*/) override {
    return ModelFootprint{};
  }

  std::vector<std::size_t> output_counts;  ///< of each load

 private:
  std::size_t columns_;
};

/// x -> v0 -> v1 -> ..
Model chain(std::size_t nodes) {
  Model model{.ir_version = 8, .opsets = {{"", 17}}};
  model.graph.name = "chain";
  std::string last = "x";
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string next = "v" + std::to_string(i);
    model.graph.nodes.push_back({.op = "Relu", .inputs = {last}, .outputs = {next}});
    last = next;
  }
  model.graph.inputs = {{.name = "x", .type = ElementType::kFloat}};
  model.graph.outputs = {{.name = last, .type = ElementType::kFloat}};
  return model;
}

RowSet rows_of_one(std::size_t count) {
  return {.inputs = {tensor_of(*floats({static_cast<std::int64_t>(count), 1}, std::vector<float>(count)), "x").value()},
          .count = count};
}

TEST(Observe, TakesAsManyValuesAtATimeAsFit) {
  constexpr std::size_t kValues = 100;
  ObserveOptions options{.values = {}, .batch_rows = 4, .bytes_max = 0};
  for (std::size_t i = 0; i < kValues; ++i) options.values.push_back("v" + std::to_string(i));
  for (const std::size_t values_max : {1U, 7U, 40U, 1000U}) {
    FakeProbe probe(10);
    options.bytes_max = values_max * 4 * 10 * sizeof(float);
    std::map<std::string, std::vector<std::size_t>> seen;
    std::size_t most = 0;
    const auto observed = observe(probe, chain(kValues), rows_of_one(10), options,
                                  [&](std::size_t first, std::span<const Tensor> values) -> Result<void> {
                                    most = std::max(most, values.size());
                                    for (const Tensor& value : values) seen[value.name].push_back(first);
                                    return {};
                                  });
    ASSERT_TRUE(observed) << observed.error().message;
    EXPECT_EQ(most, std::min<std::size_t>(values_max, kValues));
    EXPECT_EQ(seen.size(), kValues);
    for (const auto& [name, firsts] : seen) EXPECT_EQ(firsts, (std::vector<std::size_t>{0, 4, 8})) << name;
  }
}

TEST(Observe, NothingIsLoadedForNothing) {
  FakeProbe probe(1);
  const auto unseen = [](std::size_t, std::span<const Tensor>) -> Result<void> { return invalid("seen"); };
  EXPECT_TRUE(observe(probe, chain(3), rows_of_one(2), {.values = {}}, unseen));
  EXPECT_TRUE(probe.output_counts.empty());
}

TEST(ValueShapes, AsksForEachValueOnce) {
  FakeProbe probe(1);
  Model model = chain(3);
  model.graph.outputs.push_back({.name = "v1"});
  model.graph.nodes[0].outputs.emplace_back("");  // one that is left out
  const auto shapes = value_shapes(probe, model);
  ASSERT_TRUE(shapes) << shapes.error().message;
  EXPECT_EQ(probe.output_counts, std::vector<std::size_t>{3});
  EXPECT_EQ(shapes->size(), 4U);
  EXPECT_EQ(shapes->at("v0").dims, std::nullopt) << "the engine does not say how many dimensions";
}

TEST(ValueShapes, KnowsScalars) {
  FakeProbe probe(1);
  Model model = chain(2);
  model.graph.nodes.push_back({.op = "Constant", .outputs = {"c"}, .attributes = {{"value", float_scalar(1)}}});
  model.graph.nodes.push_back({.op = "Constant", .outputs = {"d"}, .attributes = {{"value_int", std::int64_t{1}}}});
  model.graph.nodes.push_back({.op = "Constant", .outputs = {"e"}, .attributes = {{"value", floats({1}, {1})}}});
  model.graph.values = {{.name = "v0", .type = ElementType::kFloat, .shape = std::vector<Dimension>()}};
  const auto shapes = value_shapes(probe, model).value();
  for (const char* name : {"c", "d", "v0"}) EXPECT_EQ(shapes.at(name).dims, Dims{}) << name;
  for (const char* name : {"e", "v1"}) EXPECT_EQ(shapes.at(name).dims, std::nullopt) << name;
}

TEST(Evaluate, RefusesWhatIsNoTensor) {
  FakeProbe probe(1);
  Model model = chain(1);
  model.graph.outputs.push_back({.name = "sequence"});
  model.graph.nodes.push_back({.op = "SequenceEmpty", .outputs = {"sequence"}});
  const auto values = evaluate(probe, model);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().message, "sequence: wanted a tensor of a known type, found another value");
}

}  // namespace
}  // namespace berth::models
