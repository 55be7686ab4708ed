#include "planner/one_gpu/detail/change_times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

Piece serving(int site, int service = 0) {
  return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = 0};
}
Piece retraining(int site, int service = 0) {
  return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = kRetraining};
}
Piece unowned(int site) { return {.site = SiteIndex(site), .service = kNoService, .use = 0}; }

/// Starting takes 2 s, plumbing 1 s, creating 1.5 s, destroying 2 s.
Problem problem_of_times() {
  Problem problem = testing::quarters_problem(2, 20);
  problem.plumbing_seconds = 1;
  problem.create_seconds = 1.5;
  problem.destroy_seconds = 2;
  problem.change_price = 7;
  return problem;
}

struct OfChange {
  std::string what;
  Configuration from;
  Configuration to;
  std::vector<int> slots;  ///< of each piece, after the slot in which the change begins
  int changed = 0;         ///< slices created or destroyed
};

const std::vector<OfChange> kChanges = {
    {.what = "nothing changes", .from = {serving(0)}, .to = {serving(0)}, .slots = {0}},
    {.what = "created on an empty GPU", .from = {}, .to = {serving(0)}, .slots = {5}, .changed = 1},  // 4.5 s
    {.what = "handed over", .from = {serving(0)}, .to = {serving(0, 1)}, .slots = {3}},
    {.what = "unowned before", .from = {unowned(0)}, .to = {serving(0)}, .slots = {3}},
    {.what = "created where another piece goes", .from = {serving(0)}, .to = {serving(4)}, .slots = {7}, .changed = 2},
    {.what = "created while another is destroyed",
     .from = {serving(0)},
     .to = {serving(1)},
     .slots = {5},
     .changed = 2},
    {.what = "created to retrain on", .from = {}, .to = {retraining(0)}, .slots = {3}, .changed = 1},  // 2.5 s
    {.what = "taken to retrain on", .from = {serving(0)}, .to = {retraining(0)}, .slots = {1}},
    {.what = "unowned pieces stay ready",
     .from = {unowned(0), serving(1)},
     .to = {unowned(0), serving(1, 1)},
     .slots = {0, 3}},
    {.what = "each piece by itself",
     .from = {serving(0), serving(1), serving(3)},
     .to = {serving(0), serving(1, 1), serving(5)},
     .slots = {0, 3, 7},
     .changed = 2},
    {.what = "everything is destroyed", .from = {serving(0), unowned(1)}, .to = {}, .slots = {}, .changed = 2},
};

TEST(ChangeTimes, AreThoseOfTheContract) {
  const Problem problem = problem_of_times();
  const GpuCase gpu_case(problem);
  for (const OfChange& each : kChanges) {
    SCOPED_TRACE(each.what);
    const ChangeTimes times = times_of_change(gpu_case, each.from, each.to, SlotIndex(4));
    std::vector<int> slots;
    for (const SlotIndex ready : times.ready) slots.push_back(ready - SlotIndex(4));
    EXPECT_EQ(slots, each.slots);
    EXPECT_EQ(times.end, SlotIndex(4) + (slots.empty() ? 0 : std::ranges::max(slots)));
    EXPECT_EQ(price_of_change(gpu_case, each.from, each.to), 7 * each.changed);
  }
}

TEST(ChangeTimes, EndWithTheWindow) {
  const Problem problem = problem_of_times();
  const GpuCase gpu_case(problem);
  const ChangeTimes times = times_of_change(gpu_case, {}, {serving(0)}, SlotIndex(18));
  EXPECT_EQ(times.ready, std::vector{SlotIndex(23)});
  EXPECT_EQ(times.end, SlotIndex(20));
}

TEST(ChangeTimes, CostNothingWithoutAPrice) {
  Problem problem = problem_of_times();
  problem.change_price = 0;
  EXPECT_EQ(price_of_change(GpuCase(problem), {serving(0)}, {serving(4)}), 0);
}

TEST(ChangeTimes, FindThePieceOnASite) {
  const Configuration pieces = {serving(1), retraining(2, 1)};
  EXPECT_EQ(standing_on(pieces, SiteIndex(0)), nullptr);
  EXPECT_EQ(standing_on(pieces, SiteIndex(2)), &pieces[1]);
}

/// Between any two configurations, with any times, compared with the schedule checker's own code.
TEST(ChangeTimes, AreThoseThatTheCheckerFinds) {
  int delayed = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(100, 20))) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    Problem problem = testing::one_gpu_of_tiny(seed);
    problem.plumbing_seconds = static_cast<double>(seed % 4) * 0.4;
    const GpuCase gpu_case(problem);
    const Configuration standing = testing::standing_of(gpu_case);
    const testing::Configurations configurations(gpu_case, standing);
    Rng rng(seed);
    for (int i = 0; i < 200; ++i) {
      const Configuration& from = configurations.all()[rng.below(configurations.all().size())];
      const Configuration& to = configurations.all()[rng.below(configurations.all().size())];
      const ChangeTimes times = times_of_change(gpu_case, from, to, SlotIndex(1));
      ASSERT_EQ(times.ready.size(), to.size());
      for (std::size_t piece = 0; piece < to.size(); ++piece) {
        if (to[piece].service == kNoService) continue;
        const int wanted = slots_until_ready(problem, gpu_case.model, from, to[piece]);
        ASSERT_EQ(times.ready[piece] - SlotIndex(1), wanted);
        if (wanted > 0) ++delayed;
      }
    }
  }
  EXPECT_GT(delayed, 0);
}

}  // namespace
}  // namespace berth::planner
