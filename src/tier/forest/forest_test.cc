#include "tier/forest/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/core/archive.h"
#include "base/core/rng.h"
#include "tier/forest/grow.h"

namespace berth::tier {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Target: 2 where the first feature is at least 0.5, else 0; the second is unknown in every third row, the third
/// noise.
ForestRows step_rows(std::size_t count) {
  Rng rng(7);
  ForestRows rows{.feature_count = 3, .features = {}, .targets = {}, .weights = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const double first = rng.unit();
    rows.features.insert(rows.features.end(), {first, i % 3 == 0 ? kUnknown : first * first, rng.unit()});
    rows.targets.push_back(first >= 0.5 ? 2 : 0);
    rows.weights.push_back(1);
  }
  return rows;
}

std::string bytes_of(const Forest& forest) {
  ArchiveWriter writer;
  writer(forest);
  return writer.take();
}

TEST(Forest, LearnsAStep) {
  const Result<Forest> forest = grow_forest(step_rows(400), {});
  ASSERT_TRUE(forest) << forest.error().message;
  EXPECT_EQ(forest->trees().size(), 100U);
  EXPECT_NEAR(forest->predict(std::vector{0.9, 0.81, 0.5}), 2, 0.05);
  EXPECT_NEAR(forest->predict(std::vector{0.1, 0.01, 0.5}), 0, 0.05);
  EXPECT_NEAR(forest->predict(std::vector{0.9, kUnknown, 0.5}), 2, 0.2);
  const std::vector<double> gains = forest->gains();
  EXPECT_NEAR(gains[0] + gains[1] + gains[2], 1, 1e-9);
  EXPECT_GT(gains[0], 10 * gains[2]);
}

TEST(Forest, TheSameRowsAndSeedGiveTheSameBytes) {
  const Result<Forest> one = grow_forest(step_rows(200), {.seed = 3});
  const Result<Forest> two = grow_forest(step_rows(200), {.seed = 3});
  const Result<Forest> other = grow_forest(step_rows(200), {.seed = 4});
  ASSERT_TRUE(one && two && other);
  EXPECT_EQ(bytes_of(*one), bytes_of(*two));
  EXPECT_NE(bytes_of(*one), bytes_of(*other));
}

TEST(Forest, ReasonsAddUpToThePrediction) {
  const Result<Forest> forest = grow_forest(step_rows(200), {});
  ASSERT_TRUE(forest);
  for (const std::vector<double>& row : {std::vector{0.2, 0.04, 0.9}, std::vector{0.7, kUnknown, 0.1}}) {
    const ForestReasons reasons = forest->reasons(row);
    EXPECT_NEAR(reasons.base + reasons.shares[0] + reasons.shares[1] + reasons.shares[2], forest->predict(row), 1e-9);
  }
}

TEST(Forest, ALeafIsTheWeightedMeanOfItsTargets) {
  const ForestRows rows{.feature_count = 1, .features = {1, 1, 1}, .targets = {1, 2, 6}, .weights = {2, 1, 1}};
  const Result<Forest> forest = grow_forest(rows, {.trees = 1, .rows_share = 1});
  ASSERT_TRUE(forest);
  EXPECT_NEAR(forest->predict(std::vector{5.0}), (2 + 2 + 6) / 4.0, 1e-6);
}

TEST(Forest, ComesBackFromItsBytes) {
  const Result<Forest> forest = grow_forest(step_rows(100), {.trees = 5});
  ASSERT_TRUE(forest);
  const std::string bytes = bytes_of(*forest);
  ArchiveReader reader(bytes);
  Forest read;
  reader(read);
  ASSERT_TRUE(reader.is_at_end());
  EXPECT_EQ(read, *forest);
}

TEST(Forest, ATreeThatLeadsOutsideIsNotWellFormed) {
  const TreeNode leaf{.value = 1};
  const TreeNode split{.feature = 0, .left = 1, .right = 2};
  EXPECT_TRUE(Forest::is_well_formed({split, leaf, leaf}, 1));
  EXPECT_FALSE(Forest::is_well_formed({}, 1));
  EXPECT_FALSE(Forest::is_well_formed({split, leaf}, 1));
  EXPECT_FALSE(Forest::is_well_formed({{.feature = 1, .left = 1, .right = 2}, leaf, leaf}, 1));
  EXPECT_FALSE(Forest::is_well_formed({{.feature = 0, .left = 1, .right = 0}, leaf, leaf}, 1));
  EXPECT_FALSE(Forest::is_well_formed({split, {.feature = 0, .left = 1, .right = 2}, leaf}, 1));
  EXPECT_FALSE(Forest::is_well_formed({{.value = kUnknown}}, 1));
}

TEST(Forest, BadRowsAreErrors) {
  EXPECT_FALSE(grow_forest({.feature_count = 1, .features = {}, .targets = {}, .weights = {}}, {}));
  EXPECT_FALSE(grow_forest({.feature_count = 1, .features = {1}, .targets = {kUnknown}, .weights = {1}}, {}));
  EXPECT_FALSE(grow_forest({.feature_count = 1, .features = {1}, .targets = {1}, .weights = {0}}, {}));
  EXPECT_FALSE(grow_forest({.feature_count = 1, .features = {1e300}, .targets = {1}, .weights = {1}}, {}));
}

}  // namespace
}  // namespace berth::tier
