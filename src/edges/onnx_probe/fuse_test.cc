// models/fuse through the real engine: the passes leave the outputs as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "edges/onnx_probe/testing/engine_probe.h"
#include "models/fp16/half_precision.h"
#include "models/fp16/half_weights.h"
#include "models/fuse/fuse_passes.h"
#include "models/graph/graph_edit.h"
#include "models/graph/numbers.h"
#include "models/graph/tensors.h"
#include "models/graph/testing/random_graph.h"
#include "models/onnx/check_model.h"
#include "models/onnx/read_model.h"
#include "models/onnx/tensor_file.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"

namespace berth::edges {
namespace {

namespace fs = std::filesystem;
using models::Model;
using models::Pass;

constexpr int kRoundsMax = 10;
constexpr double kDifferenceMax = 1e-4;  // of the largest output

/// Nothing: the engine refuses it, or what it gives is no tensor.
std::optional<std::vector<Tensor>> outputs_of(ModelProbe& probe, const Model& model,
                                              const std::vector<Tensor>& inputs) {
  const auto bytes = models::write_model(model);
  if (!bytes) return std::nullopt;
  const auto loaded = probe.load(*bytes, EngineOptimisation::kNone);
  if (!loaded || (*loaded)->outputs().size() != model.graph.outputs.size()) return std::nullopt;
  std::vector<std::string> names;
  for (const models::ValueInfo& output : model.graph.outputs) names.push_back(output.name);
  auto outputs = (*loaded)->run(inputs, names);
  return outputs ? std::optional(std::move(*outputs)) : std::nullopt;
}

/// Empty: they agree.
std::string difference(const Tensor& wanted, const Tensor& found) {
  if (wanted.shape != found.shape || wanted.type != found.type) return wanted.name + " has another shape or type";
  const auto a = models::to_doubles(models::constant_of(wanted));
  const auto b = models::to_doubles(models::constant_of(found));
  if (!a || !b) return wanted == found ? "" : wanted.name + " differs";
  double largest = 0;
  double off = 0;
  for (std::size_t i = 0; i < a->size(); ++i) {
    if (std::isnan((*a)[i]) && std::isnan((*b)[i])) continue;
    if ((*a)[i] == (*b)[i]) continue;
    if (!std::isfinite((*a)[i] - (*b)[i])) return wanted.name + " is not finite";
    largest = std::max(largest, std::abs((*a)[i]));
    off = std::max(off, std::abs((*a)[i] - (*b)[i]));
  }
  return off <= kDifferenceMax * std::max(largest, 1e-30) ? "" : wanted.name + " differs by " + std::to_string(off);
}

class FuseTest : public berth::testing::EngineTest {
 protected:
  /// All passes, again and again; each is checked.
  Model fused(const Model& model, const std::vector<Tensor>& inputs, const std::vector<Tensor>& wanted,
              const std::string& name) {
    const auto shapes = models::value_shapes(probe(), model);
    if (!shapes) return model;
    const models::Evaluate evaluate = [this](const Model& part) { return models::evaluate(probe(), part); };
    Model changed = model;
    bool is_any = true;
    for (int round = 0; is_any && round < kRoundsMax; ++round) {
      is_any = false;
      for (const Pass& pass : models::fuse_passes()) {
        const auto applied = pass.apply(changed, {.shapes = *shapes, .evaluate = evaluate});
        EXPECT_TRUE(applied) << name << ", " << pass.name << ": " << applied.error().message;
        if (!applied || !*applied) continue;
        is_any = true;
        check(changed, inputs, wanted, name + ", " + std::string(pass.name));
      }
    }
    EXPECT_FALSE(is_any) << name << ": the passes do not end";
    return changed;
  }

