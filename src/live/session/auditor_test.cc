#include "live/session/testing/auditor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::slice_at;
using testing::Auditor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using world::SliceEvent;

/// Two GPUs, and a frozen window from second 50 to second 60.
class AuditorTest : public ::testing::Test {
 protected:
  void expects_approval(Approval approval) { auditor_ = Auditor(scenario(), {.approval = approval}); }

  void happens(std::int64_t second, EventKind kind, ObjectKind object, std::string name, std::string message = "") {
    auditor_.read(LoggedEvent{.sequence = ++sequence_,
                              .at = Instant::at_second(second),
                              .kind = kind,
                              .object = {.kind = object, .tenant = "", .name = std::move(name)},
                              .message = std::move(message)});
  }
  void happens_to_plan(std::int64_t second, EventKind kind, std::string message = "") {
    happens(second, kind, ObjectKind::kPlan, "plan-1", std::move(message));
  }
  void is_accepted(std::int64_t second) {
    happens_to_plan(second, EventKind::kPlanProposed);
    happens_to_plan(second, EventKind::kPlanAccepted);
  }
  void begins_to_create(std::int64_t second) {
    happens_to_plan(second, EventKind::kActionIntended, "action 1: create gpu-0-1g.10gb-0");
  }
  void happens_to_gpu(std::int64_t second, EventKind kind) { happens(second, kind, ObjectKind::kGpu, "gpu-0"); }
  void is_recorded(std::int64_t second, SliceEvent event, const Slice& slice, std::vector<ServiceId> services = {}) {
    auditor_.read(sim::JournalRecord(world::SliceRecord{
        .at = Instant::at_second(second), .event = event, .slice = slice, .services = std::move(services)}));
  }
  /// Expects exactly one finding, of that rule.
  void expect_found(const std::string& rule) const {
    EXPECT_THAT(auditor_.findings(), ElementsAre(StartsWith(rule + ": ")));
  }
  void expect_nothing_found() const { EXPECT_THAT(auditor_.findings(), IsEmpty()); }

  static Scenario scenario() {
    Scenario scenario = sim::testing::scenario_of({}, {}, 2);
    scenario.frozen = {{.from = Instant::at_second(50), .until = Instant::at_second(60)}};
    return scenario;
  }

  Auditor auditor_{scenario(), {}};
  std::uint64_t sequence_ = 0;
};

TEST_F(AuditorTest, FindsNothingInAGoodHistory) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  is_accepted(1);
  begins_to_create(1);
  is_recorded(2, SliceEvent::kCreated, slice, {{0}});
  happens(2, EventKind::kSliceCreated, ObjectKind::kGpuSlice, "gpu-0-1g.10gb-0");
  is_recorded(9, SliceEvent::kServing, slice, {{0}});
  happens_to_plan(9, EventKind::kActionDone, "action 1: create gpu-0-1g.10gb-0");
  is_recorded(20, SliceEvent::kDraining, slice, {{0}});
  is_recorded(25, SliceEvent::kServing, slice, {{1}});
  is_recorded(55, SliceEvent::kDraining, slice, {{1}});
  is_recorded(56, SliceEvent::kDestroyed, slice, {{1}});
  is_recorded(57, SliceEvent::kCreated, slice_at(0, "full", 0));
  auditor_.reach(Instant::at_second(500));
  auditor_.finish();
  expect_nothing_found();
  EXPECT_EQ(auditor_.standing().size(), 1U);
  EXPECT_EQ(auditor_.count(EventKind::kActionIntended), 1);
}

TEST_F(AuditorTest, FindsSlicesThatClash) {
  is_recorded(1, SliceEvent::kCreated, slice_at(0, "3g.40gb", 0));
  is_recorded(2, SliceEvent::kCreated, slice_at(1, "1g.10gb", 1));
  expect_nothing_found();
  is_recorded(3, SliceEvent::kCreated, slice_at(0, "1g.10gb", 1));
  expect_found("layout");
}

TEST_F(AuditorTest, FindsAWholeGpuBesideASlice) {
  is_recorded(1, SliceEvent::kCreated, slice_at(0, "full", 0));
  is_recorded(2, SliceEvent::kCreated, slice_at(0, "1g.10gb", 6));
  expect_found("layout");
}

TEST_F(AuditorTest, FindsASliceWhereOneOfOthersStands) {
  happens(1, EventKind::kSliceForeign, ObjectKind::kGpuSlice, "gpu-0-2g.20gb-0");
  is_recorded(2, SliceEvent::kCreated, slice_at(0, "1g.10gb", 1));
  expect_found("layout");
}

TEST_F(AuditorTest, SlicesOfOthersGoWithTheirGpu) {
  happens(1, EventKind::kSliceForeign, ObjectKind::kGpuSlice, "gpu-0-2g.20gb-0");
  happens_to_gpu(2, EventKind::kGpuLost);
  happens_to_gpu(3, EventKind::kGpuReturned);
  is_recorded(4, SliceEvent::kCreated, slice_at(0, "1g.10gb", 1));
  expect_nothing_found();
}

