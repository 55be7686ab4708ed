#include "planner/one_gpu/detail/block_prices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using RoomValues = std::vector<std::vector<double>>;  // [service][room]

double worth(const Rooms& rooms, RoomIndex room, const std::vector<double>& prices) {
  double sum = 0;
  for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) sum += prices[kind] * rooms.count_of(room, kind);
  return sum;
}

/// The most expensive room plus the best gain of each service alone.
double bound_at_room_prices(const Rooms& rooms, const RoomValues& values, const std::vector<double>& prices) {
  double bound = 0;
  for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) bound = std::max(bound, worth(rooms, room, prices));
  for (const std::vector<double>& of_room : values) {
    double most = -std::numeric_limits<double>::infinity();
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
      most = std::max(most, of_room[room] - worth(rooms, room, prices));
    }
    bound += most;
  }
  return bound;
}

/// The best of all ways to share the GPU, from a service on.
double best_shared(const Rooms& rooms, const RoomValues& values, ServiceIndex service, RoomIndex taken) {
  if (ix(service) == values.size()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
    const RoomIndex joined = rooms.join(taken, room);
    if (joined == kNoRoom || std::isinf(values[service][room])) continue;
    best = std::max(best, values[service][room] + best_shared(rooms, values, service + 1, joined));
  }
  return best;
}

/// Larger rooms are worth more, or worths are arbitrary. The unusable rooms stay the same from call to call.
RoomValues drawn_room_values(const Rooms& rooms, int services, std::uint64_t seed, Rng& rng) {
  RoomValues values;
  for (const ServiceIndex service : Indices<ServiceIndex>(services)) {
    std::vector<double> of_kind(ix(rooms.kinds()));
    for (double& each : of_kind) each = 100 * rng.unit();
    std::vector<double> of_room;
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
      const std::uint64_t chance = Rng(seed).split("no use", ix(service) * 1000 + ix(room))() % 5;
      const bool is_of_no_use = room > 0 && chance == 0;
      const double value = std::pow(worth(rooms, room, of_kind), 0.8);
      of_room.push_back(is_of_no_use ? -std::numeric_limits<double>::infinity() : value);
    }
    values.push_back(std::move(of_room));
  }
  return values;
}

/// The bound is convex: if no step lowers it, it is minimal.
void expect_least(const Rooms& rooms, const RoomValues& values, const std::vector<double>& prices, Rng& rng) {
  const double least = bound_at_room_prices(rooms, values, prices);
  const double tolerance = 1e-7 * (1 + std::abs(least));
  for (int trial = 0; trial < 100; ++trial) {
    const double length = std::pow(10.0, static_cast<double>(rng.below(6)) - 3);
    const std::uint64_t only = rng.below(prices.size() * 2);
    std::vector<double> other = prices;
    for (const KindIndex kind : indices_of<KindIndex>(other)) {
      if (only < other.size() && only != ix(kind)) continue;
      other[kind] = std::max(0.0, other[kind] + length * (2 * rng.unit() - 1));
    }
    ASSERT_GE(bound_at_room_prices(rooms, values, other), least - tolerance)
        << fmt::format("at {}, not {}", other, prices);
  }
}

TEST(BlockPrices, GiveTheLeastBound) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(150, 15))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    problem.gpus.resize(1);
    const GpuCase gpu_case(problem);
    const int services = static_cast<int>(problem.services.size());
    BlockPrices solver(gpu_case);
    Rng rng(seed);
    // Each call starts from the last basis.
    for (int call = 0; call < 4; ++call) {
      const RoomValues values = drawn_room_values(gpu_case.rooms, services, seed, rng);
      const std::vector<double> prices = solver.solve(values);
      ASSERT_EQ(prices.size(), ix(gpu_case.rooms.kinds()));
      for (const double price : prices) EXPECT_GE(price, 0);
      const double shared = best_shared(gpu_case.rooms, values, ServiceIndex(0), kEmptyRoom);
      EXPECT_GE(bound_at_room_prices(gpu_case.rooms, values, prices), shared - 1e-7 * (1 + std::abs(shared)));
      expect_least(gpu_case.rooms, values, prices, rng);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BlockPrices, GiveTheLeastBoundOnAWholeGpu) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(6, 1))) {
    SCOPED_TRACE(fmt::format("one_gpu_problem(Rng({}), 4, 4)", seed));
    const Problem problem = testing::one_gpu_problem(Rng(seed), 4, 4);
    const GpuCase gpu_case(problem);
    BlockPrices solver(gpu_case);
    Rng rng(seed);
    const RoomValues values = drawn_room_values(gpu_case.rooms, 4, seed, rng);
    expect_least(gpu_case.rooms, values, solver.solve(values), rng);
    if (HasFatalFailure()) return;
  }
}

/// Three services value a quarter at 10, 8 and 6, the others at nothing: four quarters are enough, and free. With five
/// services one is left out: a quarter costs at least its value to that one, and at most its value to the next.
TEST(BlockPrices, AreWhatTheFirstOneLeftOutWouldGive) {
  for (const int services : {3, 5}) {
    const Problem problem = testing::quarters_problem(services, 2);
    const GpuCase gpu_case(problem);
    RoomValues values;
    for (const ServiceIndex service : Indices<ServiceIndex>(services)) {
      values.emplace_back(ix(gpu_case.rooms.count()), -std::numeric_limits<double>::infinity());
      values.back().front() = 0;
      values.back()[ix(gpu_case.rooms.add(kEmptyRoom, KindIndex(0)))] = 10 - 2 * service;
    }
    BlockPrices solver(gpu_case);
    const std::vector<double> prices = solver.solve(values);
    EXPECT_NEAR(bound_at_room_prices(gpu_case.rooms, values, prices), services == 3 ? 24 : 28, 1e-9);
    if (services == 3) {
      EXPECT_NEAR(prices.front(), 0, 1e-9);
    }
    if (services == 5) {
      EXPECT_TRUE(prices.front() >= 2 - 1e-9 && prices.front() <= 4 + 1e-9);
    }
  }
}

}  // namespace
}  // namespace berth::planner
