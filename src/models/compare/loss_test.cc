#include "models/compare/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/core/rng.h"

namespace berth::models {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

Tensor floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  Tensor tensor{.name = "y", .type = TensorType::kFp32, .shape = shape};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor;
}

Tensor integers(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& values) {
  Tensor tensor{.name = "i", .type = TensorType::kInt64, .shape = shape};
  tensor.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
  return tensor;
}

/// An output whose largest values have these indices among three.
std::vector<Tensor> classes(const std::vector<int>& largest) {
  std::vector<float> values;
  for (const int index : largest) {
    for (int i = 0; i < 3; ++i) values.push_back(i == index ? 1.0F : 0.0F);
  }
  return {floats({static_cast<std::int64_t>(largest.size()), 3}, values)};
}

std::vector<std::int64_t> values_of(const std::vector<Tensor>& outputs) {
  return predictions_of(outputs).value().values;
}

TEST(Predictions, AreTheFirstLargestValueOfTheLastAxis) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(values_of(classes({2, 0, 1})), (Values{2, 0, 1}));
  EXPECT_EQ(values_of({floats({3, 2}, {1, 1, -2, -1, kNoNumber, 5})}), (Values{0, 1, -1}));
  const auto several = predictions_of(std::vector<Tensor>{floats({1, 2, 2}, {1, 2, 4, 3})}).value();
  EXPECT_EQ(several, (Predictions{.values = {1, 0}, .rows = 1, .classes = 2}));
}

TEST(Predictions, AreTheIntegersOfAnOutputWithOnePerRow) {
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(values_of({floats({2, 2}, {1, 0, 1, 0}), integers({2}, {7, -9})}), (Values{7, -9}));
  EXPECT_EQ(values_of({integers({2, 1}, {7, 9})}), (Values{7, 9}));
  EXPECT_EQ(values_of({integers({2, 2}, {7, 9, 1, 1}), floats({2, 2}, {0, 1, 1, 0})}), (Values{1, 0}));
}

TEST(Predictions, NeedSeveralValues) {
  EXPECT_FALSE(predictions_of(std::vector<Tensor>{floats({3}, {1, 2, 3})}));
  EXPECT_FALSE(predictions_of({}));
  const auto one = predictions_of(std::vector<Tensor>{floats({3, 1}, {1, 2, 3})});
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message.find("the metric error"), std::string::npos);
}

TEST(Loss, OfAccuracyIsInPoints) {
  const std::vector<std::int64_t> labels = {0, 1, 2, 0};
  const Loss loss = loss_of(Metric::kAccuracy, classes({0, 1, 2, 1}), classes({0, 2, 1, 0}), labels).value();
  EXPECT_EQ(loss.original, 0.75);
  EXPECT_EQ(loss.variant, 0.5);
  EXPECT_EQ(loss.loss, 0.25);
  EXPECT_EQ(loss.lost, 2U);
  EXPECT_EQ(loss.gained, 1U);
  EXPECT_LT(loss.low, 0.25);
  EXPECT_GT(loss.high, 0.25);
}

TEST(Loss, OfAgreementIsTheShareThatDiffers) {
  const Loss loss = loss_of(Metric::kAgreement, classes({0, 1, 2, 1}), classes({0, 2, 2, 1}), {}).value();
  EXPECT_EQ(loss.original, 1);
  EXPECT_EQ(loss.variant, 0.75);
  EXPECT_EQ(loss.loss, 0.25);
  EXPECT_EQ(loss.gained, 0U);
}

TEST(Loss, StaysHonestWhereNoRowDiffers) {
  const std::vector<std::int64_t> labels(540, 1);
  const auto same = classes(std::vector<int>(540, 1));
  const Loss agreement = loss_of(Metric::kAgreement, same, same, {}).value();
  EXPECT_EQ(agreement.low, 0);
  EXPECT_NEAR(agreement.high, 1 - std::pow(0.025, 1.0 / 540), 1e-9);
  const Loss accuracy = loss_of(Metric::kAccuracy, same, same, labels).value();
  EXPECT_NEAR(accuracy.high, 1 - std::pow(0.0125, 1.0 / 540), 1e-9);
  EXPECT_EQ(accuracy.low, -accuracy.high);
}

TEST(Loss, NamesWhatIsWrong) {
  const auto message = [](Metric metric, const std::vector<Tensor>& was, const std::vector<Tensor>& is,
                          const std::vector<std::int64_t>& labels) {
    const auto loss = loss_of(metric, was, is, labels);
    return loss ? "no error" : loss.error().message;
  };
  EXPECT_EQ(message(Metric::kAccuracy, classes({0}), classes({0}), {}),
            "the metric accuracy: wanted an array of labels, found none");
  EXPECT_EQ(message(Metric::kAccuracy, classes({0, 1}), classes({0, 1}), {0, 3}),
            "label: wanted integers from 0 to 2, as the model has 3 classes, found 3 in row 1");
  EXPECT_NE(message(Metric::kAccuracy, {floats({1, 2, 2}, {1, 2, 3, 4})}, {floats({1, 2, 2}, {1, 2, 3, 4})}, {0})
                .find("one prediction per row, found 2"),
            std::string::npos);
  EXPECT_NE(message(Metric::kAgreement, classes({0}), classes({0, 1}), {}), "no error");
  EXPECT_NE(message(Metric::kError, classes({0}), classes({0, 1}), {}), "no error");
  EXPECT_NE(message(Metric::kError, {integers({1}, {1})}, {integers({1}, {1})}, {}), "no error");
}

