#include "kube/standby/standby_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json/node_text.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/fleet/testing/nvidia_pool.h"
#include "kube/placing/placing.h"
#include "kube/services/custom_resources.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StandbyBookTest : public ::testing::Test {
 protected:
  StandbyBookTest() : placing_({.own = {{"gpu.nvidia.com", std::nullopt}}}), book_({{"gpu.nvidia.com", std::nullopt}}) {
    take(kNodes, testing::ready_node("a"));
    take(kResourceSlices, testing::nvidia_counters({}));
    take(kResourceSlices, testing::nvidia_devices({}));
  }
  void take(const Resource& resource, const std::string& object, ChangeKind kind = ChangeKind::kModified) {
    const Change change = testing::change_of(object, kind);
    placing_.take(resource.plural, change);
    book_.take(resource.plural, change);
  }
  StandbyPicture read(int second = 0) { return book_.read(placing_, Instant::at_second(second)); }

  static std::string claim(const std::string& name, const std::string& device, const std::string& labels = "{}") {
    return fmt::format(
        R"({{"metadata":{{"name":"{}","namespace":"lab","uid":"{}","resourceVersion":"5","labels":{}}},)"
        R"("spec":{{"devices":{{"requests":[{{"name":"r","exactly":{{"deviceClassName":"any"}}}}]}}}},)"
        R"("status":{{"allocation":{{"devices":{{"results":[{{"request":"r","driver":"gpu.nvidia.com","pool":"a",)"
        R"("device":"{}"}}]}}}}}}}})",
        name, name, labels, device);
  }
  static std::string pod(const std::string& name, const std::string& ready) {
    return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"lab","uid":"p","resourceVersion":"6",)"
                       R"("labels":{{"berth.dev/service":"vision"}}}},"spec":{{}},)"
                       R"("status":{{"conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                       name, ready);
  }
  static std::string service(const std::string& phase, const std::string& slices = "[]") {
    return fmt::format(R"({{"metadata":{{"name":"vision","namespace":"lab","uid":"s","resourceVersion":"7"}},)"
                       R"("spec":{{"pod":{{"spec":{{}}}}}},"status":{{"phase":"{}","slices":{}}}}})",
                       phase, slices);
  }
  static constexpr const char* kLabels = R"({"berth.dev/service":"vision","berth.dev/slice":"gpu-4-1g.10gb-6-12"})";

  Placing placing_;
  StandbyBook book_;
};

TEST_F(StandbyBookTest, SlicesAreThoseOfClaims) {
  take(kGpuServices, service("Running"));
  take(kResourceClaims, claim("other", "gpu-0-mig-3g.40gb-9-0"));
  take(kResourceClaims, claim("ours", "gpu-0-mig-1g.10gb-19-6", kLabels));
  const StandbyPicture picture = read();
  ASSERT_THAT(picture.gpus, SizeIs(1));
  EXPECT_EQ(picture.gpus[0].node, "a");
  EXPECT_EQ(picture.gpus[0].state.scheduling, GpuScheduling::kOpen);
  ASSERT_THAT(picture.slices, SizeIs(2));
  EXPECT_EQ(picture.slices[0].state, live::SliceState::kForeign);
  EXPECT_EQ(picture.slices[0].slice.start, 0);
  const StandbySlice& ours = picture.slices[1];
  EXPECT_EQ(ours.slice.start, 6);
  EXPECT_EQ(ours.service, (ObjectName{"lab", "vision"}));
  EXPECT_EQ(ours.generation, 12U);
  EXPECT_EQ(ours.state, live::SliceState::kStarting) << "its pod does not exist yet";
  take(kPods, pod("ours", "True"));
  EXPECT_EQ(read(1).slices[1].state, live::SliceState::kServing);
  EXPECT_EQ(read(2).slices[1].seen_at, Instant());
  const std::string leaves = R"([{"gpu":"gpu-4","profile":"1g.10gb","start":6,"role":"inference","state":"draining"}])";
  take(kGpuServices, service("Draining", leaves));
  EXPECT_EQ(read(3).slices[1].state, live::SliceState::kDraining);
  take(kResourceClaims, claim("other", "gpu-0-mig-3g.40gb-9-0"), ChangeKind::kDeleted);
  EXPECT_THAT(read(4).slices, SizeIs(1));
}

