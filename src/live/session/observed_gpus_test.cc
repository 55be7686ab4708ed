#include "live/session/observed_gpus.h"

#include <gtest/gtest.h>

namespace berth::live {
namespace {

constexpr GpuId kObservedGpu{3};

GpuState cordoned(const std::string& reason) {
  GpuState state;
  state.scheduling = GpuScheduling::kCordoned;
  state.scheduling_reason = reason;
  return state;
}

TEST(ObservedGpus, AreCordonedOnceForEachReason) {
  const auto first = order_to_observe(kObservedGpu, GpuState(), "it is not listed");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->scheduling, GpuScheduling::kCordoned);
  EXPECT_EQ(first->reason, "observed: it is not listed");
  EXPECT_TRUE(is_observed(cordoned(first->reason)));
  EXPECT_FALSE(order_to_observe(kObservedGpu, cordoned(first->reason), "it is not listed").has_value());
  EXPECT_EQ(order_to_observe(kObservedGpu, cordoned(first->reason), "its MIG mode is off")->reason,
            "observed: its MIG mode is off");
}

TEST(ObservedGpus, ComeBackOnlyIfNobodyElseCordonedThem) {
  EXPECT_EQ(order_to_observe(kObservedGpu, cordoned("observed: it is not listed"), std::nullopt)->scheduling,
            GpuScheduling::kOpen);
  EXPECT_FALSE(order_to_observe(kObservedGpu, cordoned("a broken fan"), std::nullopt).has_value());
  EXPECT_FALSE(order_to_observe(kObservedGpu, cordoned("a broken fan"), "it is not listed").has_value());
  EXPECT_FALSE(order_to_observe(kObservedGpu, GpuState(), std::nullopt).has_value());
}

}  // namespace
}  // namespace berth::live
