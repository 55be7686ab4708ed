#include "models/int8/choose_int8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "models/graph/graph_index.h"
#include "models/int8/testing/small_graphs.h"

namespace berth::models {
namespace {

using ::berth::testing::float_shapes;
using ::berth::testing::int8_model;
using ::berth::testing::int8_node;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Model perceptron_of_three() {
  return int8_model({int8_node("Gemm", {"x", "w", "b"}, "g"), int8_node("Relu", {"g"}, "r"),
                     int8_node("Gemm", {"r", "w", "b"}, "h"), int8_node("Relu", {"h"}, "s"),
                     int8_node("Gemm", {"s", "w", "b"}, "y")});
}

CalibrationStatistics some_statistics(const Model& model) {
  CalibrationStatistics statistics;
  for (const std::string& value : values_to_observe(model, float_shapes(model.graph))) {
    std::vector<float> values;
    for (int i = -100; i <= 1000; ++i) values.push_back(static_cast<float>(i));
    statistics.all[value].add(values);
    for (StatisticsByValue& half : statistics.halves) half[value].add(values);
  }
  return statistics;
}

/// What a model is, as the trials see it.
struct Seen {
  bool is_signed = false;
  bool has_eight_bits = false;
  std::size_t integer_gemms = 0;
  bool is_first_integer = false;
};

Seen look_at(const Model& model) {
  Seen seen;
  const GraphIndex index(model.graph);
  for (const Node& each : model.graph.nodes) {
    if (each.op == "QuantizeLinear") {
      seen.is_signed = model.graph.initializers.at(each.inputs[2])->type == ElementType::kInt8;
    }
    const auto weights = each.op == "Gemm" ? index.maker(each.inputs[1]) : std::nullopt;
    if (!weights) continue;
    ++seen.integer_gemms;
    if (each.outputs.front().starts_with("g")) seen.is_first_integer = true;
    const Constant& integers = *model.graph.initializers.at(model.graph.nodes[*weights].inputs[0]);
    seen.has_eight_bits |= std::ranges::any_of(integers.bytes, [](char byte) { return byte > 63; });
  }
  return seen;
}

/// Of the activations: the smaller, the more is cut off.
float smallest_scale(const Model& model) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const Node& node : model.graph.nodes) {
    if (node.op != "QuantizeLinear") continue;
    smallest = std::min(smallest, to_floats(*model.graph.initializers.at(node.inputs[1])).front());
  }
  return smallest;
}

struct Answers {
  std::function<double(const Seen&)> sqnr_db = [](const Seen&) { return 30.0; };
  std::function<double(const Seen&)> loss = [](const Seen&) { return 0.0; };
  std::function<double(const Seen&)> time = [](const Seen&) { return 1.0; };
  std::function<std::vector<double>(float)> row_noise = [](float) { return std::vector<double>{1, 2}; };
  int sqnr_calls_max = 1000;
};

Int8Choice choose(const Model& model, const Int8Options& options, const Answers& answers) {
  int calls = 0;
  const Trials trials = {.loss = [&](const Model& asked) -> Result<double> { return answers.loss(look_at(asked)); },
                         .sqnr_db = [&](const Model& asked) -> Result<double> {
                           ++calls;
                           return answers.sqnr_db(look_at(asked));
                         },
                         .row_noise = [&](const Model& asked) -> Result<std::vector<double>> {
                           return answers.row_noise(smallest_scale(asked));
                         },
                         .time_ratio = [&](const Model& asked, const Model& than) -> Result<double> {
                           return answers.time(look_at(asked)) / answers.time(look_at(than));
                         },
                         .has_time = [&] { return calls < answers.sqnr_calls_max; }};
  Result<Int8Choice> choice = choose_int8(model, float_shapes(model.graph), some_statistics(model), options, trials);
  EXPECT_TRUE(choice) << choice.error().message;
  return std::move(*choice);
}

constexpr Int8Options kMinMaxOnly = {.rule = RangeRule::kMinMax, .loss_max = 0.01};

TEST(ChooseInt8, TakesUnsignedAndEightBitsWhereNothingDiffers) {
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly, {});
  EXPECT_EQ(choice.settings, Int8Settings{});
  EXPECT_EQ(look_at(choice.model).integer_gemms, 3U);
  EXPECT_THAT(choice.float_nodes, IsEmpty());
  EXPECT_THAT(choice.unfinished, IsEmpty());
  EXPECT_EQ(choice.sqnr_db, 30);
  ASSERT_EQ(choice.layers.size(), 3U);
  EXPECT_EQ(choice.layers.front().output, "g");
  EXPECT_GT(choice.layers.front().input_sqnr_db, 20);
}

TEST(ChooseInt8, TakesSevenBitsWhereEightSaturate) {
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly,
                                   {.sqnr_db = [](const Seen& seen) { return seen.has_eight_bits ? 10.0 : 30.0; }});
  EXPECT_EQ(choice.settings.weight_bits, 7);
  EXPECT_FALSE(choice.settings.activations.is_signed);
}

TEST(ChooseInt8, TakesSignedActivationsWhereTheyAreFaster) {
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly,
                                   {.sqnr_db = [](const Seen& seen) { return seen.is_signed ? 29.0 : 30.0; },
                                    .time = [](const Seen& seen) { return seen.is_signed ? 0.5 : 1.0; }});
  EXPECT_TRUE(choice.settings.activations.is_signed);
}

