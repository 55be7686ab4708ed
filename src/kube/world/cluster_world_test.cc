#include "kube/world/cluster_world.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/values/snapshot.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/fleet/testing/nvidia_pool.h"
#include "live/session/entry.h"
#include "live/session/observed_gpus.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/usage_book.h"
#include "sim/world/testing/scenarios.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<OwnedPools> all_pools() { return {{"gpu.nvidia.com", std::nullopt}}; }

/// One A100 on node "a", and a service that needs a slice of it.
class ClusterWorldTest : public ::testing::Test {
 protected:
  ClusterWorldTest() : placing_({.own = all_pools()}) {
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

  void begin(std::size_t gpus_max = 8) {
    std::set<PoolName> pools;
    for (const auto& [name, pool] : placing_.inventory().pools()) pools.insert(name);
    const auto fleet = fleet_of(planned_gpus(placing_.inventory(), pools));
    world_ = std::make_unique<ClusterWorld>(
        ClusterWorldOptions{.own = all_pools(), .fleet = fleet, .world = "w", .gpus_max = gpus_max});
    world_->set_pods({{{"lab", "vision"}, R"({"spec":{"containers":[{"name":"server"}]}})"}});
    world_->see(placing_, Instant());
    make_session(fleet);
    session_->begin(world_->sights());
  }
  /// The session with another fleet that follows this one.
  void go_on(const std::vector<device::LocalGpu>& fleet) {
    while (!session_->is_at_rest()) static_cast<void>(session_->advance(session_->now() + Micros::seconds(1)));
    const std::string saved = session_->save();
    sim::WorldLeft left = session_->world_left();
    left.devices.resize(fleet.size());
    world_->begin_again(fleet);
    world_->see(placing_, session_->now());
    make_session(fleet);
    ASSERT_TRUE(session_->restore(saved));
    world_->adopt(left);
    session_->repeat({}, left.world.orders);
    session_->resume(std::move(left));
  }
  void make_session(const std::vector<device::LocalGpu>& fleet) {
    ServiceSpec service = sim::testing::service_of("vision", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                   sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
    service.tenant = "lab";
    service.expects = Decimal(20);
    service.running.replicas = ReplicaLimits{.slices_min = 0, .slices_max = 1};
    Scenario scenario = sim::testing::scenario_of({service}, {}, 1);
    scenario.layout.reset();
    scenario.fleet.clear();
    ASSERT_TRUE(device::put_fleet(scenario, fleet));
    live::SessionOptions options;
    options.has_load = false;
    options.observed = world_->observed();
    options.has_outside_devices = true;
    options.runs_all_services = true;
    options.first_layout_takes_time = true;
    options.listener.next_intent = [this] { return ++intents_; };
    options.listener.boot = [] { return std::optional<std::string>("cluster"); };
    session_ = std::move(*live::Session::make(std::move(scenario), std::move(options)));
  }
  void add_gpu_node(const std::string& node, int gpu_count = 1) {
    take(kNodes, testing::ready_node(node));
    take(kResourceSlices, testing::nvidia_counters({.node = node, .gpu_count = gpu_count}));
    take(kResourceSlices, testing::nvidia_devices({.node = node, .gpu_count = gpu_count}));
  }
  GpuState state_of(std::uint32_t gpu) { return session_->gpu_state({gpu}); }
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

TEST_F(ClusterWorldTest, ANodeWhereTheSchedulerTakesAClaimBackGetsNothingForAMinute) {
  add_gpu_node("b");
  begin();
  serve(2);
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  const Slice slice = session_->program_slices().front().slice;
  const std::uint32_t first = slice.gpu.index;
  const std::string device = *world_->device_name(slice);
  const std::string claim = with_identity(call_of(actions[0].write).body);
  const auto tell_claim = [&](const std::string& status) {
    take(kResourceClaims, claim.substr(0, claim.size() - 1) + status + "}");
  };
  tell_claim("");
  tell_claim(R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com","pool":")" +
             std::string(first == 0 ? "a" : "b") + R"(","device":")" + device.substr(device.rfind('/') + 1) +
             R"("}]}}})");
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kPod);
  stand(actions[0]);
  tell_claim("");
  serve(4);
  EXPECT_EQ(state_of(first).scheduling, GpuScheduling::kCordoned);
  EXPECT_THAT(state_of(first).scheduling_reason, HasSubstr("back less than 60 s ago"));
  serve(30);
  ASSERT_THAT(session_->program_slices(), ::testing::Not(IsEmpty()));
  EXPECT_EQ(session_->program_slices().back().slice.gpu.index, 1 - first);
  serve(30);
  EXPECT_EQ(state_of(first).scheduling, GpuScheduling::kOpen);
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