 private:
  void check(const Model& changed, const std::vector<Tensor>& inputs, const std::vector<Tensor>& wanted,
             const std::string& what) {
    const auto names = models::check_names(changed.graph);
    EXPECT_TRUE(names) << what << ": " << names.error().message;
    const auto found = outputs_of(probe(), changed, inputs);
    ASSERT_TRUE(found) << what << ": does not run any more";
    ASSERT_EQ(found->size(), wanted.size()) << what;
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(difference(wanted[i], (*found)[i]), "") << what;
  }
};

TEST_F(FuseTest, LeavesTheOutputsOfRandomModels) {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Model model = berth::testing::random_model(
        Rng(seed), {.has_any_batch = seed % 2 == 0, .opset = 13 + static_cast<std::int64_t>(seed % 9)});
    const std::vector<Tensor> inputs = berth::testing::random_inputs(model, 3, Rng(seed).split("inputs"));
    const auto wanted = outputs_of(probe(), model, inputs);
    ASSERT_TRUE(wanted) << seed;
    const Model changed = fused(model, inputs, *wanted, "seed " + std::to_string(seed));
    const auto checked = models::check_model(changed);
    EXPECT_TRUE(checked) << seed << ": " << checked.error().message;
    if (changed.graph.nodes.size() < model.graph.nodes.size()) ++fewer;
    if (HasFailure()) break;
  }
  EXPECT_GT(fewer, 50);
}

/// x -> a node with weights -> what is to be folded into it -> y; constants are drawn.
struct FoldCase {
  const char* name;
  models::Dims input;
  std::vector<models::Node> nodes;
  std::vector<std::pair<std::string, models::Dims>> weights;
  std::size_t node_count = 1;  ///< that are left
};

std::vector<FoldCase> fold_cases() {
  using Int64s = std::vector<std::int64_t>;
  const models::Node norm = {
      .op = "BatchNormalization", .inputs = {"c", "scale", "bias", "mean", "variance"}, .outputs = {"y"}};
  const auto norm_of = [](std::int64_t channels) {
    return std::vector<std::pair<std::string, models::Dims>>{
        {"scale", {channels}}, {"bias", {channels}}, {"mean", {channels}}, {"variance", {channels}}};
  };
  const auto with = [](std::vector<std::pair<std::string, models::Dims>> weights,
                       std::vector<std::pair<std::string, models::Dims>> more) {
    weights.insert(weights.end(), more.begin(), more.end());
    return weights;
  };
  const models::Node deconv = {.op = "ConvTranspose",
                               .inputs = {"x", "w", "b"},
                               .outputs = {"c"},
                               .attributes = {{"group", std::int64_t{2}}, {"strides", Int64s{2, 2}}}};
  const models::Node conv = {.op = "Conv",
                             .inputs = {"x", "w"},
                             .outputs = {"c"},
                             .attributes = {{"group", std::int64_t{2}}, {"pads", Int64s{1, 1, 1, 1}}}};
  const models::Node gemm = {.op = "Gemm",
                             .inputs = {"x", "w", "b"},
                             .outputs = {"c"},
                             .attributes = {{"transB", std::int64_t{1}}, {"alpha", 0.5F}, {"beta", -2.0F}}};
  const models::Node before = {
      .op = "BatchNormalization", .inputs = {"x", "scale", "bias", "mean", "variance"}, .outputs = {"c"}};
  return {
      {"ConvTranspose", {2, 4, 5, 5}, {deconv, norm}, with(norm_of(6), {{"w", {4, 3, 3, 3}}, {"b", {6}}})},
      {"Conv", {2, 4, 5, 5}, {conv, norm}, with(norm_of(6), {{"w", {6, 2, 3, 3}}})},
      {"Gemm", {2, 4}, {gemm, norm}, with(norm_of(3), {{"w", {3, 4}}, {"b", {1, 3}}})},
      {"Gemm without C",
       {2, 4},
       {{.op = "Gemm", .inputs = {"x", "w"}, .outputs = {"c"}, .attributes = {{"beta", 0.0F}}}, norm},
       with(norm_of(3), {{"w", {4, 3}}})},
      {"MatMul",
       {2, 4},
       {{.op = "MatMul", .inputs = {"x", "w"}, .outputs = {"c"}}, norm},
       with(norm_of(3), {{"w", {4, 3}}})},
      {"Sub from a constant",
       {2, 4, 5, 5},
       {conv, {.op = "Sub", .inputs = {"k", "c"}, .outputs = {"y"}}},
       {{"w", {6, 2, 3, 3}}, {"k", {1, 6, 1, 1}}}},
      {"before Conv",
       {2, 4, 5, 5},
       {before, {.op = "Conv", .inputs = {"c", "w"}, .outputs = {"y"}, .attributes = {{"group", std::int64_t{2}}}}},
       with(norm_of(4), {{"w", {6, 2, 3, 3}}})},
      {"before padded Conv",
       {2, 4, 5, 5},
       {before, {.op = "Conv", .inputs = {"c", "w"}, .outputs = {"y"}, .attributes = {{"pads", Int64s{1, 1, 1, 1}}}}},
       with(norm_of(4), {{"w", {6, 4, 3, 3}}}),
       2},
      {"before Gemm",
       {2, 4},
       {before,
        {.op = "Gemm", .inputs = {"c", "w", "b"}, .outputs = {"y"}, .attributes = {{"alpha", 0.5F}, {"beta", 3.0F}}}},
       with(norm_of(4), {{"w", {4, 3}}, {"b", {3}}})},
  };
}

/// Between 0.5 and 1.5: variances are not negative.
models::ConstantPtr drawn(const models::Dims& dims, Rng& rng) {
  std::vector<float> values(static_cast<std::size_t>(models::count_of(dims)));
  for (float& value : values) value = static_cast<float>(0.5 + rng.unit());
  return models::floats(dims, values);
}

TEST_F(FuseTest, FoldsIntoWeights) {
  Rng rng(7);
  for (const FoldCase& fold : fold_cases()) {
    Model model = {.ir_version = 8, .opsets = {{"", 17}}};
    model.graph.name = "fold";
    model.graph.nodes = fold.nodes;
    std::vector<models::Dimension> shape;
    for (const std::int64_t dim : fold.input) shape.push_back({.size = dim});
    model.graph.inputs = {{.name = "x", .type = models::ElementType::kFloat, .shape = shape}};
    model.graph.outputs = {{.name = "y", .type = models::ElementType::kFloat}};
    for (const auto& [name, dims] : fold.weights) model.graph.initializers[name] = drawn(dims, rng);
    const std::vector<Tensor> inputs = {models::tensor_of(*drawn(fold.input, rng), "x").value()};
    const auto wanted = outputs_of(probe(), model, inputs);
    ASSERT_TRUE(wanted) << fold.name;
    EXPECT_EQ(fused(model, inputs, *wanted, fold.name).graph.nodes.size(), fold.node_count) << fold.name;
  }
}

/// Signal to noise of the first output, in decibels.
double quality_db(const Tensor& wanted, const Tensor& found) {
  const auto a = models::to_doubles(models::constant_of(wanted)).value();
  const auto b = models::to_doubles(models::constant_of(found)).value();
  double signal = 1e-30;
  double noise = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    signal += a[i] * a[i];
    noise += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return 10 * std::log10(signal / noise);
}

TEST_F(FuseTest, HalfPrecisionIsClose) {
  int half_count = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Model model = berth::testing::random_model(Rng(seed));
    const std::vector<Tensor> inputs = berth::testing::random_inputs(model, 3, Rng(seed).split("inputs"));
    const auto wanted = outputs_of(probe(), model, inputs);
    const auto shapes = models::value_shapes(probe(), model);
    ASSERT_TRUE(wanted && shapes) << seed;
    const auto weights = models::halve_weights(model, {.elements_min = 1});
    const auto whole = models::halve_precision(model, *shapes);
    half_count += whole.half_count > 0 ? 1 : 0;
    for (const Model& half : {weights.model, whole.model}) {
      const auto checked = models::check_model(half);
      EXPECT_TRUE(checked) << seed << ": " << checked.error().message;
      const auto found = outputs_of(probe(), half, inputs);
      ASSERT_TRUE(found) << seed;
      for (std::size_t i = 0; i < wanted->size(); ++i) {
        EXPECT_EQ((*found)[i].shape, (*wanted)[i].shape);
        EXPECT_GT(quality_db((*wanted)[i], (*found)[i]), 30) << seed;
      }
    }
  }
  EXPECT_GT(half_count, 30);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Nothing: one of the inputs is no tensor.
std::optional<std::vector<Tensor>> inputs_in(const fs::path& folder, const Model& model) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; fs::exists(folder / ("input_" + std::to_string(i) + ".pb")); ++i) {
    const fs::path path = folder / ("input_" + std::to_string(i) + ".pb");
    auto tensor = models::read_tensor_file(bytes_of(path), path.string());
    if (!tensor || i >= model.graph.inputs.size()) return std::nullopt;
    tensor->name = model.graph.inputs[i].name;
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Result<std::string> nothing_outside(const std::string& path, std::uint64_t, std::uint64_t) { return invalid(path); }

/// Why a case says nothing of the passes; empty: it does.
std::string why_left_out(ModelProbe& probe, const Model& model, const std::optional<std::vector<Tensor>>& inputs,
                         const std::optional<std::vector<Tensor>>& outputs) {
  if (!inputs) return "an input is no tensor, such as a sequence";
  const auto loaded = probe.load(models::write_model(model).value(), EngineOptimisation::kNone);
  if (!loaded) return "the engine does not load it";
  if ((*loaded)->outputs().size() != model.graph.outputs.size()) return "an output is no tensor, such as a sequence";
  if (!outputs) return "the engine does not run it";
  // Random operators give other numbers each time.
  return outputs_of(probe, model, *inputs) == outputs ? "" : "it draws at random";
}

TEST_F(FuseTest, LeavesTheOutputsOfTheOperatorCases) {
  const fs::path data = "/usr/share/libonnx-testdata/data";
  if (!fs::exists(data)) GTEST_SKIP() << "no " << data << ": package libonnx-testdata";
  std::vector<fs::path> cases;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().filename() == "model.onnx") cases.push_back(entry.path());
  }
  std::ranges::sort(cases);
  std::size_t run_count = 0;
  std::map<std::string, int> left_out;
  for (const fs::path& path : cases) {
    const auto model = models::read_model(bytes_of(path), path.string(), nothing_outside);
    ASSERT_TRUE(model) << model.error().message;
    const auto inputs = inputs_in(path.parent_path() / "test_data_set_0", *model);
    const auto wanted = inputs ? outputs_of(probe(), *model, *inputs) : std::nullopt;
    if (const std::string why = why_left_out(probe(), *model, inputs, wanted); !why.empty()) {
      ++left_out[why];
      continue;
    }
    ++run_count;
    (void)fused(*model, *inputs, *wanted, path.parent_path().filename().string());
  }
  std::cout << run_count << " of " << cases.size() << " ran before and after; left out:\n";
  for (const auto& [why, count] : left_out) std::cout << "  " << count << ": " << why << "\n";
  EXPECT_GT(run_count, 500U);
}

}  // namespace
}  // namespace berth::edges
