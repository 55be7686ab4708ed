// The ladder: on hundreds of random tiny problems an exhaustive search, the integer program and our own searches agree.
// On problems that are too large for the exhaustive search the others are compared with each other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ranges>

#include "base/core/test_cases.h"
#include "planner/many_gpus/fleet.h"
#include "planner/one_gpu/one_gpu.h"
#include "planner/window/check.h"
#include "planner/window/limits.h"
#include "planner/window/testing/exhaustive.h"
#include "planner/window/testing/integer_model.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr std::uint64_t kTinyCases = berth::testing::by_build(400, 50);
constexpr std::uint64_t kTinyCasesPerSmallOne = 25;
constexpr std::uint64_t kCasesPerShared = 4;

struct Rung {
  const char* name;
  bool takes_fleets;  ///< more than one GPU
  bool is_exact;      ///< on problems of this size; others are sound: their bound and their schedule are valid
  std::function<Answer(const Problem&)> solve;
};

/// Every solver of the window problem. One line adds one.
std::vector<Rung> rungs() {
  return {
      {"integer program", true, true, [](const Problem& problem) { return solve_by_integer_program(problem, {}); }},
      {"one GPU", false, true, [](const Problem& problem) { return solve_one_gpu(problem, {}); }},
      {"fleet", true, false, [](const Problem& problem) { return solve_fleet(problem, {}); }},
  };
}

/// Equal up to rounding and to the library's tolerance.
bool is_same(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b)) + 1e-5; }

void expect_answer_is_sound(const Problem& problem, const Answer& answer) {
  EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt);
  EXPECT_NEAR(evaluate(problem, answer.schedule).objective, answer.objective, 1e-9 * std::abs(answer.objective) + 1e-9);
}

void expect_agrees(const Problem& problem, const Answer& truth, const Answer& answer) {
  ASSERT_EQ(answer.is_infeasible, truth.is_infeasible);
  if (truth.is_infeasible) return;
  expect_answer_is_sound(problem, answer);
  EXPECT_TRUE(is_same(answer.objective, truth.objective))
      << fmt::format("{} for {}", answer.objective, truth.objective);
  const bool is_spent = answer.nodes >= SearchLimits{}.nodes_max;
  EXPECT_TRUE(is_same(answer.bound, truth.objective) || (is_spent && answer.bound > truth.objective))
      << fmt::format("bound {} for {}", answer.bound, truth.objective);
}

/// For a solver that is not exact: its claims are true.
void expect_holds(const Problem& problem, const Answer& truth, const Answer& answer) {
  if (answer.is_infeasible) {
    EXPECT_TRUE(truth.is_infeasible) << fmt::format("there is one of {}", truth.objective);
    return;
  }
  if (truth.is_infeasible) {
    EXPECT_TRUE(answer.misses_floors);
    return;
  }
  EXPECT_TRUE(answer.bound > truth.objective || is_same(answer.bound, truth.objective))
      << fmt::format("bound {} below {}", answer.bound, truth.objective);
  if (answer.misses_floors) return;
  expect_answer_is_sound(problem, answer);
  EXPECT_TRUE(answer.objective < truth.objective || is_same(answer.objective, truth.objective))
      << fmt::format("{} above {}", answer.objective, truth.objective);
}

void expect_rung_holds(const Rung& rung, const Problem& problem, const Answer& truth) {
  if (problem.gpus.size() > 1 && !rung.takes_fleets) return;
  const Answer answer = rung.solve(problem);
  if (rung.is_exact) {
    expect_agrees(problem, truth, answer);
  } else {
    expect_holds(problem, truth, answer);
  }
}

/// Statistics of the problems of a run, so that the properties cannot hold for lack of cases.
struct Census {
  int known = 0;
  int infeasible = 0;
  int pairs = 0;
  int changing = 0;
  int retraining = 0;

  void count(const Problem& problem, const Answer& truth) {
    ++known;
    infeasible += truth.is_infeasible ? 1 : 0;
    pairs += problem.gpus.size() > 1 ? 1 : 0;
    bool changes = false;
    bool retrains = false;
    for (const std::vector<Change>& list : truth.schedule.gpus) {
      for (const Change& change : list) {
        changes = true;
        for (const Piece& piece : change.to) retrains = retrains || piece.use == kRetraining;
      }
    }
    changing += changes ? 1 : 0;
    retraining += retrains ? 1 : 0;
  }
};

TEST(Ladder, EveryRungAgreesWithTheExhaustiveSearch) {
  Census census;
  const auto seeds = berth::testing::case_seeds(kTinyCases);
  for (const std::uint64_t seed : seeds) {
    if (HasFailure()) break;
    const bool is_shared = seed % kCasesPerShared == 0;
    const Problem problem =
        is_shared ? testing::shared_with_others(testing::tiny_problem(Rng(seed)), Rng(seed).split("others"))
                  : testing::tiny_problem(Rng(seed));
    const std::optional<Answer> truth = testing::Exhaustive(problem).solve();
    if (!truth) continue;
    census.count(problem, *truth);
    for (const Rung& rung : rungs()) {
      SCOPED_TRACE(fmt::format("{}, tiny_problem(Rng({})){}\n{}", rung.name, seed, is_shared ? ", shared" : "",
                               testing::to_text(problem)));
      expect_rung_holds(rung, problem, *truth);
    }
  }
  // Rounded down to whole cases, because there are few with sanitizers.
  const auto share = [&](double part) { return static_cast<int>(part * census.known); };
  EXPECT_GT(census.known, 0.5 * static_cast<double>(seeds.size()));
  EXPECT_GE(census.infeasible, share(0.03));
  EXPECT_LT(census.infeasible, 0.3 * census.known);
  EXPECT_GE(census.pairs, share(0.05));
  EXPECT_GE(census.changing, share(0.4));
  EXPECT_GE(census.retraining, share(0.05));
}

TEST(Ladder, TheIntegerProgramAgreesWithTheOthersOnSmallProblems) {
  const auto seeds = berth::testing::case_seeds(kTinyCases);
  for (const std::uint64_t seed : seeds | std::views::take(seeds.size() / kTinyCasesPerSmallOne)) {
    if (HasFailure()) break;
    const Problem problem = testing::small_problem(Rng(seed));
    const std::vector<Rung> all = rungs();
    const Answer truth = all.front().solve(problem);
    SCOPED_TRACE(fmt::format("small_problem(Rng({}))\n{}", seed, testing::to_text(problem)));
    if (!truth.is_infeasible) {
      expect_answer_is_sound(problem, truth);
      EXPECT_EQ(truth.bound, truth.objective) << "not proven";
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      SCOPED_TRACE(all[i].name);
      expect_rung_holds(all[i], problem, truth);
    }
  }
}

}  // namespace
}  // namespace berth::planner
