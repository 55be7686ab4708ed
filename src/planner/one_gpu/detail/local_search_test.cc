#include "planner/one_gpu/detail/local_search.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/search_state.h"
#include "planner/one_gpu/testing/continuations.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

using testing::rounding_of;

using Changes = std::vector<Change>;

/// The worth of a schedule according to the checker; nothing if it is not allowed.
std::optional<double> judged(const Problem& problem, const Changes& changes) {
  const auto is_outside = [&](const Change& change) { return change.slot < 0 || change.slot >= problem.slots; };
  if (std::ranges::any_of(changes, is_outside)) return std::nullopt;
  const Schedule schedule{.gpus = {changes}};
  if (find_fault(problem, schedule)) return std::nullopt;
  return evaluate(problem, schedule).objective;
}

/// Some changes whose configurations may begin, in ascending slots; not all of these schedules are allowed.
Changes drawn_changes(const SearchState& state, const testing::Continuations& continuations, Rng& rng) {
  Changes changes;
  const GpuCase& gpu_case = state.gpu_case;
  Label now = state.labels.root();
  for (SlotIndex t = gpu_case.first_slot; t < gpu_case.end(); ++t) {
    const ArrangementIndex to = continuations.all()[rng.below(continuations.all().size())];
    if (rng.below(2) == 0 || !continuations.may_follow(now, t, to)) continue;
    changes.push_back({.slot = t, .to = state.arrangements[to].pieces});
    now.arrangement = to;
  }
  return changes;
}

/// The schedules that differ from one by a shift or the removal of one change.
std::vector<Changes> neighbours_of(const Changes& changes) {
  std::vector<Changes> neighbours;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const int shift : {-16, -8, -4, -2, -1, 1, 2, 4, 8, 16}) {
      neighbours.push_back(changes);
      neighbours.back()[i].slot += shift;
    }
    neighbours.push_back(changes);
    neighbours.back().erase(neighbours.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  return neighbours;
}

TEST(LocalSearch, OffersReplaceWorseSchedulesOnly) {
  int taken = 0;
  int refused = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 30))) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    if (gpu_case.first_slot == gpu_case.end()) continue;
    SearchState state(gpu_case);
    testing::Continuations continuations(gpu_case, state.arrangements, state.labels, testing::RetrainsInVain::kYes);
    LocalSearch local_search(state);
    Rng rng(seed);
    for (int i = 0; i < 40; ++i) {
      const Changes changes = i == 0 ? Changes{} : drawn_changes(state, continuations, rng);
      const std::optional<double> value = judged(problem, changes);
      const double before = state.incumbent.value();
      const bool is_taken = local_search.offer(changes);
      if (!value || *value < before - rounding_of(before)) {
        EXPECT_FALSE(is_taken);
        ++refused;
      } else if (*value > before + rounding_of(before)) {
        EXPECT_TRUE(is_taken);
      }
      if (!is_taken) {
        EXPECT_EQ(state.incumbent.value(), before);
        continue;
      }
      ++taken;
      ASSERT_TRUE(value.has_value());
      EXPECT_NEAR(state.incumbent.value(), *value, rounding_of(*value));
      EXPECT_FALSE(local_search.offer(changes)) << "worth no more than itself";
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

TEST(LocalSearch, EndsWhereNoNeighbourIsBetter) {
  int improved = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 30))) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    if (gpu_case.first_slot == gpu_case.end()) continue;
    SearchState state(gpu_case);
    testing::Continuations continuations(gpu_case, state.arrangements, state.labels, testing::RetrainsInVain::kYes);
    LocalSearch local_search(state);
    local_search.improve();
    EXPECT_FALSE(state.incumbent.has_schedule()) << "nothing to improve on";
    Rng rng(seed);
    for (int i = 0; i < 20; ++i) {
      if (!local_search.offer(drawn_changes(state, continuations, rng))) continue;
      const double before = state.incumbent.value();
      local_search.improve();
      if (state.incumbent.value() > before) ++improved;
      const Changes changes = state.incumbent.changes();
      const std::optional<double> value = judged(problem, changes);
      ASSERT_TRUE(value.has_value());
      EXPECT_GE(*value, before - rounding_of(before));
      EXPECT_NEAR(*value, state.incumbent.value(), rounding_of(*value));
      for (const Changes& neighbour : neighbours_of(changes)) {
        const std::optional<double> other = judged(problem, neighbour);
        if (other) {
          EXPECT_LE(*other, *value + rounding_of(*value));
        }
      }
    }
  }
  EXPECT_GT(improved, 0);
}

TEST(LocalSearch, MovesAChangeToWhereItIsBest) {
  // A quarter is created in 3 slots, for a load that begins in slot 30.
  Problem problem = testing::quarters_problem(1, 40);
  std::fill_n(problem.services[0].loads.begin(), 30, 0.0);
  problem.change_price = 5;
  const GpuCase gpu_case(problem);
  SearchState state(gpu_case);
  LocalSearch local_search(state);
  const Configuration quarter = {{.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}};
  const Configuration two = {quarter.front(), {.site = SiteIndex(1), .service = ServiceIndex(0), .use = 0}};
  ASSERT_TRUE(local_search.offer({{.slot = SlotIndex(32), .to = quarter}, {.slot = SlotIndex(36), .to = two}}));
  EXPECT_NEAR(state.incumbent.value(), 5 * 10 - 2 * 5, 1e-9);
  local_search.improve();
  EXPECT_NEAR(state.incumbent.value(), 10 * 10 - 5, 1e-9) << "in time, and without the second quarter";
  ASSERT_EQ(state.incumbent.changes().size(), 1U);
  EXPECT_LE(state.incumbent.changes().front().slot, 27);
}

}  // namespace
}  // namespace berth::planner
