#include "kube/world/cluster_world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/snapshot.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/fleet/testing/nvidia_pool.h"
#include "live/session/observed_gpus.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<OwnedPools> kOwn = {{"gpu.nvidia.com", std::nullopt}};

/// One A100 on node "a", and a service that needs a slice of it.
class ClusterWorldTest : public ::testing::Test {
 protected:
  ClusterWorldTest() : placing_({.own = kOwn}) {
    for (const Resource& resource : followed_resources()) placing_.note_listed(resource.plural);
    take(kNodes, testing::ready_node("a"));
    for (const std::string& slice : {testing::nvidia_counters({}), testing::nvidia_devices({})})
      take(kResourceSlices, slice);
  }

  void take(const Resource& resource, const std::string& object, ChangeKind kind = ChangeKind::kModified) {
    const Change change = testing::change_of(object, kind);
    placing_.take(resource.plural, change);
    if (world_) world_->take(resource.plural, change);
  }

  void begin() {
    const auto fleet = fleet_of(planned_gpus(placing_.inventory(), {{"gpu.nvidia.com", "a"}}));
    world_ = std::make_unique<ClusterWorld>(ClusterWorldOptions{.own = kOwn, .fleet = fleet, .world = "w"});
    world_->set_pods({{{"lab", "vision"}, R"({"spec":{"containers":[{"name":"server"}]}})"}});
    world_->see(placing_, Instant());
    ServiceSpec service = sim::testing::service_of("vision", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                   sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
    service.tenant = "lab";
    service.expects = Decimal(20);
    service.running.replicas = ReplicaLimits{.slices_min = 0, .slices_max = 1};
    Scenario scenario = sim::testing::scenario_of({service}, {}, 1);
    scenario.layout.reset();
    scenario.fleet = {{.model = fleet.front().model, .count = 1, .usd_per_gpu_hour = std::nullopt}};
    live::SessionOptions options;
    options.has_load = false;
    options.observed = world_->observed();
    options.has_outside_devices = true;
    options.runs_all_services = true;
    options.first_layout_takes_time = true;
    options.listener.next_intent = [this] { return ++intents_; };
    options.listener.boot = [] { return std::optional<std::string>("cluster"); };
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
    session_->begin(world_->sights());
  }
  /// A few seconds pass.
  void serve(int seconds = 1) {
    for (int i = 0; i < seconds; ++i) {
      const Instant until = Instant::at_second(session_->now().second() + 1);
      world_->see(placing_, session_->now());
      world_->serve(*session_, session_->now());
      placing_.reserve(world_->reserved());
      while (session_->now() < until) static_cast<void>(session_->advance(until));
      static_cast<void>(decide());
      world_->serve(*session_, session_->now());
    }
  }
  std::vector<Action> decide() { return world_->decide(session_->now()); }
  /// What an API server makes of a creation.
  void stand(const Action& action) { take(action.write.resource, with_identity(call_of(action.write).body)); }
  std::string with_identity(std::string body) {
    const std::string name = R"("metadata":{)";
    return body.insert(body.find(name) + name.size(),
                       fmt::format(R"("uid":"u{0}","resourceVersion":"{0}",)", ++version_));
  }

  Placing placing_;
  std::unique_ptr<ClusterWorld> world_;
  std::unique_ptr<live::Session> session_;
  std::uint64_t intents_ = 0;
  int version_ = 100;
};

TEST_F(ClusterWorldTest, ASliceOfAServiceIsClaimedWhereThePlanNamesIt) {
  begin();
  serve(2);
  const auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kClaim);
  ASSERT_THAT(session_->program_slices(), SizeIs(1));
  const Slice slice = session_->program_slices().front().slice;
  EXPECT_THAT(actions[0].text, HasSubstr(fmt::format("gpu-0-mig-1g.10gb-19-{}", slice.start)));
  EXPECT_THAT(world_->reserved(), SizeIs(1));
  // Placing does not give that room away.
  EXPECT_TRUE(placing_.inventory().held().contains(*world_->reserved().begin()));
  stand(actions[0]);
  const auto allocations = placing_.decide(session_->now(), "2026-01-01T00:00:00.000000Z");
  ASSERT_THAT(allocations, SizeIs(1));
  EXPECT_EQ(allocations[0].kind, ActionKind::kAllocate);
}

