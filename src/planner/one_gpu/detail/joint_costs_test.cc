#include "planner/one_gpu/detail/joint_costs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/change_times.h"
#include "planner/one_gpu/testing/configurations.h"

namespace berth::planner {
namespace {

using testing::kStatesMax;

constexpr int kJointCostsSeeds = berth::testing::by_build(100, 15);

struct Costs {
  explicit Costs(const Problem& problem, int block_slots = 1)
      : gpu_case(problem),
        phases(problem),
        states(gpu_case, Variants::kKept, kStatesMax),
        worth(gpu_case, states, phases),
        blocks(gpu_case, block_slots),
        costs(gpu_case, states, worth, phases) {
    Arrangements arrangements(gpu_case);
    const Arrangement standing = arrangements[arrangements.number_of(testing::standing_of(gpu_case))];
    std::vector<BundleIndex> bundles;
    for (const Share& share : standing.shares) bundles.push_back(share.bundle);
    costs.start(blocks, bundles);
  }
  GpuCase gpu_case;
  JointPhases phases;
  JointStates states;
  JointWorth worth;
  JointBlocks blocks;
  JointCosts costs;

  /// The costs at all boundaries, for any phases of the models; none where no change is counted.
  [[nodiscard]] std::vector<JointCosts::Costs> at_boundaries() {
    std::vector<JointCosts::Costs> all(ix(blocks.end()) + 1);
    for (BlockIndex boundary = blocks.end(); boundary >= 0; --boundary) {
      costs.go_to(boundary);
      // For models in training the freshness is not known.
      PhasesIndex of(0);
      for (const ServiceIndex service : phases.services()) of = phases.with(of, service, kTraining);
      if (blocks.can_change_at(boundary)) all[boundary] = costs.of(of);
    }
    return all;
  }

  /// The least additional worth of a piece in the slots from `from` until it is ready.
  [[nodiscard]] double lost(std::size_t addition, SlotIndex from, int slots) const {
    return worth.margins(from + slots)[addition] - worth.margins(from)[addition];
  }
  [[nodiscard]] int slots_to_give(ServiceIndex service) const { return gpu_case.start_slots[service]; }
  [[nodiscard]] int slots_to_create(ServiceIndex service, KindIndex kind) const {
    const Problem& problem = gpu_case.problem;
    return slots_of_seconds(problem.plumbing_seconds + problem.services[service].start_seconds +
                            create_seconds_of(problem, gpu_case.model, kind));
  }
  /// The least of all kinds.
  [[nodiscard]] int slots_to_create(ServiceIndex service) const {
    int least = slots_to_create(service, KindIndex(0));
    for (const KindIndex kind : Indices<KindIndex>(gpu_case.rooms.kinds())) {
      least = std::min(least, slots_to_create(service, kind));
    }
    return least;
  }
};

/// The costs at both boundaries, in proportion to the position of a slot in its block, cover those of each change in
/// it.
TEST(JointCosts, CoverEachChangeBetweenTwoBoundaries) {
  int between = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointCostsSeeds)) {
    const Problem problem = testing::one_gpu_of_tiny(seed);
    for (const int block_slots : {1, 2, 3}) {
      SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), blocks of {}", seed, block_slots));
      Costs of(problem, block_slots);
      const bool is_instant = std::ranges::count(of.gpu_case.start_slots, 0) > 0;
      if (block_slots > 1 && (is_instant || !of.phases.is_always_fresh())) continue;  // as in the joint bound
      const std::vector<JointCosts::Costs> all = of.at_boundaries();
      for (SlotIndex t = of.gpu_case.first_slot; t < of.gpu_case.end(); ++t) {
        if (!of.gpu_case.can_change(t)) continue;
        const BlockIndex block = of.blocks.of(t);
        const SlotIndex begin = of.blocks.begin_of(block);
        const double length = of.blocks.end_of(block) - begin;
        const double share = (t - begin) / length;
        if (share > 0) ++between;
        const JointCosts::Costs& first = all[block];
        const JointCosts::Costs& last = share > 0 ? all[ix(block) + 1] : first;
        // The worth of a piece from a boundary on is counted there, and in part at the next one.
        const auto line = [&](const std::vector<double>& from, const std::vector<double>& to, std::size_t i) {
          const SlotIndex end = of.blocks.end_of(block);
          return (1 - share) * (from[i] - of.worth.margins(begin)[i]) + share * (to[i] - of.worth.margins(end)[i]);
        };
        for (std::size_t i = 0; i < of.states.additions().size(); ++i) {
          const ServiceIndex service = of.states.additions()[i].service;
          const double slack = 1e-9 * (1 + std::abs(of.worth.margins(of.gpu_case.end())[i]));
          const double given = -of.worth.margins(t + of.slots_to_give(service))[i];
          const int to_create = of.slots_to_create(service, of.states.additions()[i].kind);
          const double created = -of.worth.margins(t + to_create)[i] - first.price;
          ASSERT_GE(line(first.given, last.given, i), given - slack);
          ASSERT_GE(line(first.created, last.created, i), created - slack);
          // A dropped piece serves until t, which the boundaries count in proportion.
          const double dropped = (1 - share) * (first.dropped[i] + of.worth.margins(begin)[i]) +
                                 share * (last.dropped[i] + of.worth.margins(of.blocks.end_of(block))[i]);
          ASSERT_GE(dropped, of.worth.margins(t)[i] - slack);
        }
      }
    }
  }
  EXPECT_GT(between, 0);
}

