#include "models/optimize/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/onnx/read_model.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

using std::chrono::nanoseconds;
using ::testing::HasSubstr;

Result<std::string> no_outside(const std::string&, std::uint64_t, std::uint64_t) { return invalid("none"); }

ValueInfo row_value(const std::string& name) {
  return {.name = name, .type = ElementType::kFloat, .shape = std::vector<Dimension>{{.symbol = "N"}, {.size = 2}}};
}

/// Relu after so many nodes Identity.
Model chain_model(int identities) {
  Model model;
  model.ir_version = 8;
  model.opsets[""] = 17;
  model.graph.name = "g";
  std::string value = "x";
  for (int i = 0; i < identities; ++i) {
    const std::string next = "v" + std::to_string(i);
    model.graph.nodes.push_back({.op = "Identity", .inputs = {value}, .outputs = {next}});
    value = next;
  }
  model.graph.nodes.push_back({.op = "Relu", .inputs = {value}, .outputs = {"y"}});
  model.graph.inputs = {row_value("x")};
  model.graph.outputs = {row_value("y")};
  return model;
}

/// An engine for such chains: each node takes a microsecond of a clock that only it moves.
struct FakeEngine {
  Instant now = Instant::at_second(1);
  std::size_t nodes_wrong_below = 0;  ///< models with fewer nodes give other outputs
  bool is_stopped = false;
  int loads = 0;
};

class FakeLoaded final : public ProbedModel {
 public:
  FakeLoaded(FakeEngine& engine, const Model& model) : engine_(engine), nodes_(model.graph.nodes.size()) {
    for (const ValueInfo& output : model.graph.outputs) {
      outputs_.push_back({.name = output.name, .type = TensorType::kFp32, .shape = {-1, 2}});
    }
  }

  [[nodiscard]] std::span<const TensorSignature> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorSignature> outputs() const override { return outputs_; }
  [[nodiscard]] Result<std::vector<Tensor>> run(std::span<const Tensor> inputs,
                                                std::span<const std::string> wanted) override {
    std::vector<Tensor> outputs;
    for (const std::string& name : wanted) {
      Tensor output = inputs.front();
      output.name = name;
      if (nodes_ < engine_.nodes_wrong_below) output.bytes = std::string(output.bytes.size(), '\0');
      outputs.push_back(std::move(output));
    }
    return outputs;
  }
  [[nodiscard]] Result<nanoseconds> time(std::span<const Tensor>, int runs) override {
    engine_.now = engine_.now + Micros(static_cast<std::int64_t>(nodes_) * runs);
    return nanoseconds(1000 * static_cast<std::int64_t>(nodes_));
  }

 private:
  FakeEngine& engine_;
  std::size_t nodes_;
  std::vector<TensorSignature> inputs_ = {{.name = "x", .type = TensorType::kFp32, .shape = {-1, 2}}};
  std::vector<TensorSignature> outputs_ = {};
};

class FakeProbe final : public ModelProbe {
 public:
  explicit FakeProbe(FakeEngine& engine) : engine_(engine) {}

  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::string device() const override { return "none"; }
  [[nodiscard]] Result<std::unique_ptr<ProbedModel>> load(std::string_view bytes, EngineOptimisation) override {
    ++engine_.loads;
    const auto model = read_model(bytes, "m", no_outside);
    if (!model) return pass_on(model.error());
    return std::make_unique<FakeLoaded>(engine_, *model);
  }
  [[nodiscard]] Result<ModelFootprint> footprint(const std::string&, std::span<const Tensor>) override {
    return invalid("not used");
  }

 private:
  FakeEngine& engine_;
};

RowSet rows_of(std::vector<float> values) {
  std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  const auto count = static_cast<std::int64_t>(values.size() / 2);
  return {.inputs = {{.name = "x", .type = TensorType::kFp32, .shape = {count, 2}, .bytes = std::move(bytes)}},
          .count = values.size() / 2};
}

class OptimizeTest : public ::testing::Test {
 protected:
  Result<OptimizeOutcome> run(const Model& model, const OptimizeTerms& terms) {
    const OptimizeTools tools = {
        .probe = probe_,
        .now = [this] { return engine_.now; },
        .should_stop = [this] { return engine_.is_stopped; },
        .footprints = [](std::string_view bytes, std::span<const Tensor>,
                         int processes) -> Result<std::vector<ModelFootprint>> {
          const auto size = static_cast<std::int64_t>(bytes.size());
          return std::vector<ModelFootprint>(
              static_cast<std::size_t>(processes),
              {.load = std::chrono::microseconds(5), .loaded_bytes = size, .run_bytes = 2 * size});
        },
        .report = [](std::string_view) {}};
    return optimize({.original = model, .file_bytes = 1000, .rows = rows_, .model_name = "m", .data_name = "d"}, terms,
                    tools);
  }

