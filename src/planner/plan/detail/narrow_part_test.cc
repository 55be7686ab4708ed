#include "planner/plan/detail/narrow_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planner/plan/detail/part.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using fleet::idx;

struct Fleet {
  Problem problem;
  Schedule schedule;
};

Fleet planned_fleet_of_five(std::uint64_t seed, int services) {
  Fleet fleet{.problem = testing::fleet_problem(Rng(seed), 5, services, 20, seed % 2 == 0 ? 0 : 20), .schedule = {}};
  fleet.schedule = solve(fleet.problem, {.nodes_max = 300, .gap = 0.1}).schedule;
  return fleet;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  for (std::size_t i = 0; i < std::max(found.size(), wanted.size()); ++i) {
    EXPECT_NEAR(i < found.size() ? found[i] : 0, i < wanted.size() ? wanted[i] : 0, 1e-8);
  }
}

/// Whether another GPU drops a standing retraining piece of the service in slot 0.
bool goes_at_once(const Problem& problem, const Schedule& schedule, GpuIndex gpu, ServiceIndex service) {
  for (const GpuIndex other : indices_of<GpuIndex>(problem.gpus)) {
    if (other == gpu || schedule.gpus[other].empty() || schedule.gpus[other].front().slot > 0) continue;
    for (const StandingPiece& each : problem.gpus[other].standing) {
      const bool is_its = each.piece.service == service && each.piece.use == kRetraining;
      if (is_its &&
          std::ranges::find(schedule.gpus[other].front().to, each.piece) == schedule.gpus[other].front().to.end()) {
        return true;
      }
    }
  }
  return false;
}

TEST(NarrowPart, WithAllServicesIsThePartOfTheFleet) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const auto [problem, schedule] = planned_fleet_of_five(seed, 4);
    const fleet::Terms terms(problem);
    fleet::FleetState state = fleet::state_of(terms, schedule);
    std::vector<ServiceIndex> all(problem.services.size());
    std::iota(all.begin(), all.end(), ServiceIndex(0));
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      fleet::Path own = state.path(gpu);
      state.take_out(gpu);
      const NarrowPart part = narrow_part(state, gpu, all);
      state.put(gpu, std::move(own));
      const Problem wanted = part_of(problem, schedule, gpu);
      EXPECT_TRUE(part.has_all_services);
      ASSERT_EQ(part.problem.services.size(), wanted.services.size());
      for (const ServiceIndex i : indices_of<ServiceIndex>(wanted.services)) {
        const ServiceTerms& one = part.problem.services[i];
        const ServiceTerms& other = wanted.services[i];
        expect_near(one.outside, other.outside);
        if (one.retraining) expect_near(one.outside_progress, other.outside_progress);
        EXPECT_NEAR(one.outside_floor_rate, other.outside_floor_rate, 1e-8);
        // part_of also counts a standing retraining piece that is dropped in slot 0 and so exists in no slot.
        if (one.retrains_elsewhere != other.retrains_elsewhere) {
          EXPECT_TRUE(goes_at_once(problem, schedule, gpu, i));
        }
        EXPECT_EQ(one.changes_max, other.changes_max);
      }
      const Schedule its_own{{schedule.gpus[idx(gpu)]}};
      EXPECT_NEAR(evaluate(part.problem, its_own).objective, evaluate(wanted, its_own).objective, 1e-6);
    }
  }
}

TEST(NarrowPart, KeepsTheServicesOfTheGpuAndTheLikeliestOthers) {
  constexpr std::size_t kOthers = 2;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const auto [problem, schedule] = planned_fleet_of_five(seed, 12);
    const fleet::Terms terms(problem);
    fleet::FleetState state = fleet::state_of(terms, schedule);
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      fleet::Path own = state.path(gpu);
      state.take_out(gpu);
      const std::vector<ServiceIndex> services = likely_services(state, gpu, kOthers);
      const NarrowPart part = narrow_part(state, gpu, services);
      state.put(gpu, std::move(own));
      EXPECT_TRUE(std::ranges::is_sorted(services));
      EXPECT_LE(services.size(), 12U);
      EXPECT_EQ(part.has_all_services, services.size() == problem.services.size());
      // The plan's changes here can be converted to the part's numbers and back.
      std::vector<Change> changes = schedule.gpus[idx(gpu)];
      for (Change& change : changes) {
        for (Piece& piece : change.to) piece = part.to_part(piece);
      }
      const std::string fault = find_fault(part.problem, {{changes}}).value_or("");
      EXPECT_TRUE(fault.empty() || fault.find("of its floor") != std::string::npos) << fault;
      const std::vector<Change> back = part.to_fleet(changes);
      for (std::size_t i = 0; i < back.size(); ++i) EXPECT_EQ(back[i].to, schedule.gpus[idx(gpu)][i].to);
    }
  }
}

}  // namespace
}  // namespace berth::planner
