#include "scheduling/jobs/coverage_control.h"

#include <gtest/gtest.h>

namespace berth::sched {
namespace {

TEST(CoverageControl, CountsPromisesWhenTheyAreDecided) {
  CoverageControl control(4);
  EXPECT_DOUBLE_EQ(control.excess(), 0);
  control.promise(JobIndex(0), 100);
  control.promise(JobIndex(1), 100);
  control.promise(JobIndex(2), 200);
  control.started(JobIndex(0), 100);  // in time
  EXPECT_DOUBLE_EQ(control.excess(), -0.1 / 23);
  control.pass(100);
  EXPECT_DOUBLE_EQ(control.excess(), -0.1 / 23) << "the second that was promised has not passed yet";
  control.pass(101);
  EXPECT_DOUBLE_EQ(control.excess(), (1 - 0.2) / 23) << "missed as soon as that is clear";
  EXPECT_FALSE(control.is_pending(JobIndex(1)));
  control.started(JobIndex(1), 150);
  EXPECT_DOUBLE_EQ(control.excess(), (1 - 0.2) / 23) << "counted once";
  control.started(JobIndex(2), 201);
  EXPECT_DOUBLE_EQ(control.excess(), (2 - 0.3) / 23);
  control.started(JobIndex(3), 201);
  EXPECT_DOUBLE_EQ(control.excess(), (2 - 0.3) / 23) << "nothing was promised";
}

}  // namespace
}  // namespace berth::sched