  static OptimizeTerms fuse_terms() {
    OptimizeTerms terms;
    terms.methods = {Method::kFuse};
    terms.batches = {1, 4};
    return terms;
  }

  FakeEngine engine_;
  FakeProbe probe_{engine_};
  OptimizeRows rows_ = {.calibration = rows_of({1, 2, 4, 3}),
                        .choosing = rows_of({5, 1, 2, 6, 7, 1}),
                        .judging = rows_of({8, 1, 3, 9, 2, 4})};
};

TEST_F(OptimizeTest, KeepsWhatIsFaster) {
  const auto outcome = run(chain_model(4), fuse_terms());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->findings.recommended, "fuse");
  ASSERT_EQ(outcome->findings.variants.size(), 1U);
  const VariantRecord& variant = outcome->findings.variants.front();
  EXPECT_TRUE(variant.is_kept);
  EXPECT_EQ(variant.figures->model.nodes, 1);
  EXPECT_EQ(outcome->findings.original.nodes, 5);
  ASSERT_EQ(variant.figures->latency.size(), 2U);
  EXPECT_DOUBLE_EQ(variant.figures->time_ratio.value, 0.2);
  EXPECT_EQ(variant.figures->judging.rows, 3);
  EXPECT_EQ(outcome->files.size(), 1U);
  const auto written = read_model(outcome->files.at("fuse"), "m", no_outside);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->graph.nodes.size(), 1U);
}

TEST_F(OptimizeTest, SaysThatThereIsNothingToSimplify) {
  const auto outcome = run(chain_model(0), fuse_terms());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->findings.recommended, "");
  EXPECT_EQ(outcome->findings.variants.front().reason, "there is nothing to simplify");
  EXPECT_TRUE(outcome->files.empty());
}

/// A product in both branches: no method looks into them, and that is said.
TEST_F(OptimizeTest, SaysWhatStaysInBranches) {
  Graph branch;
  branch.name = "branch";
  branch.nodes = {{.op = "MatMul", .inputs = {"x", "x"}, .outputs = {"product"}}};
  branch.outputs = {{.name = "product", .type = ElementType::kFloat}};
  Model model = chain_model(0);
  const auto inner = std::make_shared<const Graph>(branch);
  model.graph.nodes = {{.op = "If",
                        .inputs = {"x"},
                        .outputs = {"y"},
                        .attributes = {{"else_branch", GraphPtr(inner)}, {"then_branch", GraphPtr(inner)}}}};
  OptimizeTerms terms = fuse_terms();
  terms.methods = {Method::kPrune, Method::kInt8};
  const auto outcome = run(model, terms);
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(outcome->findings.variants.size(), 2U);
  for (const VariantRecord& variant : outcome->findings.variants) {
    EXPECT_THAT(variant.reason, HasSubstr("2 inside branches or loops, which stay as they are"));
  }
}

TEST_F(OptimizeTest, UndoesAndNamesAPassThatChangesOutputs) {
  engine_.nodes_wrong_below = 5;
  const auto outcome = run(chain_model(4), fuse_terms());
  ASSERT_TRUE(outcome) << outcome.error().message;
  const VariantRecord& variant = outcome->findings.variants.front();
  EXPECT_FALSE(variant.is_kept);
  ASSERT_FALSE(variant.passes.empty());
  EXPECT_TRUE(variant.passes.front().is_undone);
  EXPECT_THAT(variant.passes.front().reason, HasSubstr("found a difference of 1"));
}

TEST_F(OptimizeTest, NamesWhatThereIsNoTimeFor) {
  OptimizeTerms terms = fuse_terms();
  terms.methods = {Method::kFuse, Method::kPrune, Method::kInt8, Method::kFp16};
  terms.budget_seconds = 1;
  const auto outcome = run(chain_model(4), terms);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_THAT(outcome->findings.left_out.front(), HasSubstr("fp16: not tried"));
  for (const VariantRecord& variant : outcome->findings.variants) {
    EXPECT_EQ(variant.reason.empty(), variant.is_kept) << variant.name;
  }
}

TEST_F(OptimizeTest, EndsWhenItIsStopped) {
  engine_.is_stopped = true;
  const auto outcome = run(chain_model(4), fuse_terms());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInterrupted);
}

TEST_F(OptimizeTest, WantsLabelsForAccuracy) {
  OptimizeTerms terms = fuse_terms();
  terms.metric = Metric::kAccuracy;
  const auto outcome = run(chain_model(1), terms);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(outcome.error().message, HasSubstr("m with d: "));
}

TEST_F(OptimizeTest, GivesTheSameBytesTwice) {
  const auto first = run(chain_model(3), fuse_terms());
  const auto second = run(chain_model(3), fuse_terms());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->files, second->files);
}

}  // namespace
}  // namespace berth::models
