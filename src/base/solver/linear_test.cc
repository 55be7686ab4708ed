#include "base/solver/linear.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <thread>

namespace berth::solver {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr double kNear = 1e-6;
constexpr MipLimits kPlenty{.nodes_max = 1'000'000};

/// Minimises 3x + 5y with x + 2y >= 6, x + y >= 4: x = 2, y = 2.
LinearModel diet() {
  return {.columns = {{.cost = 3}, {.cost = 5}},
          .rows = {{.lower = 6, .entries = {{0, 1}, {1, 2}}}, {.lower = 4, .entries = {{0, 1}, {1, 1}}}}};
}

/// A knapsack: the highest value of goods within a weight, with a limit on each good's count.
struct Good {
  int value = 0;
  int weight = 0;
};

LinearModel knapsack(const std::vector<Good>& goods, int capacity, double count_max) {
  LinearModel model;
  Row weight{.upper = static_cast<double>(capacity), .entries = {}};
  for (const Good& good : goods) {
    weight.entries.push_back({static_cast<int>(model.columns.size()), static_cast<double>(good.weight)});
    model.columns.push_back({.cost = -static_cast<double>(good.value), .upper = count_max, .is_integer = true});
  }
  model.rows.push_back(weight);
  return model;
}

/// The exact optimum by dynamic programming.
int knapsack_value(const std::vector<Good>& goods, int capacity, int count_max) {
  std::vector<int> best(static_cast<std::size_t>(capacity) + 1);
  for (const Good& good : goods) {
    for (int copy = 0; copy < count_max; ++copy) {
      for (int room = capacity; room >= good.weight; --room) {
        int& value = best[static_cast<std::size_t>(room)];
        value = std::max(value, best[static_cast<std::size_t>(room - good.weight)] + good.value);
      }
    }
  }
  return best.back();
}

std::vector<Good> random_goods(std::mt19937_64& random, int count) {
  std::vector<Good> goods;
  std::uniform_int_distribution<int> weight(5, 60);
  std::uniform_int_distribution<int> premium(0, 12);
  for (int i = 0; i < count; ++i) {
    const int kilos = weight(random);
    goods.push_back({.value = kilos + premium(random), .weight = kilos});
  }
  return goods;
}

/// An equality of large even numbers with an odd sum: no solution, and no cutting plane finds that.
LinearModel odd_sum(int columns) {
  LinearModel model;
  Row row{.lower = static_cast<double>(columns), .upper = static_cast<double>(columns), .entries = {}};
  for (int i = 0; i < columns; ++i) {
    model.columns.push_back({.upper = 1, .is_integer = true});
    row.entries.push_back({i, 2});
  }
  model.rows.push_back(row);
  return model;
}

/// How often each of `rows` demands is covered by random patterns: like a packing's master problem.
LinearModel covering(int rows, int columns, bool is_integer) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> row_of(0, rows - 1);
  std::uniform_int_distribution<int> factor(1, 9);
  LinearModel model;
  for (int i = 0; i < rows; ++i) {
    model.rows.push_back({.lower = 100.0 + i, .entries = {{i, 1}}});
    model.columns.push_back({.cost = 10, .is_integer = is_integer});
  }
  for (int i = rows; i < columns; ++i) {
    model.columns.push_back({.cost = 4, .is_integer = is_integer});
    std::vector<int> used;
    for (int k = 0; k < 4; ++k) {
      const int row = row_of(random);
      if (std::ranges::find(used, row) != used.end()) continue;
      used.push_back(row);
      model.rows[static_cast<std::size_t>(row)].entries.push_back({i, static_cast<double>(factor(random))});
    }
  }
  return model;
}

double duality_gap(const LinearModel& model, const LpAnswer& answer) {
  double dual = 0;
  for (std::size_t i = 0; i < model.rows.size(); ++i) dual += answer.row_prices[i] * model.rows[i].lower;
  return std::abs(dual - answer.objective);
}