TEST_F(StandbyBookTest, TenantsAreObjectsAndNamespacesOfServices) {
  take(kTenants, R"({"metadata":{"name":"alone","uid":"t","resourceVersion":"3"}})");
  take(kGpuServices, service("Refused"));
  StandbyPicture picture = read();
  EXPECT_THAT(picture.services, IsEmpty()) << "the leader's API does not have it either";
  EXPECT_THAT(picture.tenants, SizeIs(2));
  EXPECT_EQ(picture.tenants.at("lab"), nullptr);
  take(kGpuServices, service(""));
  EXPECT_THAT(read().services, SizeIs(1)) << "nobody has judged it";
  take(kGpuServices, service("Running"), ChangeKind::kDeleted);
  picture = read();
  EXPECT_THAT(picture.services, IsEmpty());
  EXPECT_THAT(picture.tenants, SizeIs(1));
}

TEST_F(StandbyBookTest, GpusKeepTheirNumbersAndSayWhenTheyChanged) {
  take(kNodes, testing::ready_node("a", R"("unschedulable":true)"));
  EXPECT_EQ(read(3).gpus[0].state.scheduling_since, Instant::at_second(3));
  EXPECT_EQ(read(4).gpus[0].state.scheduling_reason, "observed: node a is cordoned");
  EXPECT_EQ(read(5).gpus[0].state.scheduling_since, Instant::at_second(3));
  // "0" is before "a", and yet the later one.
  take(kNodes, testing::ready_node("0"));
  take(kResourceSlices, testing::nvidia_counters({.node = "0"}));
  take(kResourceSlices, testing::nvidia_devices({.node = "0"}));
  const StandbyPicture two = read(6);
  ASSERT_THAT(two.gpus, SizeIs(2));
  EXPECT_EQ(two.gpus[0].node, "a");
  EXPECT_EQ(two.gpus[1].node, "0");
  take(kResourceClaims, claim("ours", "gpu-0-mig-1g.10gb-19-6", kLabels));
  take(kResourceSlices, testing::nvidia_devices({}), ChangeKind::kDeleted);
  EXPECT_EQ(read(7).gpus[0].state.health, GpuHealth::kOk) << "the driver may publish it anew";
  const StandbyPicture later = read(30);
  EXPECT_EQ(later.gpus[0].state.health, GpuHealth::kLost);
  EXPECT_EQ(later.gpus[0].state.health_since, Instant::at_second(30));
  ASSERT_THAT(later.slices, SizeIs(1));
  EXPECT_EQ(later.slices[0].state, live::SliceState::kLost);
}

TEST_F(StandbyBookTest, ADrainedGpuIsCordoned) {
  take(kResourceClaims, claim("other", "gpu-0-mig-3g.40gb-9-0"));
  take(kDeviceTaintRules, R"({"metadata":{"name":"r","uid":"r","resourceVersion":"1"},"spec":{"deviceSelector":)"
                          R"({"driver":"gpu.nvidia.com"},"taint":{"key":"broken","effect":"NoExecute"}}})");
  EXPECT_EQ(read().gpus[0].state.scheduling, GpuScheduling::kDraining);
  take(kResourceClaims, claim("other", "gpu-0-mig-3g.40gb-9-0"), ChangeKind::kDeleted);
  const StandbyPicture picture = read(1);
  EXPECT_EQ(picture.gpus[0].state.scheduling, GpuScheduling::kCordoned);
  EXPECT_TRUE(picture.gpus[0].is_drained);
}

TEST_F(StandbyBookTest, PoolsOfOthersAreNotShown) {
  book_.own({{"gpu.nvidia.com", std::vector<std::string>{"b"}}});
  EXPECT_THAT(read().gpus, IsEmpty());
}

}  // namespace
}  // namespace berth::kube