TEST(JointCosts, AreExactAtBoundariesOfSingleSlots) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointCostsSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    Problem problem = testing::one_gpu_of_tiny(seed);
    problem.gpus.front().standing.clear();  // nothing to take over
    Costs of(problem);
    const std::vector<JointCosts::Costs> all = of.at_boundaries();
    for (SlotIndex t = of.gpu_case.first_slot; t < of.gpu_case.end(); ++t) {
      const JointCosts::Costs& costs = all[of.blocks.of(t)];
      if (costs.given.empty()) continue;
      for (std::size_t i = 0; i < of.states.additions().size(); ++i) {
        const ServiceIndex service = of.states.additions()[i].service;
        const double slack = 1e-9 * (1 + std::abs(of.worth.margins(of.gpu_case.end())[i]));
        EXPECT_NEAR(costs.given[i], -of.lost(i, t, of.slots_to_give(service)), slack);
        EXPECT_NEAR(costs.created[i], -of.lost(i, t, of.slots_to_create(service)) - costs.price, slack);
        EXPECT_EQ(costs.dropped[i], 0);
      }
    }
  }
}

/// The room of all serving pieces.
RoomIndex serving_room_of(const GpuCase& gpu_case, const Arrangement& arrangement) {
  RoomIndex room = kEmptyRoom;
  for (const ServiceIndex service : indices_of<ServiceIndex>(arrangement.shares)) {
    room = gpu_case.rooms.join(room, gpu_case.bundles[service].room[arrangement.shares[service].bundle]);
  }
  return room;
}

TEST(JointCosts, ArePricedAtNoMoreThanAnyChangeBetweenTwoRooms) {
  int priced = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointCostsSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    Problem problem = testing::one_gpu_of_tiny(seed);
    problem.change_price = 3;
    if (seed % 2 == 0) {
      for (ServiceTerms& service : problem.services) service.retraining.reset();
    }
    Costs of(problem);
    Arrangements arrangements(of.gpu_case);
    const Configuration standing = testing::standing_of(of.gpu_case);
    const testing::Configurations configurations(of.gpu_case, standing);
    Rng rng(seed);
    const auto draw = [&] { return configurations.all()[rng.below(configurations.all().size())]; };
    for (int i = 0; i < 300; ++i) {
      const Configuration from = draw();
      const Configuration to = draw();
      const bool is_legal = std::ranges::all_of(to, [&](const Piece& piece) {
        return testing::does_something(of.gpu_case, piece) || std::ranges::count(from, piece) > 0;
      });
      if (!is_legal) continue;
      const RoomIndex from_room = serving_room_of(of.gpu_case, arrangements[arrangements.number_of(from)]);
      const RoomIndex to_room = serving_room_of(of.gpu_case, arrangements[arrangements.number_of(to)]);
      const double price = of.costs.price_from(from_room)[to_room];
      ASSERT_GE(price, 0);
      ASSERT_LE(price, price_of_change(of.gpu_case, from, to));
      if (price > 0) ++priced;
    }
  }
  EXPECT_GT(priced, 0);
}

