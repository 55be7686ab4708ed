#include "models/fuse/fold_constants.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "models/fuse/testing/small_model.h"

namespace berth::models {
namespace {

using testing::Names;
using testing::SmallModel;

/// An engine that gives these values, and notes what it was asked for; errors for others.
Evaluate answers(std::map<std::string, ConstantPtr> values, std::vector<Names>& asked) {
  return [values = std::move(values), &asked](const Model& model) -> Result<std::vector<ConstantPtr>> {
    Names names;
    for (const ValueInfo& output : model.graph.outputs) names.push_back(output.name);
    asked.push_back(names);
    EXPECT_TRUE(model.graph.inputs.empty());
    EXPECT_TRUE(check_names(model.graph));
    std::vector<ConstantPtr> found;
    for (const std::string& name : names) {
      if (!values.contains(name)) return invalid("no kernel");
      found.push_back(values.at(name));
    }
    return found;
  };
}

TEST(FoldConstants, AsksOnceForWhatIsUsed) {
  std::vector<Names> asked;
  SmallModel small;
  small.evaluate = answers({{"b", floats({2}, {5, 6})}, {"c", floats({2}, {7, 8})}}, asked);
  small.input("x", {2}).weight("w", floats({2}, {1, 2}));
  small.node("Exp", {"w"}, {"a"})
      .node("Neg", {"a"}, {"b"})
      .node("Sqrt", {"w"}, {"c"})
      .node("Sum", {"x", "b", "c"}, {"y"})
      .output("y");
  EXPECT_TRUE(small.apply(fold_constants));
  EXPECT_EQ(asked, (std::vector<Names>{{"b", "c"}}));
  EXPECT_EQ(small.ops(), Names{"Sum"});
  EXPECT_EQ(small.floats_at("b"), (std::vector<float>{5, 6}));
  EXPECT_FALSE(small.model.graph.initializers.contains("w"));
  EXPECT_FALSE(small.apply(fold_constants));
}

/// x + c * d, where the graph around makes c, which only this one takes.
GraphPtr branch_with_constants(const std::string& result) {
  Graph branch;
  branch.initializers["w2"] = floats({2}, {3, 4});
  branch.nodes = {{.op = "Mul", .inputs = {"c", "w2"}, .outputs = {"d"}},
                  {.op = "Add", .inputs = {"x", "d"}, .outputs = {result}}};
  branch.outputs = {{.name = result, .type = ElementType::kFloat}};
  return std::make_shared<const Graph>(std::move(branch));
}

TEST(FoldConstants, ReachesIntoBranchesAndTakesWeightsFromAround) {
  std::vector<Names> asked;
  SmallModel small;
  small.evaluate = answers({{"c", floats({2}, {5, 6})}, {"d", floats({2}, {15, 24})}}, asked);
  small.input("x", {2}).input("condition", {}, ElementType::kBool).weight("w", floats({2}, {1, 2}));
  small.node("Exp", {"w"}, {"c"})
      .node("If", {"condition"}, {"y"}, {{"then_branch", branch_with_constants("y1")}})
      .output("y");
  EXPECT_TRUE(small.apply(fold_constants));
  EXPECT_EQ(asked, (std::vector<Names>{{"c"}, {"d"}}));
  EXPECT_EQ(small.ops(), Names{"If"});
  EXPECT_TRUE(small.model.graph.initializers.empty());
  const Graph& branch = *graphs_in(small.first("If")).front();
  ASSERT_EQ(branch.nodes.size(), 1U);
  EXPECT_EQ(to_floats(*branch.initializers.at("d")), (std::vector<float>{15, 24}));
  EXPECT_FALSE(small.apply(fold_constants));
}

TEST(FoldConstants, WhatALoopCarriesIsNotConstant) {
  std::vector<Names> asked;
  SmallModel small;
  small.evaluate = answers({}, asked);
  Graph body;
  body.inputs = {{.name = "step", .type = ElementType::kInt64},
                 {.name = "go", .type = ElementType::kBool},
                 {.name = "sum", .type = ElementType::kFloat}};
  body.initializers["w"] = floats({2}, {3, 4});
  body.nodes = {{.op = "Identity", .inputs = {"go"}, .outputs = {"go_on"}},
                {.op = "Add", .inputs = {"sum", "w"}, .outputs = {"sum_next"}}};
  body.outputs = {{.name = "go_on", .type = ElementType::kBool}, {.name = "sum_next", .type = ElementType::kFloat}};
  // Default values of the graph's inputs are not constant inside either.
  small.input("x", {2}).weight("x", floats({2}, {0, 0})).weight("n", int64s({}, {3}));
  small.node("Loop", {"n", "", "x"}, {"y"}, {{"body", std::make_shared<const Graph>(std::move(body))}}).output("y");
  EXPECT_FALSE(small.apply(fold_constants));
  EXPECT_TRUE(asked.empty());
}

TEST(FoldConstants, WhatTheEngineCannotComputeStays) {
  std::vector<Names> asked;
  SmallModel small;
  small.evaluate = answers({{"c", floats({2}, {7, 8})}}, asked);
  small.input("x", {2}).weight("w", floats({2}, {1, 2}));
  small.node("Exp", {"w"}, {"a"}).node("Sqrt", {"w"}, {"c"}).node("Sum", {"x", "a", "c"}, {"y"}).output("y");
  EXPECT_TRUE(small.apply(fold_constants));
  EXPECT_EQ(small.ops(), (Names{"Exp", "Sum"}));
}

TEST(FoldConstants, InterruptsEndIt) {
  SmallModel small;
  small.evaluate = [](const Model&) -> Result<std::vector<ConstantPtr>> {
    return fail(ErrorCode::kInterrupted, "stop");
  };
  small.weight("w", floats({2}, {1, 2})).input("x", {2});
  small.node("Exp", {"w"}, {"a"}).node("Add", {"x", "a"}, {"y"}).output("y");
  const auto folded = fold_constants(small.model, {.shapes = small.shapes, .evaluate = small.evaluate});
  ASSERT_FALSE(folded);
  EXPECT_EQ(folded.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(small.ops(), (Names{"Exp", "Add"}));
}

TEST(FoldConstants, LeavesWhatIsNotConstant) {
  std::vector<Names> asked;
  SmallModel small;
  small.evaluate = answers({}, asked);
  small.input("w", {2}).weight("w", floats({2}, {1, 2})).weight("q", uint8s({2}, {1, 2})).weight("s", floats({}, {1}));
  small.node("Exp", {"w"}, {"a"})
      .node("RandomUniformLike", {"s"}, {"b"})
      .node("DequantizeLinear", {"q", "s"}, {"c"})
      .node("Exp", {"s"}, {"out"})
      .node("Sum", {"a", "b", "c"}, {"y"})
      .output("y")
      .output("out");
  EXPECT_FALSE(small.apply(fold_constants));
  EXPECT_TRUE(asked.empty());
}

/// ConstantOfShape to `count` floats, of which the engine says the shape before or not.
bool folds(std::int64_t count, bool is_known, std::vector<Names>& asked) {
  SmallModel small;
  small.evaluate = answers({{"a", floats({count}, std::vector<float>(static_cast<std::size_t>(count)))}}, asked);
  small.input("x", {count}).weight("n", int64s({1}, {count}));
  if (is_known) small.shape("a", {count});
  small.node("ConstantOfShape", {"n"}, {"a"}).node("Add", {"x", "a"}, {"y"}).output("y");
  return small.apply(fold_constants);
}

TEST(FoldConstants, DoesNotMakeTheFileMuchLarger) {
  std::vector<Names> asked;
  EXPECT_TRUE(folds(1000, false, asked));
  EXPECT_FALSE(folds(100'000, false, asked));
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_FALSE(folds(100'000, true, asked));
  EXPECT_EQ(asked.size(), 2U) << "asked for what is known to be too large";
}

}  // namespace
}  // namespace berth::models