TEST(Loss, OfErrorIsTheShareOfTheDifference) {
  const auto error = [](const std::vector<float>& was, const std::vector<float>& is) {
    const auto rows = static_cast<std::int64_t>(was.size() / 2);
    return loss_of(Metric::kError, std::vector<Tensor>{floats({rows, 2}, was)},
                   std::vector<Tensor>{floats({rows, 2}, is)}, {})
        .value();
  };
  const Loss two = error({3, 4, 0, 0}, {3, 4, 3, 0});
  EXPECT_NEAR(two.loss, 0.6, 1e-12);
  EXPECT_LE(two.low, two.loss);
  EXPECT_GE(two.high, two.loss);
  EXPECT_EQ(error({1, 2, 3, 4}, {1, 2, 3, 4}).high, 0);
  EXPECT_EQ(error({3, 4}, {3, 5}).high, kEndless) << "one row says nothing of others";
  EXPECT_EQ(error({3, 4, 1, 1}, {3, kNoNumber, 1, 1}).loss, kEndless);
  EXPECT_EQ(error({0, 0, 0, 0}, {0, 0, 0, 0}).loss, 0);
  EXPECT_EQ(error({0, 0, 0, 0}, {0, 1, 0, 0}).loss, kEndless);
}

/// P(lost, gained) among `n` rows.
double probability(int n, int lost, int gained, double share_lost, double share_gained) {
  const int same = n - lost - gained;
  return std::exp(std::lgamma(n + 1) - std::lgamma(lost + 1) - std::lgamma(gained + 1) - std::lgamma(same + 1) +
                  lost * std::log(share_lost) + gained * std::log(share_gained) +
                  same * std::log1p(-share_lost - share_gained));
}

/// Of `n` rows, the first ones are lost, the next ones gained.
Loss measured(int n, int lost, int gained) {
  std::vector<int> was;
  std::vector<int> is;
  for (int row = 0; row < n; ++row) {
    was.push_back(row >= lost && row < lost + gained ? 1 : 0);
    is.push_back(row < lost ? 1 : 0);
  }
  const std::vector<std::int64_t> labels(static_cast<std::size_t>(n), 0);
  return loss_of(Metric::kAccuracy, classes(was), classes(is), labels).value();
}

TEST(Loss, TheIntervalCoversTheTrueLossWhateverItIs) {
  constexpr int kRows = 14;
  std::vector<Loss> losses;
  for (int lost = 0; lost <= kRows; ++lost) {
    for (int gained = 0; gained <= kRows - lost; ++gained) losses.push_back(measured(kRows, lost, gained));
  }
  for (double share_lost = 0.001; share_lost < 0.99; share_lost += 0.037) {
    for (double share_gained = 0.001; share_lost + share_gained < 0.999; share_gained += 0.037) {
      double covered = 0;
      for (const Loss& loss : losses) {
        if (loss.low > share_lost - share_gained || loss.high < share_lost - share_gained) continue;
        covered +=
            probability(kRows, static_cast<int>(loss.lost), static_cast<int>(loss.gained), share_lost, share_gained);
      }
      EXPECT_GE(covered, 0.95) << share_lost << " " << share_gained;
    }
  }
}

TEST(Loss, TheIntervalOfTheErrorCoversTheTrueOne) {
  constexpr int kTrials = 500;
  constexpr std::int64_t kRows = 100;
  Rng rng(3);
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<float> was;
    std::vector<float> is;
    for (int i = 0; i < kRows * 2; ++i) {
      was.push_back(static_cast<float>(2 * rng.unit() - 1));
      is.push_back(was.back() + static_cast<float>(0.2 * (2 * rng.unit() - 1)));
    }
    const Loss loss = loss_of(Metric::kError, std::vector<Tensor>{floats({kRows, 2}, was)},
                              std::vector<Tensor>{floats({kRows, 2}, is)}, {})
                          .value();
    covered += loss.low <= 0.2 && loss.high >= 0.2 ? 1 : 0;  // the RMS of both grows with the width alone
  }
  EXPECT_GE(covered, kTrials * 93 / 100);
  EXPECT_LE(covered, kTrials * 98 / 100) << "and is no wider than it must be";
}

TEST(RowsNeeded, MakeTheIntervalNarrowEnough) {
  for (const auto& [lost, gained] : {std::pair(0, 0), std::pair(2, 1)}) {
    const Loss loss = measured(300, lost, gained);
    const auto needed = rows_needed(loss, 0.005);
    ASSERT_TRUE(needed);
    EXPECT_GT(*needed, 300U);
    if (lost == 0) {
      const Loss more = measured(static_cast<int>(*needed), 0, 0);
      EXPECT_LE(more.high - more.low, 0.01);
      const Loss less = measured(static_cast<int>(*needed) - 1, 0, 0);
      EXPECT_GT(less.high - less.low, 0.01);
    }
  }
  EXPECT_EQ(rows_needed(measured(300, 0, 0), 0.5), 300U);
  EXPECT_EQ(rows_needed(measured(300, 3, 0), 0), std::nullopt);
  EXPECT_EQ(rows_needed({.metric = Metric::kError, .low = 0.1, .high = 0.3, .rows = 100}, 0.05), 400U);
}

TEST(Metric, HasAName) {
  for (const Metric metric : {Metric::kAccuracy, Metric::kAgreement, Metric::kError}) {
    EXPECT_EQ(metric_named(name_of(metric)), metric);
  }
  EXPECT_EQ(metric_named("loss"), std::nullopt);
}

}  // namespace
}  // namespace berth::models
