#include "sim/world/simulated_driver.h"

#include <gtest/gtest.h>

#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

class SimulatedDriverTest : public ::testing::Test {
 protected:
  void inject(FaultKind kind, Micros duration = {}) {
    faults_.add(faults_.next_id(), {.kind = kind, .gpus = {{0}}, .times = 1, .duration = duration, .profile = {}},
                Instant());
  }

  const DeviceAction creation_{.kind = ActionKind::kCreation, .slice = testing::slice_at(0, "1g.10gb", 0)};
  const DeviceAction destruction_{.kind = ActionKind::kDestruction, .slice = creation_.slice};
  Scenario scenario_ = testing::scenario_of({}, {}, 2);
  FaultBook faults_;
  SimulatedDriver driver_{scenario_, faults_};
};

TEST_F(SimulatedDriverTest, ActionsTakeTheTimesOfTheScenario) {
  scenario_.changes.create = Micros::seconds(90);
  EXPECT_EQ(driver_.begin(creation_)->duration, Micros::seconds(90));
  EXPECT_FALSE(driver_.begin(creation_)->times_out);
  EXPECT_EQ(driver_.begin(destruction_)->duration, scenario_.changes.destroy);
  EXPECT_EQ(driver_.end(creation_).outcome, ActionOutcome::kDone);
}

TEST_F(SimulatedDriverTest, ASlowActionTimesOutAfterAMinute) {
  inject(FaultKind::kSlow, kActionTimeMax);
  EXPECT_FALSE(driver_.begin(creation_)->times_out);
  inject(FaultKind::kSlow, kActionTimeMax + Micros(1));
  const auto slow = driver_.begin(creation_);
  EXPECT_TRUE(slow->times_out);
  EXPECT_EQ(slow->duration, kActionTimeMax);
}

TEST_F(SimulatedDriverTest, AFaultIsUsedByTheActionThatItIsFor) {
  inject(FaultKind::kFailDestroy);
  EXPECT_EQ(driver_.end(creation_).outcome, ActionOutcome::kDone);
  const ActionResult failed = driver_.end(destruction_);
  EXPECT_EQ(failed.outcome, ActionOutcome::kFailed);
  EXPECT_EQ(failed.why, "the GPU did not destroy it");
  EXPECT_EQ(driver_.end(destruction_).outcome, ActionOutcome::kDone);
  inject(FaultKind::kReportsFailure);
  EXPECT_EQ(driver_.end(creation_).why, "the GPU reported a failure");
}

}  // namespace
}  // namespace berth::sim