TEST_F(ClusterWorldTest, AGpuThatComesTakesANumberBehindTheOthers) {
  begin();
  serve(2);
  EXPECT_FALSE(world_->wanted_fleet());
  add_gpu_node("b");
  serve();
  EXPECT_FALSE(world_->wanted_fleet()) << "others of its node may still come";
  serve(3);
  ASSERT_TRUE(world_->wanted_fleet());
  ASSERT_THAT(*world_->wanted_fleet(), SizeIs(2));
  const std::vector<device::LocalGpu> fleet = *world_->wanted_fleet();
  EXPECT_EQ(fleet[1].uuid, "gpu.nvidia.com/b/GPU-b-0");
  const auto before = session_->snapshot().slices.size();
  go_on(fleet);
  EXPECT_EQ(state_of(1).scheduling, GpuScheduling::kAbsent);
  EXPECT_EQ(session_->snapshot().slices.size(), before);
  const Instant came = session_->now();
  serve();
  EXPECT_EQ(state_of(1).scheduling, GpuScheduling::kOpen);
  EXPECT_EQ(state_of(1).scheduling_since, came);
  EXPECT_FALSE(world_->wanted_fleet());
  const auto note = session_->last_note({1}, live::DeviceNote::kAdded);
  ASSERT_TRUE(note);
  EXPECT_THAT(*note, HasSubstr("model A100-80GB, node b"));
  // Its usage begins when it came, and a further save has it.
  ASSERT_THAT(session_->usage().open(), SizeIs(2));
  EXPECT_EQ(session_->usage().open()[1].front().from, came);
  go_on(fleet);
  serve();
  EXPECT_EQ(state_of(1).scheduling_since, came) << "it is added once";
}

TEST_F(ClusterWorldTest, AGpuThatIsGoneIsAbsentOnceNothingRefersToItAndItsNumberIsFree) {
  take(kResourceClaims,
       testing::claim_on(
           "other", "any", 1,
           R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
           R"("pool":"a","device":"gpu-0-mig-4g.40gb-5-0"}]}}})"));
  begin();
  serve(2);
  take(kResourceSlices, testing::nvidia_devices({}), ChangeKind::kDeleted);
  serve(12);
  EXPECT_EQ(state_of(0).health, GpuHealth::kLost);
  EXPECT_EQ(state_of(0).scheduling, GpuScheduling::kOpen) << "a claim still has a device of it";
  add_gpu_node("b");
  serve(4);
  ASSERT_TRUE(world_->wanted_fleet());
  EXPECT_THAT(*world_->wanted_fleet(), SizeIs(2));
  take(kResourceClaims, testing::claim_on("other", "any", 2), ChangeKind::kDeleted);
  serve(2);
  EXPECT_EQ(state_of(0).scheduling, GpuScheduling::kAbsent);
  serve(2);
  ASSERT_TRUE(world_->wanted_fleet());
  const std::vector<device::LocalGpu> rest = *world_->wanted_fleet();
  ASSERT_THAT(rest, SizeIs(1));
  go_on(rest);
  serve();
  EXPECT_EQ(state_of(0).health, GpuHealth::kOk);
  EXPECT_EQ(state_of(0).scheduling, GpuScheduling::kOpen);
  EXPECT_THAT(session_->last_note({0}, live::DeviceNote::kAdded).value_or(""), HasSubstr("node b"));
}

TEST_F(ClusterWorldTest, AnAbsentGpuThatIsBackHasItsNumber) {
  begin();
  serve(2);
  take(kResourceSlices, testing::nvidia_devices({}), ChangeKind::kDeleted);
  serve(15);
  EXPECT_EQ(state_of(0).scheduling, GpuScheduling::kAbsent);
  take(kResourceSlices, testing::nvidia_devices({}));
  serve(2);
  EXPECT_TRUE(state_of(0).is_open());
  EXPECT_FALSE(world_->wanted_fleet());
}

TEST_F(ClusterWorldTest, TheFolderHasAsManyGpusAsAllowed) {
  begin(2);
  serve();
  add_gpu_node("b", 2);
  serve(4);
  ASSERT_TRUE(world_->wanted_fleet());
  EXPECT_THAT(*world_->wanted_fleet(), SizeIs(2));
  EXPECT_THAT(world_->excess_gpus(), SizeIs(1));
}

}  // namespace
}  // namespace berth::kube
