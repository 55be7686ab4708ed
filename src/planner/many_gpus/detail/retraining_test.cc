#include "planner/many_gpus/detail/retraining.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

Problem retraining_problem(std::uint64_t seed) {
  testing::Shape shape{.gpus = {"A30-24GB", "A30-24GB"}};
  shape.services = 2;
  shape.slots = 14;
  shape.samples = 2;
  shape.retraining_percent = 100;
  shape.oddities_percent = 50;
  Problem problem = testing::ProblemGenerator(shape, Rng(seed)).draw();
  for (ServiceTerms& service : problem.services) service.outside_progress.clear();
  return problem;
}

/// Random changes in which nothing retrains.
std::optional<Schedule> any_schedule(const Problem& problem, std::uint64_t seed) {
  Problem serving = problem;
  for (ModelTerms& model : serving.models) {
    for (std::vector<Rates>& kind : model.rates) {
      for (Rates& rates : kind) rates.retraining_slots = 0;
    }
  }
  Rng rng = Rng(seed).split("schedule");
  return testing::any_schedule(serving, rng);
}

/// The worth of a service with more progress in some slots.
double worth_with(const Terms& terms, const ServiceSupply& now, ServiceIndex service, SlotIndex from, SlotIndex until,
                  double rate) {
  std::vector<double> progress = now.progress;
  for (SlotIndex slot = from; slot < std::min(until, terms.tail()); ++slot) progress[idx(slot)] += rate;
  return value_of(terms, service, now.capacity, progress);
}

/// The models of a random fleet become stale, complete retrainings, swap, and keep or lose unfinished progress; the
/// gain of one more retraining piece is the difference of the whole sums with and without it.
TEST(FleetRetraining, GainsAreTheDifferenceOfWholeSums) {
  int gaining = 0;
  int losing = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = retraining_problem(seed);
    for (GpuTerms& gpu : problem.gpus) {
      std::erase_if(gpu.standing, [](const StandingPiece& each) { return each.piece.use == kRetraining; });
    }
    const auto schedule = any_schedule(problem, seed);
    if (!schedule) continue;
    Rng rng = Rng(seed).split("pieces");
    const Terms terms(problem);
    const FleetState state = state_of(terms, *schedule);
    const Grid grid = make_grid(terms, {SlotIndex(3), SlotIndex(8)}, {});
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const RetrainingWorth worth(terms, state, service);
      const double alone = state.service(service).value;
      for (const SlotIndex ready : {SlotIndex(0), SlotIndex(rng.below(14)), terms.tail() - 1, terms.tail()}) {
        const double rate = 1.0 / static_cast<double>(1 + rng.below(8));
        SCOPED_TRACE(fmt::format("seed {}, service {}, ready {}, rate {}", seed, service, ready, rate));
        const std::vector<double> gains = worth.until_points(grid, ready, rate);
        ASSERT_EQ(gains.size(), grid.width());
        for (std::size_t b = 0; b < gains.size(); ++b) {
          const SlotIndex until = b + 1 == gains.size() ? terms.tail_end() : grid.points[b];
          const double gain = worth_with(terms, state.service(service), service, ready, until, rate) - alone;
          EXPECT_NEAR(gains[b], gain, 1e-7 * (1 + std::abs(alone)));
          gaining += gain > 1 ? 1 : 0;
          losing += gain < -1 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(gaining, 100);
  EXPECT_GT(losing, 0);  // done just before the next is due
}

TEST(FleetRetraining, ATableHasThePiecesThatBeginAtEachPoint) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = retraining_problem(seed);
    const Terms terms(problem);
    const FleetState state(terms);
    const Grid grid = make_grid(terms, {SlotIndex(4), SlotIndex(9)}, {});
    const RetrainingWorth worth(terms, state, ServiceIndex(1));
    PieceTable table;
    worth.fill_table(grid, 4, table);
    ASSERT_EQ(table.uses.size(), 1U);
    EXPECT_EQ(table.uses.front(), std::pair(ServiceIndex(1), kRetraining));
    const std::size_t width = grid.width();
    for (std::size_t a = 0; a + 1 < width; ++a) {
      const std::vector<double> on_new = worth.until_points(grid, grid.points[a] + terms.retraining.on_new_site, 0.25);
      const std::vector<double> on_same =
          worth.until_points(grid, grid.points[a] + terms.retraining.on_same_site, 0.25);
      for (std::size_t b = a + 1; b < width; ++b) {
        EXPECT_EQ(table.on_new[a * width + b], std::max(0.0, on_new[b]));
        EXPECT_EQ(table.on_same[a * width + b], std::max(0.0, on_same[b]));
        EXPECT_EQ(table.which_new[a * width + b], 0);
      }
    }
  }
}

}  // namespace
}  // namespace berth::planner::fleet