TEST(ChooseInt8, DoesNotPayMuchTimeForSignalThatTheLossDoesNotNeed) {
  Answers answers = {.sqnr_db = [](const Seen& seen) { return seen.is_signed ? 40.0 : 30.0; },
                     .time = [](const Seen& seen) { return seen.is_signed ? 1.5 : 1.0; }};
  EXPECT_FALSE(choose(perceptron_of_three(), kMinMaxOnly, answers).settings.activations.is_signed);
  answers.loss = [](const Seen& seen) { return seen.is_signed ? 0.0 : 0.5; };
  EXPECT_TRUE(choose(perceptron_of_three(), kMinMaxOnly, answers).settings.activations.is_signed);
}

TEST(ChooseInt8, ReturnsTheNodeThatCostsTheLossToFloat) {
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly,
                                   {.sqnr_db = [](const Seen& seen) { return seen.is_first_integer ? 20.0 : 30.0; },
                                    .loss = [](const Seen& seen) { return seen.is_first_integer ? 0.5 : 0.0; }});
  EXPECT_THAT(choice.float_nodes, ElementsAre("g"));
  EXPECT_EQ(choice.loss, 0);
  EXPECT_EQ(choice.layers.size(), 2U);
}

TEST(ChooseInt8, ReturnsTheNodeThatCostsLessTimeForTheSame) {
  const auto is_last_integer = [](const Seen& seen) { return seen.integer_gemms - (seen.is_first_integer ? 1 : 0); };
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly,
                                   {.loss = [](const Seen& seen) { return seen.integer_gemms == 3 ? 0.5 : 0.0; },
                                    .time =
                                        [&](const Seen& seen) {
                                          // The first is expensive in float, the others are not.
                                          return (seen.is_first_integer ? 0.0 : 1.0) + 1.1 -
                                                 0.01 * static_cast<double>(is_last_integer(seen));
                                        }});
  EXPECT_EQ(choice.float_nodes.size(), 1U);
  EXPECT_FALSE(choice.float_nodes.contains("g"));
}

TEST(ChooseInt8, KeepsOneNodeOfIntegersAndSaysTheLoss) {
  const Int8Choice choice = choose(perceptron_of_three(), kMinMaxOnly, {.loss = [](const Seen&) { return 0.5; }});
  EXPECT_EQ(choice.layers.size(), 1U);
  EXPECT_EQ(choice.loss, 0.5);
}

TEST(ChooseInt8, EndsWhenTheTimeIsUsedUpAndSaysWhatItLeftOut) {
  const Int8Choice choice = choose(perceptron_of_three(), {.rule = RangeRule::kBest, .loss_max = 0.01},
                                   {.loss = [](const Seen&) { return 0.5; }, .sqnr_calls_max = 1});
  EXPECT_EQ(choice.settings, Int8Settings{});
  EXPECT_EQ(choice.unfinished.size(), 4U);
  EXPECT_EQ(choice.loss, 0.5);
}

/// What comes of it where ranges other than min-max seem better by SQNR, and rows have this noise.
Int8Choice choose_ranges(const std::vector<double>& plain_noise, const std::vector<double>& other_noise) {
  const Model model = perceptron_of_three();
  const float plain = smallest_scale(choose(model, kMinMaxOnly, {}).model);
  double sqnr_db = 30;
  Answers answers;
  answers.row_noise = [&](float scale) { return scale == plain ? plain_noise : other_noise; };
  answers.sqnr_db = [&](const Seen&) { return sqnr_db += 0.1; };  // each trial seems better than those before
  return choose(model, {.rule = RangeRule::kBest, .loss_max = 0.01}, answers);
}

TEST(ChooseInt8, TakesOtherRangesThanMinMaxWithAProofOnly) {
  const float plain = smallest_scale(choose(perceptron_of_three(), kMinMaxOnly, {}).model);
  EXPECT_NE(smallest_scale(choose_ranges({4, 5, 6, 5}, {1, 2, 3, 2}).model), plain);
  EXPECT_EQ(smallest_scale(choose_ranges({4, 5, 6, 5}, {1, 2, 3, 13}).model), plain) << "one row judges otherwise";
  EXPECT_EQ(smallest_scale(choose_ranges({4, 5, 6, 5}, {4, 5, 6, 5}).model), plain);
}

TEST(ChooseInt8, PassesErrorsOn) {
  const Model model = perceptron_of_three();
  const Trials trials = {.loss = [](const Model&) -> Result<double> { return 0.0; },
                         .sqnr_db = [](const Model&) -> Result<double> { return invalid("no engine"); },
                         .row_noise = [](const Model&) -> Result<std::vector<double>> { return invalid("no engine"); },
                         .time_ratio = [](const Model&, const Model&) -> Result<double> { return 1.0; },
                         .has_time = [] { return true; }};
  const auto choice = choose_int8(model, float_shapes(model.graph), some_statistics(model), {}, trials);
  ASSERT_FALSE(choice);
  EXPECT_EQ(choice.error().message, "no engine");
}

}  // namespace
}  // namespace berth::models