TEST_F(ClusterWorldTest, WhatOthersHoldIsForeign) {
  take(kResourceClaims,
       testing::claim_on(
           "other", "any", 1,
           R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
           R"("pool":"a","device":"gpu-0-mig-4g.40gb-5-0"}]}}})"));
  begin();
  serve(2);
  const auto& slices = session_->snapshot().slices;
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_TRUE(slices.front().is_foreign);
  EXPECT_GE((*(++slices.begin())).holding.slice.start, 4);
  const auto usage = [this] { return session_->usage().open()[0][0].part; };
  EXPECT_EQ(usage().state, live::UsageState::kHeld) << "by the namespace of the claim";
  EXPECT_EQ(usage().holders, (std::vector<live::ServiceName>{{.tenant = "n", .name = ""}}));
  take(kResourceClaims, testing::claim_on("other", "any", 2), ChangeKind::kDeleted);
  serve();
  EXPECT_EQ(session_->snapshot().slices.size(), 1U);
}

TEST_F(ClusterWorldTest, CordonsTaintsAndNodesCloseAGpu) {
  begin();
  serve();
  const auto state = [this] { return session_->gpu_state({0}); };
  EXPECT_EQ(state().scheduling, GpuScheduling::kOpen);
  take(kNodes, testing::ready_node("a", R"("unschedulable":true)"));
  serve();
  EXPECT_EQ(state().scheduling_reason, "observed: node a is cordoned");
  take(kNodes, testing::ready_node("a"));
  serve();
  EXPECT_EQ(state().scheduling, GpuScheduling::kOpen);
  const auto rule = [](const std::string& effect) {
    return fmt::format(R"({{"metadata":{{"name":"r","uid":"r","resourceVersion":"1"}},"spec":{{"deviceSelector":)"
                       R"({{"driver":"gpu.nvidia.com","pool":"a"}},"taint":{{"key":"broken","effect":"{}"}}}}}})",
                       effect);
  };
  take(kDeviceTaintRules, rule("NoSchedule"));
  serve();
  EXPECT_EQ(state().scheduling, GpuScheduling::kCordoned);
  EXPECT_THAT(state().scheduling_reason, HasSubstr("has the taint broken:NoSchedule"));
  take(kDeviceTaintRules, rule("NoExecute"));
  serve(3);
  EXPECT_NE(state().scheduling, GpuScheduling::kOpen);
  EXPECT_THAT(state().scheduling_reason, HasSubstr("has the taint broken:NoExecute"));
  EXPECT_THAT(session_->program_slices(), IsEmpty()) << "they are drained";
  take(kDeviceTaintRules, rule("NoExecute"), ChangeKind::kDeleted);
  serve();
  EXPECT_EQ(state().scheduling, GpuScheduling::kOpen);
}

TEST_F(ClusterWorldTest, AGpuWhosePoolIsGoneIsLostUntilItIsBack) {
  begin();
  serve();
  take(kResourceSlices, testing::nvidia_devices({}), ChangeKind::kDeleted);
  serve(5);
  EXPECT_EQ(session_->gpu_state({0}).health, GpuHealth::kOk) << "the driver may publish it anew";
  serve(8);
  EXPECT_EQ(session_->gpu_state({0}).health, GpuHealth::kLost);
  take(kResourceSlices, testing::nvidia_devices({}));
  serve();
  EXPECT_EQ(session_->gpu_state({0}).health, GpuHealth::kOk);
}

}  // namespace
}  // namespace berth::kube
