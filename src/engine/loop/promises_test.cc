#include "engine/loop/promises.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/rng.h"
#include "planner/many_gpus/fleet.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth {
namespace {

using planner::GpuIndex;

planner::Frame frame_of(const planner::Problem& problem) {
  planner::Frame frame;
  frame.models = problem.models;
  for (const planner::GpuTerms& gpu : problem.gpus) frame.model_of_gpu.push_back(gpu.model);
  return frame;
}

/// Everything as planned.
PromiseFacts as_planned(const planner::Problem& problem, const Promise& promise) {
  PromiseFacts facts;
  facts.samples = problem.samples;
  facts.loads = [&problem](ServiceId service) { return problem.services[service.index].loads; };
  for (const PromisedPiece& piece : promise.pieces) facts.ready.emplace_back(piece.ready);
  return facts;
}

/// A problem with its schedule: `after` is called with each promise.
void for_each_promise(const auto& after) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    planner::Problem problem = planner::testing::fleet_problem(Rng(seed), 3, 4, 30, 10);
    const planner::Answer answer = planner::solve_fleet(problem, {.nodes_max = 1000, .gap = 0});
    if (answer.is_infeasible || answer.misses_floors) continue;
    problem.change_price = 0.001 * std::abs(answer.objective);
    SCOPED_TRACE(seed);
    for (const Promise& promise : promises_of(frame_of(problem), problem, answer.schedule)) {
      after(problem, answer.schedule, promise);
    }
  }
}

TEST(Promises, AreWhatTheChangesOfAGpuGain) {
  int seen = 0;
  int retraining = 0;
  for_each_promise([&](const planner::Problem& problem, const planner::Schedule& schedule, const Promise& promise) {
    planner::Schedule without = schedule;
    without.gpus[promise.gpu.index].clear();
    const double gain = planner::evaluate(problem, schedule).objective - planner::evaluate(problem, without).objective;
    const double tolerance = 1e-6 * (1 + std::abs(planner::evaluate(problem, schedule).objective));
    EXPECT_NEAR(promise.gain, gain, tolerance);
    EXPECT_NEAR(gain_of(promise, as_planned(problem, promise)), gain, tolerance);
    ++seen;
    for (const PromisedPiece& piece : promise.pieces) retraining += piece.variant == planner::kRetraining ? 1 : 0;
  });
  EXPECT_GT(seen, 20);
  EXPECT_GT(retraining, 3);
}

TEST(Promises, OfRaisedLoadsAreFulfilledByTheExpectedOnes) {
  std::vector<planner::Outlook> outlooks(4);
  for (std::size_t i = 0; i < outlooks.size(); ++i) outlooks[i].raised = 1 + 0.25 * static_cast<double>(i);
  for_each_promise([&](const planner::Problem& problem, const planner::Schedule&, const Promise& promise) {
    Promise lowered = promise;
    count_on_expected_loads(lowered, outlooks);
    PromiseFacts facts = as_planned(problem, promise);
    facts.loads = [&](ServiceId service) {
      std::vector<double> loads = problem.services[service.index].loads;
      for (double& load : loads) load /= outlooks[service.index].raised;
      return loads;
    };
    EXPECT_NEAR(gain_of(lowered, facts), promise.gain, 1e-6 * (1 + std::abs(promise.gain)));
  });
}

TEST(Promises, GainNoMoreWhenSlicesAreLate) {
  int less = 0;
  for_each_promise([&](const planner::Problem& problem, const planner::Schedule& schedule, const Promise& promise) {
    const double tolerance = 1e-6 * (1 + std::abs(planner::evaluate(problem, schedule).objective));
    double last = gain_of(promise, as_planned(problem, promise));
    for (const int late : {1, 5, 35}) {
      PromiseFacts facts = as_planned(problem, promise);
      for (auto& ready : facts.ready) *ready += late;
      const double gain = gain_of(promise, facts);
      EXPECT_LE(gain, last + tolerance);
      less += gain < last - tolerance ? 1 : 0;
      last = gain;
    }
    PromiseFacts never = as_planned(problem, promise);
    for (auto& ready : never.ready) ready.reset();
    EXPECT_LE(gain_of(promise, never), last + tolerance);
  });
  EXPECT_GT(less, 20);
}

/// One service gets a slice of 10 requests per second, which is to work from slot 4 of 20 on, then in a tail of 8 s.
Promise ten_more_per_second() {
  return {.gpu = {0},
          .slots = 20,
          .tail_seconds = 8,
          .gain = 0,
          .price = 3,
          .pieces = {{.slice = {}, .service = {0}, .variant = 0, .rate = 10, .ready = 4, .until = 21}},
          .services = {{.service = {0},
                        .value = 2,
                        .accuracy_before = {1},
                        .accuracy_after = {0.5},
                        .retraining = std::nullopt,
                        .with_changes = {{.slot = 0, .rates = {5}}, {.slot = 4, .rates = {15}}},
                        .without_changes = {{.slot = 0, .rates = {5}}}}}};
}

double gain_with(double load, std::optional<std::int32_t> ready) {
  const PromiseFacts facts{
      .samples = 1, .loads = [load](ServiceId) { return std::vector<double>(21, load); }, .ready = {ready}};
  return gain_of(ten_more_per_second(), facts);
}

TEST(Promises, AreJudgedByTheRequestsThatCame) {
  EXPECT_DOUBLE_EQ(gain_with(15, 4), 10 * (16 + 8) - 3);
  EXPECT_DOUBLE_EQ(gain_with(7, 4), 2 * (16 + 8) - 3);
  EXPECT_DOUBLE_EQ(gain_with(0, 4), -3);
}

TEST(Promises, AreJudgedByWhenSlicesWorked) {
  EXPECT_DOUBLE_EQ(gain_with(15, 10), 10 * (10 + 8) - 3);
  EXPECT_DOUBLE_EQ(gain_with(15, 2), 10 * (18 + 8) - 3);
  EXPECT_DOUBLE_EQ(gain_with(15, 24), 10 * 4 - 3);
  EXPECT_DOUBLE_EQ(gain_with(15, 100), -3);
  EXPECT_DOUBLE_EQ(gain_with(15, std::nullopt), -3);
}

}  // namespace
}  // namespace berth