/// Everything that a call writes to stdout and stderr, by any means.
std::string output_of(const std::function<void()>& call) {
  std::fflush(nullptr);
  std::FILE* file = std::tmpfile();
  const int saved[] = {dup(1), dup(2)};
  dup2(fileno(file), 1);
  dup2(fileno(file), 2);
  call();
  std::fflush(stdout);
  std::fflush(stderr);
  for (const int stream : {1, 2}) {
    dup2(saved[stream - 1], stream);
    close(saved[stream - 1]);
  }
  std::fseek(file, 0, SEEK_SET);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(SolveLp, GivesTheOptimumAndThePriceOfEachRow) {
  const LpAnswer answer = solve_lp(diet());
  ASSERT_EQ(answer.status, Status::kOptimal);
  EXPECT_NEAR(answer.objective, 16, kNear);
  EXPECT_THAT(answer.values, ElementsAre(DoubleNear(2, kNear), DoubleNear(2, kNear)));
  EXPECT_THAT(answer.row_prices, ElementsAre(DoubleNear(2, kNear), DoubleNear(1, kNear)));
}

TEST(SolveLp, ThePriceOfAnUpperLimitIsNegativeAndOfASlackRowZero) {
  LinearModel model{.columns = {{.cost = -3, .upper = 10}, {.cost = -1, .upper = 10}},
                    .rows = {{.upper = 12, .entries = {{0, 2}, {1, 1}}}, {.upper = 100, .entries = {{0, 1}}}}};
  const LpAnswer answer = solve_lp(model);
  ASSERT_EQ(answer.status, Status::kOptimal);
  EXPECT_NEAR(answer.objective, -18, kNear);
  EXPECT_THAT(answer.row_prices, ElementsAre(DoubleNear(-1.5, kNear), DoubleNear(0, kNear)));
}

TEST(SolveLp, APriceShowsHowTheOptimumMoves) {
  for (const std::size_t row : {std::size_t{0}, std::size_t{1}}) {
    LinearModel model = diet();
    const LpAnswer before = solve_lp(model);
    model.rows[row].lower += 0.25;
    EXPECT_NEAR(solve_lp(model).objective - before.objective, 0.25 * before.row_prices[row], kNear);
  }
}

TEST(SolveLp, EqualitiesAndFreeColumns) {
  // Minimise x with x - y = 3, y = -10 as the lowest: x = -7.
  const LinearModel model{.columns = {{.cost = 1, .lower = -kInfinity}, {.lower = -10}},
                          .rows = {{.lower = 3, .upper = 3, .entries = {{0, 1}, {1, -1}}}}};
  const LpAnswer answer = solve_lp(model);
  ASSERT_EQ(answer.status, Status::kOptimal);
  EXPECT_NEAR(answer.objective, -7, kNear);
  EXPECT_THAT(answer.row_prices, ElementsAre(DoubleNear(1, kNear)));
}

TEST(SolveLp, LooksAtTheRelaxationOnly) {
  LinearModel model = knapsack({{.value = 3, .weight = 2}}, 3, kInfinity);
  EXPECT_NEAR(solve_lp(model).objective, -4.5, kNear);
  EXPECT_NEAR(solve_mip(model, kPlenty).objective, -3, kNear);
}

TEST(SolveLp, InfeasibleUnboundedAndEmpty) {
  LinearModel model = diet();
  model.rows[0].upper = 7;
  model.rows[1].lower = 8;
  EXPECT_EQ(solve_lp(model).status, Status::kInfeasible);
  EXPECT_THAT(solve_lp(model).row_prices, IsEmpty());
  model = diet();
  model.columns[1].cost = -1;
  EXPECT_EQ(solve_lp(model).status, Status::kUnbounded);
  EXPECT_EQ(solve_lp({}).status, Status::kOptimal);
  EXPECT_EQ(solve_lp({.columns = {}, .rows = {{.lower = 1, .entries = {}}}}).status, Status::kInfeasible);
  const LpAnswer without_rows = solve_lp({.columns = {{.cost = 2, .lower = 3}}, .rows = {}});
  EXPECT_EQ(without_rows.status, Status::kOptimal);
  EXPECT_NEAR(without_rows.objective, 6, kNear);
}

TEST(SolveLp, LargeModelsHaveNoDualityGap) {
  for (const auto& [rows, columns] : {std::pair(30, 400), std::pair(300, 20'000)}) {
    const LinearModel model = covering(rows, columns, false);
    const LpAnswer answer = solve_lp(model);
    ASSERT_EQ(answer.status, Status::kOptimal);
    EXPECT_LT(duality_gap(model, answer), 1e-5 * answer.objective);
    EXPECT_GE(*std::ranges::min_element(answer.row_prices), -kNear);
  }
}

TEST(LpSession, GivesTheAnswersOfSolveLpAfterEachChange) {
  LinearModel model = covering(40, 200, false);
  LpSession session(model);
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int> column_of(0, 199);
  std::uniform_int_distribution<int> small(0, 6);
  for (int step = 0; step < 100; ++step) {
    const int column = column_of(random);
    Column& changed = model.columns[static_cast<std::size_t>(column)];
    changed.lower = small(random);
    changed.upper = changed.lower + small(random);
    changed.cost = 1 + small(random);
    session.set_limits(column, {.lower = changed.lower, .upper = changed.upper});
    session.set_cost(column, changed.cost);
    const LpAnswer fresh = solve_lp(model);
    const LpAnswer again = session.solve();
    ASSERT_EQ(again.status, fresh.status) << "step " << step;
    if (fresh.status != Status::kOptimal) continue;
    EXPECT_NEAR(again.objective, fresh.objective, kNear * std::abs(fresh.objective)) << "step " << step;
  }
}

TEST(LpSession, FindsAModelFeasibleAgainOnceItsLimitsAre) {
  LpSession session(diet());
  session.set_limits(0, {.lower = 0, .upper = 1});
  session.set_limits(1, {.lower = 0, .upper = 1});
  EXPECT_EQ(session.solve().status, Status::kInfeasible);
  session.set_limits(0, {});
  session.set_limits(1, {});
  const LpAnswer answer = session.solve();
  ASSERT_EQ(answer.status, Status::kOptimal);
  EXPECT_NEAR(answer.objective, 16, kNear);
}

TEST(SolveMip, KnapsacksAsByDynamicProgramming) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    const std::vector<Good> goods = random_goods(random, 8);
    const int capacity = 100 + round;
    const int count_max = 1 + round % 3;
    const MipAnswer answer = solve_mip(knapsack(goods, capacity, count_max), kPlenty);
    ASSERT_EQ(answer.status, Status::kOptimal);
    EXPECT_EQ(-answer.objective, knapsack_value(goods, capacity, count_max)) << "round " << round;
    EXPECT_EQ(answer.bound, answer.objective);
    EXPECT_TRUE(std::ranges::all_of(answer.values, [](double value) { return value == std::round(value); }));
  }
}

TEST(SolveMip, MixesIntegersAndOthers) {
  // Minimise 10n + x with 4n + x >= 7: n = 2, x = 0 costs 20; n = 1, x = 3 costs 13; n = 0, x = 7 costs 7.
  LinearModel model{.columns = {{.cost = 10, .is_integer = true}, {.cost = 1, .upper = 2.5}},
                    .rows = {{.lower = 7, .entries = {{0, 4}, {1, 1}}}}};
  EXPECT_NEAR(solve_mip(model, kPlenty).objective, 20, kNear);
  model.columns[1].upper = 3;
  EXPECT_NEAR(solve_mip(model, kPlenty).objective, 13, kNear);
}

TEST(SolveMip, InfeasibleUnboundedAndEmpty) {
  const MipAnswer infeasible = solve_mip(
      {.columns = {{.cost = 1, .is_integer = true}}, .rows = {{.lower = 3, .upper = 4, .entries = {{0, 5}}}}}, kPlenty);
  EXPECT_EQ(infeasible.status, Status::kInfeasible);
  EXPECT_EQ(infeasible.bound, kInfinity);
  EXPECT_THAT(infeasible.values, IsEmpty());
  EXPECT_EQ(solve_mip(odd_sum(9), kPlenty).status, Status::kInfeasible);
  EXPECT_EQ(solve_mip({.columns = {{.cost = -1, .is_integer = true}}, .rows = {}}, kPlenty).status, Status::kUnbounded);
  EXPECT_EQ(solve_mip({}, kPlenty).status, Status::kOptimal);
}

TEST(SolveMip, ASpentBudgetStillGivesABound) {
  const LinearModel model = covering(40, 300, true);
  const MipAnswer limited = solve_mip(model, {.nodes_max = 1});
  const LpAnswer relaxed = solve_lp(model);
  EXPECT_GE(limited.bound, relaxed.objective - kNear);
  ASSERT_EQ(limited.status, Status::kLimit);
  if (!limited.values.empty()) {
    EXPECT_GE(limited.objective, limited.bound - kNear);
  }
}

TEST(SolveMip, SpentSecondsStillGiveABoundAndBindNoLaterCall) {
  const LinearModel model = covering(40, 300, true);
  const MipAnswer by_nodes = solve_mip(model, {.nodes_max = 200});
  ASSERT_THAT(by_nodes.values, Not(IsEmpty()));
  const MipAnswer limited = solve_mip(model, {.seconds_max = 1e-6});
  EXPECT_EQ(limited.status, Status::kLimit);
  EXPECT_LE(limited.bound, by_nodes.objective + kNear);
  EXPECT_TRUE(limited.values.empty() || limited.objective >= limited.bound - kNear);
  EXPECT_EQ(solve_mip(model, {.nodes_max = 200}).values, by_nodes.values);
}

/// When stopped during preprocessing, the library reports that there is no solution.
TEST(SolveMip, WhereverTheSecondsEndNoSolutionIsDenied) {
  LinearModel model = covering(250, 4000, true);
  for (Row& row : model.rows) {
    row.upper = row.lower + 1;
    const int spare = static_cast<int>(model.columns.size());
    model.columns.push_back({.cost = 1000, .upper = 1, .is_integer = true});
    row.entries.push_back({spare, row.lower});
  }
  for (int ms = 40; ms <= 120; ms += 4) {
    EXPECT_NE(solve_mip(model, {.seconds_max = 1e-3 * ms}).status, Status::kInfeasible) << ms;
  }
}

TEST(SolveMip, ALargerModelDoesNotDependOnTheCallsBefore) {
  const LinearModel model = covering(40, 300, true);
  const std::vector<double> values = solve_mip(model, {.nodes_max = 200}).values;
  static_cast<void>(solve_mip(model, {.nodes_max = 200, .is_reduced_first = false}));
  EXPECT_EQ(solve_mip(model, {.nodes_max = 200}).values, values);
}

TEST(SolveMip, ThreadsGetTheAnswersOfOne) {
  std::mt19937_64 random(2);
  std::vector<std::vector<Good>> goods;
  goods.reserve(24);
  for (int i = 0; i < 24; ++i) goods.push_back(random_goods(random, 10));
  std::vector<double> integer(goods.size());
  std::vector<double> relaxed(goods.size());
  const auto solve_every_fourth = [&](std::size_t first) {
    for (std::size_t i = first; i < goods.size(); i += 4) {
      integer[i] = solve_mip(knapsack(goods[i], 150, 2), kPlenty).objective;
      relaxed[i] = solve_lp(knapsack(goods[i], 150, 2)).objective;
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::size_t first = 0; first < 4; ++first) threads.emplace_back(solve_every_fourth, first);
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < goods.size(); ++i) {
    EXPECT_EQ(-integer[i], knapsack_value(goods[i], 150, 2));
    EXPECT_NEAR(relaxed[i], solve_lp(knapsack(goods[i], 150, 2)).objective, kNear);
  }
}

TEST(Solve, IsDeterministic) {
  const LinearModel relaxed = covering(60, 2000, false);
  EXPECT_EQ(solve_lp(relaxed).values, solve_lp(relaxed).values);
  EXPECT_EQ(solve_lp(relaxed).row_prices, solve_lp(relaxed).row_prices);
  const LinearModel whole = covering(12, 40, true);
  EXPECT_EQ(solve_mip(whole, {.nodes_max = 500}).values, solve_mip(whole, {.nodes_max = 500}).values);
}

TEST(Solve, PrintsNothing) {
  const std::string text = output_of([] {
    LinearModel clash = diet();
    clash.rows[0].upper = 7;
    clash.rows[1].lower = 8;
    LinearModel endless = diet();
    endless.columns[1].cost = -1;
    for (LinearModel model : {diet(), clash, endless, LinearModel{}, covering(40, 300, true), odd_sum(9)}) {
      EXPECT_NE(solve_lp(model).status, Status::kLimit);
      for (Column& column : model.columns) column.is_integer = true;
      for (const std::int64_t nodes : {0, 1, 20}) (void)solve_mip(model, {.nodes_max = nodes});
    }
    EXPECT_EQ(solve_lp(covering(300, 20'000, false)).status, Status::kOptimal);
    (void)solve_mip(covering(200, 4000, true), {.nodes_max = 0});
  });
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace berth::solver
