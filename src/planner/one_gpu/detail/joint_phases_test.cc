#include "planner/one_gpu/detail/joint_phases.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

/// Services 0 and 2 retrain, service 1 does not, service 3 is fresh and never due.
Problem problem_of_four() {
  Problem problem = testing::quarters_problem(4, 4);
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  problem.services[2].retraining = RetrainingTerms{.due_slots = {SlotIndex(2)}};
  problem.services[3].retraining = RetrainingTerms{};
  return problem;
}

constexpr std::array kPhases = {kFresh, kStuck, kTraining};

TEST(JointPhases, AreThoseOfModelsThatMayBeStale) {
  const JointPhases phases(problem_of_four());
  EXPECT_EQ(phases.services(), (std::vector{ServiceIndex(0), ServiceIndex(2)}));
  EXPECT_EQ(phases.count(), 9);
  EXPECT_FALSE(phases.is_always_fresh());
}

TEST(JointPhases, HaveANumberForEachCombination) {
  const JointPhases phases(problem_of_four());
  std::set<PhasesIndex> numbers;
  for (const PhaseIndex first : kPhases) {
    for (const PhaseIndex second : kPhases) {
      const PhasesIndex one = phases.with(PhasesIndex(0), ServiceIndex(0), first);
      const PhasesIndex both = phases.with(one, ServiceIndex(2), second);
      EXPECT_EQ(phases.of(both, ServiceIndex(0)), first);
      EXPECT_EQ(phases.of(both, ServiceIndex(2)), second);
      EXPECT_EQ(phases.of(both, ServiceIndex(1)), kFresh);
      EXPECT_EQ(phases.of(both, ServiceIndex(3)), kFresh);
      numbers.insert(both);
    }
  }
  EXPECT_EQ(numbers.size(), ix(phases.count()));
  EXPECT_EQ(*numbers.begin(), 0);
  EXPECT_EQ(*numbers.rbegin(), phases.count() - 1);
}

TEST(JointPhases, ChangeOneAtATime) {
  const JointPhases phases(problem_of_four());
  for (const PhasesIndex from : Indices<PhasesIndex>(phases.count())) {
    for (const PhaseIndex phase : kPhases) {
      const PhasesIndex to = phases.with(from, ServiceIndex(2), phase);
      EXPECT_EQ(phases.of(to, ServiceIndex(2)), phase);
      EXPECT_EQ(phases.of(to, ServiceIndex(0)), phases.of(from, ServiceIndex(0)));
    }
  }
}

TEST(JointPhases, AreOneWhereAllModelsStayFresh) {
  const JointPhases phases(testing::quarters_problem(3, 4));
  EXPECT_TRUE(phases.is_always_fresh());
  EXPECT_EQ(phases.count(), 1);
  EXPECT_EQ(phases.of(PhasesIndex(0), ServiceIndex(1)), kFresh);
}

TEST(JointPhases, AreMoreThanAnyLimitForManyModels) {
  Problem problem = testing::quarters_problem(30, 4);
  for (ServiceTerms& service : problem.services)
    service.retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  const JointPhases phases(problem);
  EXPECT_EQ(phases.services().size(), 30U);
  EXPECT_GT(phases.count(), 40'000'000);
}

}  // namespace
}  // namespace berth::planner
