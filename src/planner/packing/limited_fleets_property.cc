// Fleets with just enough GPUs for a known plan: `pack` refuses none of them, is hardly more expensive than an integer
// program, and proves nothing false.

#include <gtest/gtest.h>

#include <cmath>
#include <ranges>

#include "base/core/test_cases.h"
#include "planner/packing/find_fault.h"
#include "planner/packing/pack.h"
#include "planner/packing/testing/integer_model.h"
#include "planner/packing/testing/limited_fleets.h"

namespace berth::packing {
namespace {

using reference::LimitedFleet;

constexpr std::uint64_t kFleetCases = 24;
/// An integer program takes long under sanitizers, however many cases are asked for.
constexpr std::int64_t kCasesMax = testing::by_build<std::int64_t>(1'000'000, 3);
/// A tenth of what the command allows.
constexpr PackOptions kOptions{.nodes_max = 6'000'000};
constexpr solver::MipLimits kIntegerLimits{.nodes_max = 100};

/// At most 3 % more expensive than what is known to be possible.
void expect_cheap(std::int64_t cost, std::int64_t possible) { EXPECT_LE(100 * cost, 103 * possible); }

TEST(LimitedFleets, ArePackedAsCheaplyAsByAnIntegerProgram) {
  for (const std::uint64_t seed : testing::case_seeds(kFleetCases) | std::views::take(kCasesMax)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LimitedFleet fleet(seed);
    const Result<PackResult> result = pack(fleet.problem(), kOptions);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(find_fault(fleet.problem(), result->packing), std::nullopt);
    const std::int64_t cost = *result->score.micro_usd_per_hour;
    EXPECT_LE(result->bound, fleet.cost());
    expect_cheap(cost, fleet.cost());
    const solver::MipAnswer program = reference::IntegerModel(fleet.problem(), {}).solve(kIntegerLimits);
    if (program.values.empty()) continue;
    EXPECT_LE(result->bound, std::llround(program.objective));
    expect_cheap(cost, std::llround(program.objective));
  }
}

}  // namespace
}  // namespace berth::packing
