#include "engine/rivals/detail/window_ilp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/core/rng.h"

namespace berth::partition::detail {
namespace {

constexpr solver::MipLimits kExact = {.nodes_max = 100'000, .gap_allowed = 0};

/// A model of two kinds: a GPU is one large slice, or two small ones.
IlpModel small_model(int gpu_count, std::size_t service_count) {
  IlpModel model;
  model.gpu_count = gpu_count;
  model.shapes = {{2, 0}, {0, 1}};
  model.rates = {std::vector<double>(service_count, 100), std::vector<double>(service_count, 240)};
  model.retraining_seconds = {std::vector<double>(service_count, 0), std::vector<double>(service_count, 0)};
  model.serving_now = {std::vector<int>(service_count, 0), std::vector<int>(service_count, 0)};
  return model;
}

IlpService service_of(const std::vector<double>& loads) {
  IlpService service;
  for (const double load : loads) {
    service.served.push_back({{.offset = 0, .slope = 1}, {.offset = load, .slope = 0}});
    service.mean.push_back(load);
  }
  service.worth = 1;
  return service;
}

WindowProblem window_of_two(const std::vector<double>& first, const std::vector<double>& second) {
  WindowProblem problem;
  problem.block_seconds.assign(first.size(), 20);
  problem.models = {small_model(2, 2)};
  problem.services = {service_of(first), service_of(second)};
  problem.is_first = true;
  return problem;
}

TEST(WindowIlp, CutsForTheLoad) {
  const WindowProblem problem = window_of_two({90, 90}, {230, 230});
  const WindowAnswer answer = solve_window(problem, kExact);
  ASSERT_EQ(answer.blocks.size(), 2U);
  EXPECT_TRUE(answer.is_solved);
  for (const BlockCounts& block : answer.blocks) {
    EXPECT_EQ(block[0].shapes, (std::vector<int>{1, 1}));
    EXPECT_GE(block[0].serving[0][0], 1) << "a small slice is enough for 90; whose the other is does not matter";
    EXPECT_EQ(block[0].serving[1], (std::vector<int>{0, 1}));
  }
  EXPECT_NEAR(answer.objective, 40 * (90 + 230), 1e-6);
}

TEST(WindowIlp, AChangeCostsWhatNewSlicesDoNotServe) {
  WindowProblem problem = window_of_two({100, 300}, {300, 100});
  for (IlpService& service : problem.services) service.change_seconds = 0;
  const double free = solve_window(problem, kExact).objective;
  EXPECT_NEAR(free, 20 * (100 + 300 + 300 + 100), 1e-6);
  for (IlpService& service : problem.services) service.change_seconds = 10;
  const WindowAnswer dear = solve_window(problem, kExact);
  EXPECT_LT(dear.objective, free - 1);
  EXPECT_NEAR(window_value(problem, dear.blocks), dear.objective, 1e-6);
  for (IlpService& service : problem.services) service.change_seconds = 30;  // into the next block, too
  const WindowAnswer still = solve_window(problem, kExact);
  EXPECT_EQ(still.blocks[0], still.blocks[1]);
}

TEST(WindowIlp, RetrainsWhereTheAccuracyGainedIsWorthTheCapacity) {
  WindowProblem problem = window_of_two({150, 150, 150, 150, 150}, {100, 100, 100, 100, 100});
  problem.models[0].retraining_seconds[0][0] = 40;
  IlpService& service = problem.services[0];
  service.is_stale = true;
  service.accuracy_before = 0.5;
  service.accuracy_after = 1;
  const auto retraining_blocks = [](const WindowAnswer& answer) {
    int blocks = 0;
    for (const BlockCounts& block : answer.blocks) blocks += block[0].retraining[0][0];
    return blocks;
  };
  const WindowAnswer worth_it = solve_window(problem, kExact);
  EXPECT_EQ(retraining_blocks(worth_it), 2);
  EXPECT_NEAR(window_value(problem, worth_it.blocks), worth_it.objective, 1e-6);
  service.progress = 0.5;
  EXPECT_EQ(retraining_blocks(solve_window(problem, kExact)), 1);
  service.progress = 0;
  service.due_seconds = {20, 40, 60, 80};  // lost each time before it is done
  EXPECT_EQ(retraining_blocks(solve_window(problem, kExact)), 0);
}

TEST(WindowIlp, WorkUnderWayAtTheEndIsWorthSomething) {
  WindowProblem problem = window_of_two({90, 90}, {90, 90});
  problem.models[0].retraining_seconds[0][0] = 400;
  IlpService& service = problem.services[0];
  service.is_stale = true;
  service.accuracy_before = 0.5;
  EXPECT_EQ(solve_window(problem, kExact).blocks[0][0].retraining[0][0], 0);
  service.end_value = 10'000;
  const WindowAnswer answer = solve_window(problem, kExact);
  EXPECT_EQ(answer.blocks[0][0].retraining[0][0] + answer.blocks[1][0].retraining[0][0], 2);
}

TEST(WindowIlp, EverybodyIsServedWhateverItIsWorth) {
  WindowProblem problem = window_of_two({200}, {400});
  problem.services[0].worth = 0.001;
  const WindowAnswer answer = solve_window(problem, kExact);
  ASSERT_EQ(answer.blocks.size(), 1U);
  int slices = 0;
  for (const auto& by_service : answer.blocks[0][0].serving) slices += by_service[0];
  EXPECT_GE(slices, 1);
}

// ---- against every schedule

/// All counts of one block: shapes of the small model, and owners of its pieces.
std::vector<BlockCounts> all_block_counts(const WindowProblem& problem) {
  std::vector<BlockCounts> all;
  const int gpus = problem.models[0].gpu_count;
  for (int small = 0; small <= gpus; ++small) {
    const std::vector<int> pieces = {2 * small, gpus - small};
    const auto owners = [&](int kind, const std::function<void(int, int, int)>& visit) {
      for (int a = 0; a <= pieces[kind]; ++a) {
        for (int b = 0; a + b <= pieces[kind]; ++b) {
          for (int r = 0; r <= 1 && a + b + r <= pieces[kind]; ++r) visit(a, b, r);
        }
      }
    };
    owners(0, [&](int a0, int b0, int r0) {
      owners(1, [&](int a1, int b1, int r1) {
        if (a0 + a1 == 0 || b0 + b1 == 0 || r0 + r1 > 1) return;
        all.push_back(
            {{.shapes = {small, gpus - small}, .serving = {{a0, b0}, {a1, b1}}, .retraining = {{r0, 0}, {r1, 0}}}});
      });
    });
  }
  return all;
}

double best_by_enumeration(const WindowProblem& problem) {
  const std::vector<BlockCounts> all = all_block_counts(problem);
  double best = 0;
  for (const BlockCounts& first : all) {
    for (const BlockCounts& second : all) best = std::max(best, window_value(problem, {first, second}));
  }
  return best;
}

TEST(WindowIlp, NoScheduleIsBetterThanItsOwn) {
  Rng rng(5);
  for (int round = 0; round < 25; ++round) {
    const auto draw = [&](int from, int until) {
      return static_cast<double>(from) + static_cast<double>(rng.below(static_cast<std::uint64_t>(until - from)));
    };
    WindowProblem problem = window_of_two({draw(20, 500), draw(20, 500)}, {draw(20, 500), draw(20, 500)});
    problem.models = {small_model(1 + static_cast<int>(rng.below(2)), 2)};
    problem.models[0].retraining_seconds = {{draw(10, 60), 0}, {draw(5, 30), 0}};
    problem.models[0].serving_now = {{1, 1}, {0, 0}};
    problem.is_first = rng.below(2) == 0;
    problem.services[0].is_stale = rng.below(2) == 0;
    problem.services[0].accuracy_before = 0.6;
    if (rng.below(2) == 0) problem.services[0].due_seconds = {draw(0, 40)};
    problem.services[0].end_value = draw(0, 2000);
    for (IlpService& service : problem.services) service.change_seconds = draw(0, 15);
    const WindowAnswer answer = solve_window(problem, kExact);
    ASSERT_FALSE(answer.blocks.empty());
    EXPECT_NEAR(answer.objective, window_value(problem, answer.blocks), 1e-5);
    // Retraining while the model is fresh is not in the program, and gains nothing.
    EXPECT_NEAR(answer.objective, best_by_enumeration(problem), 1e-5) << "round " << round;
  }
}

}  // namespace
}  // namespace berth::partition::detail