TEST_F(AuditorTest, FindsASliceThatStandsTwiceOrGoesTwice) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  is_recorded(1, SliceEvent::kCreated, slice);
  is_recorded(2, SliceEvent::kDestroyed, slice);
  expect_nothing_found();
  is_recorded(3, SliceEvent::kDestroyed, slice);
  expect_found("layout");
}

TEST_F(AuditorTest, FindsTwoOwners) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  is_recorded(1, SliceEvent::kCreated, slice);
  is_recorded(2, SliceEvent::kServing, slice, {{0}, {1}});
  expect_found("owners");
}

TEST_F(AuditorTest, FindsASecondOwnerBeforeTheFirstHasLeft) {
  const Slice slice = slice_at(0, "1g.10gb", 0);
  is_recorded(1, SliceEvent::kCreated, slice);
  is_recorded(2, SliceEvent::kServing, slice, {{0}});
  is_recorded(3, SliceEvent::kServing, slice, {{1}});
  expect_found("owners");
}

TEST_F(AuditorTest, FindsAChangeInAFrozenWindow) {
  is_accepted(50);
  begins_to_create(50);
  expect_found("frozen");
}

TEST_F(AuditorTest, AFrozenWindowEndsBeforeItsLastInstant) {
  is_accepted(60);
  begins_to_create(60);
  expect_nothing_found();
}

TEST_F(AuditorTest, FindsAChangeWhilePlanningIsPaused) {
  happens(1, EventKind::kPlanningPaused, ObjectKind::kPlanning, "planning");
  is_accepted(2);
  begins_to_create(2);
  expect_found("paused");
}

TEST_F(AuditorTest, FindsAGpuThatIsStuck) {
  is_accepted(1);
  begins_to_create(1);
  auditor_.reach(Instant::at_second(70));
  expect_nothing_found();
  auditor_.reach(Instant::at_second(77));
  auditor_.reach(Instant::at_second(78));
  expect_found("stuck");
}

TEST_F(AuditorTest, FindsAnActionThatNeverEnds) {
  is_accepted(1);
  begins_to_create(1);
  auditor_.finish();
  expect_found("stuck");
}

TEST_F(AuditorTest, FindsAnActionThatOutlivesItsGpu) {
  is_accepted(1);
  begins_to_create(1);
  happens_to_gpu(2, EventKind::kGpuLost);
  expect_found("stuck");
}

TEST_F(AuditorTest, FindsAChangeOfAGpuThatIsClosed) {
  happens_to_gpu(1, EventKind::kGpuCordoned);
  is_accepted(2);
  happens_to_plan(2, EventKind::kActionIntended, "action 2: destroy gpu-0-1g.10gb-0");
  expect_nothing_found();
  begins_to_create(2);
  expect_found("closed");
}

TEST_F(AuditorTest, FindsAPlanWithoutItsApproval) {
  expects_approval(Approval::kAlways);
  is_accepted(1);
  begins_to_create(1);
  expect_found("approval");
}

TEST_F(AuditorTest, FindsOnlyTheFirstChangeOfAGpuWithoutItsApproval) {
  expects_approval(Approval::kFirst);
  happens_to_plan(1, EventKind::kPlanProposed);
  happens_to_plan(2, EventKind::kPlanApproved);
  happens_to_plan(2, EventKind::kPlanAccepted);
  begins_to_create(2);
  for (const char* const kind : {"gpu-0-1g.10gb-1", "gpu-1-1g.10gb-0"}) {
    expect_nothing_found();
    const std::string plan = std::string("plan-of-") + kind;
    happens(3, EventKind::kPlanProposed, ObjectKind::kPlan, plan);
    happens(3, EventKind::kPlanAccepted, ObjectKind::kPlan, plan);
    happens(3, EventKind::kActionIntended, ObjectKind::kPlan, plan, std::string("action 1: create ") + kind);
  }
  expect_found("approval");
}

TEST_F(AuditorTest, FindsAnApprovalThatCameTooLate) {
  happens_to_plan(1, EventKind::kPlanProposed);
  happens_to_plan(2, EventKind::kPlanExpired);
  happens_to_plan(3, EventKind::kPlanApproved);
  expect_found("approval");
}

TEST_F(AuditorTest, FindsAnActionOfAPlanThatWasNotAccepted) {
  happens_to_plan(1, EventKind::kPlanProposed);
  begins_to_create(2);
  expect_found("order");
}

TEST_F(AuditorTest, FindsAnActionThatEndsTwice) {
  is_accepted(1);
  begins_to_create(1);
  happens_to_plan(2, EventKind::kActionFailed, "action 1: create gpu-0-1g.10gb-0: the GPU did not create it");
  expect_nothing_found();
  happens_to_plan(3, EventKind::kActionDone, "action 1: create gpu-0-1g.10gb-0");
  expect_found("order");
}

TEST_F(AuditorTest, FindsAMissingEventAndTimeThatGoesBack) {
  happens_to_gpu(5, EventKind::kGpuCordoned);
  ++sequence_;
  happens_to_gpu(4, EventKind::kGpuUncordoned);
  EXPECT_THAT(auditor_.findings(), ElementsAre(StartsWith("order: "), StartsWith("order: ")));
}

}  // namespace
}  // namespace berth::live
