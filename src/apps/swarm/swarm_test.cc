/// Faulty worlds recover. `scripts/soak swarm` tries more seeds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "apps/swarm/testing/world.h"
#include "base/core/test_cases.h"

namespace berth::swarm {
namespace {

using testing::Trouble;
using testing::World;

constexpr std::uint64_t kWorlds = berth::testing::by_build(5, 1);
/// With sanitizers a whole world takes minutes.
constexpr std::int64_t kTroubledSeconds =
    berth::testing::by_build<std::int64_t>(testing::WorldOptions().troubled_seconds, 600);

std::string line_of(std::uint64_t seed, const World& world) {
  std::string text = fmt::format(
      "seed {}: {} s of the world, {} events, {} questions, {} restarts, {} snapshots, orders: {} acknowledged, {} "
      "refused, {} unanswered of which {} were done",
      seed, world.world_seconds(), world.event_count(), world.questions(), world.restarts(), world.snapshots(),
      world.orders().acknowledged, world.orders().refused, world.orders().unanswered, world.orders().unanswered_done);
  for (std::size_t i = 0; i < testing::kTroubleCount; ++i) {
    if (world.troubles()[i] > 0) text += fmt::format(", {} {}", world.troubles()[i], word(static_cast<Trouble>(i)));
  }
  return text;
}

/// For debugging a seed: its events, and what happened in the world between them.
void write_told(const World& world) {
  const char* path = std::getenv("BERTH_SWARM_TOLD");
  if (path != nullptr) std::ofstream(path) << world.diary() << world.told();
}

void expect_recovery(std::uint64_t seed) {
  World world({.seed = seed, .troubled_seconds = kTroubledSeconds});
  world.run();
  for (const std::string& finding : world.findings()) ADD_FAILURE() << "seed " << seed << ": " << finding;
  fmt::print("swarm: {}\n", line_of(seed, world));
  std::fflush(stdout);
  write_told(world);
}

/// Seeds that once found a bug.
constexpr std::array kFailedOnce = {
    std::uint64_t{2026},  // a pinned slice was given to its service on a GPU that had just been cordoned
    std::uint64_t{7},     // a power cut scheduled before the healing counted as a world without progress
    std::uint64_t{5008},  // planning paused itself after the trouble ended, and the check took it for an order
};

TEST(Swarm, WorldsThatOnceDidNotRecoverDo) {
  if (berth::testing::kIsSlowBuild) GTEST_SKIP() << "too slow with sanitizers: the release build tries them";
  for (const std::uint64_t seed : kFailedOnce) expect_recovery(seed);
}

TEST(Swarm, FaultyWorldsRecover) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kWorlds)) expect_recovery(seed);
}

TEST(Swarm, TheSameSeedGivesTheSameBytes) {
  const testing::WorldOptions options{.seed = 3, .troubled_seconds = 300};
  World first(options);
  first.run();
  World second(options);
  second.run();
  EXPECT_FALSE(first.told().empty());
  EXPECT_EQ(first.told(), second.told());
}

}  // namespace
}  // namespace berth::swarm