/// Two services, of which 0 is stale; starting takes 2 s, creating half a second more: 2 and 3 slots.
Problem stale_problem_of_two() {
  Problem problem = testing::quarters_problem(2, 10);
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  return problem;
}

TEST(JointCosts, KnowWhereASliceIsCreatedInTime) {
  const Problem problem = stale_problem_of_two();
  EXPECT_TRUE(Costs(problem).costs.is_soon_created());
  Problem slow = stale_problem_of_two();
  slow.create_seconds = 1.7;
  EXPECT_FALSE(Costs(slow).costs.is_soon_created()) << "4 slots, and 2 where it is handed over";
  Problem apart = stale_problem_of_two();
  apart.services[1].trust_domain = 1;
  EXPECT_FALSE(Costs(apart).costs.is_soon_created()) << "it may not share the GPU with the others";
  Problem fresh = stale_problem_of_two();
  fresh.services[0].retraining.reset();
  EXPECT_FALSE(Costs(fresh).costs.is_soon_created()) << "no model retrains";
}

TEST(JointCosts, TakeOverWhatARetrainingLeaves) {
  const Problem problem = stale_problem_of_two();
  Costs of(problem);
  of.costs.go_to(of.blocks.end());
  EXPECT_FALSE(of.costs.takeover().while_training) << "there is no slot left";
  of.costs.go_to(of.blocks.end() - 1);
  EXPECT_TRUE(of.costs.takeover().while_training);
  EXPECT_FALSE(of.costs.takeover().at_once) << "what is taken now could have been created a slot before";
  Problem slow = problem;
  slow.create_seconds = 1.7;
  Costs of_slow(slow);
  of_slow.costs.go_to(of_slow.blocks.end());
  EXPECT_FALSE(of_slow.costs.takeover().while_training);
  EXPECT_TRUE(of_slow.costs.takeover().at_once);
  Problem fresh = problem;
  fresh.services[0].retraining.reset();
  Costs of_fresh(fresh);
  of_fresh.costs.go_to(of_fresh.blocks.end());
  EXPECT_FALSE(of_fresh.costs.takeover().at_once);
}

/// The unowned half is taken as if it were handed over; a quarter has to be created.
TEST(JointCosts, CreateNoSliceThatStandsUnused) {
  Problem problem = testing::quarters_problem(1, 10);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(5), .service = kNoService, .use = 0}, .ready_in = 0}};
  problem.change_price = 4;
  Costs of(problem);
  const JointCosts::Costs costs = of.at_boundaries().front();
  EXPECT_EQ(costs.price, 4);
  ASSERT_FALSE(costs.given.empty());
  for (std::size_t i = 0; i < of.states.additions().size(); ++i) {
    if (of.states.additions()[i].from != 0) continue;
    const bool is_half = of.states.additions()[i].kind == 1;
    EXPECT_NEAR(costs.given[i], -2 * 10, 1e-9);
    EXPECT_NEAR(costs.created[i], is_half ? -2 * 10 : -3 * 10 - 4, 1e-9);
  }
}

/// Until the next due slot a fresh model loses more, because the requests that it does not serve are worth more.
TEST(JointCosts, KnowThatAModelIsFreshUntilItIsDue) {
  Problem problem = testing::quarters_problem(1, 10);
  problem.create_seconds = 0;
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.due_slots = {SlotIndex(6)}};
  Costs of(problem);
  const auto first_given = [&](PhaseIndex phase) {
    return of.costs.of(of.phases.with(PhasesIndex(0), ServiceIndex(0), phase)).given.front();
  };
  for (BlockIndex boundary = of.blocks.end(); boundary >= 0; --boundary) {
    of.costs.go_to(boundary);
    const SlotIndex t = of.blocks.begin_of(boundary);
    if (t != 3 && t != 5 && t != 7) continue;
    EXPECT_NEAR(first_given(kTraining), -2 * 5, 1e-9);
    const double fresh = t == 3 ? -2 * 10 : t == 5 ? -10 - 5 : -2 * 10;
    EXPECT_NEAR(first_given(kFresh), fresh, 1e-9) << "slot " << t;
  }
}

TEST(JointCostsDeathTest, GoThroughTheBoundariesInTurn) {
  const Problem problem = stale_problem_of_two();
  Costs of(problem);
  EXPECT_DEATH(of.costs.go_to(of.blocks.end() - 1), "boundary");
}

}  // namespace
}  // namespace berth::planner
