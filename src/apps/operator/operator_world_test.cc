// A session on the GPUs of a cluster: the operator against the fake API server, with stand-ins for the scheduler and
// the kubelets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/operator/shared_cluster.h"
#include "apps/operator/test_cluster.h"
#include "domain/values/snapshot.h"
#include "kube/fleet/testing/nvidia_pool.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::apps {
namespace {

constexpr std::chrono::seconds kWorldDeadline(60);

class OperatorWorldTest : public ::testing::Test {
 protected:
  OperatorWorldTest() {
    add_gpu_node("a");
    start();
  }
  void add_gpu_node(const std::string& name) {
    cluster_.create(kube::kNodes, "", kube::testing::ready_node(name));
    cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_counters({.node = name}));
    cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_devices({.node = name}));
  }
  void start() {
    loop_ = std::make_unique<OperatorLoop>(
        cluster_.identity(), OperatorLoopOptions{.placing = {.own = own_},
                                                 .requests_per_second = 10'000,
                                                 .moment = std::chrono::milliseconds(10),
                                                 .log = [this](const std::string& line) { lines_.push_back(line); }});
    const auto end = std::chrono::steady_clock::now() + kWorldDeadline;
    while (!loop_->is_synced() && std::chrono::steady_clock::now() < end) loop_->step();
    ASSERT_TRUE(loop_->is_synced());
  }
  /// A session that begins, as with an empty folder.
  void begin(const std::string& world, bool has_service = true) {
    std::set<kube::PoolName> pools;
    for (const auto& [name, pool] : loop_->placing().inventory().pools()) pools.insert(name);
    const auto fleet = kube::fleet_of(kube::planned_gpus(loop_->placing().inventory(), pools));
    ASSERT_FALSE(fleet.empty());
    shared_ = std::make_unique<SharedCluster>(kube::ClusterWorldOptions{.own = own_, .fleet = fleet, .world = world});
    shared_->set_pods({{{"lab", "vision"}, R"({"spec":{"containers":[{"name":"server","image":"vision:1"}]}})"}});
    loop_->join(*shared_, nullptr);
    world_ = shared_->as_world();
    std::vector<ServiceSpec> services;
    if (has_service) services.push_back(vision());
    Scenario scenario = sim::testing::scenario_of(services, {}, 1);
    scenario.layout.reset();
    scenario.fleet = {{.model = fleet.front().model,
                       .count = static_cast<std::int64_t>(fleet.size()),
                       .usd_per_gpu_hour = std::nullopt}};
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
  static ServiceSpec vision() {
    ServiceSpec service = sim::testing::service_of("vision", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                   sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
    service.tenant = "lab";
    service.expects = Decimal(20);
    service.running.replicas = ReplicaLimits{.slices_min = 0, .slices_max = 1};
    return service;
  }
  /// Kubelets: bound pods become Ready.
  void run_pods() {
    for (const kube::PageItem& item : cluster_.list(kube::kPods)) {
      const bool is_bound = !json::text_at(item.object, {"spec", "nodeName"}).empty();
      if (!is_bound || !json::text_at(item.object, {"status", "phase"}).empty()) continue;
      kube::Write status{.kind = kube::WriteKind::kPatch,
                         .resource = kube::kPods,
                         .name = item.identity.name,
                         .subresource = "status",
                         .version = item.identity.version,
                         .body = kube::map_node()};
      yaml::Node ready = kube::map_node();
      kube::put(ready, "type", kube::text_node("Ready"));
      kube::put(ready, "status", kube::text_node("True"));
      yaml::Node& fields = kube::put(status.body, "status", kube::map_node());
      kube::put(fields, "phase", kube::text_node("Running"));
      kube::put(fields, "conditions", {{}, yaml::List{std::move(ready)}});
      cluster_.write(status);
    }
  }
  /// The claim controller: a reservation ends with its pod, and the allocation with it.
  void end_reservations() {
    std::set<std::string> pods;
    for (const kube::PageItem& item : cluster_.list(kube::kPods)) pods.insert(item.identity.name.name);
    for (const kube::PageItem& item : cluster_.list(kube::kResourceClaims)) {
      if (!kube::read_claim(item.object).value().is_reserved || pods.contains(item.identity.name.name)) continue;
      kube::Write write{.kind = kube::WriteKind::kPatch,
                        .resource = kube::kResourceClaims,
                        .name = item.identity.name,
                        .subresource = "status",
                        .version = item.identity.version,
                        .body = kube::map_node()};
      yaml::Node& status = kube::put(write.body, "status", kube::map_node());
      kube::put(status, "reservedFor", kube::null_node());
      kube::put(status, "allocation", kube::null_node());
      cluster_.write(write);
    }
  }
  ::testing::AssertionResult comes(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kWorldDeadline;
    while (std::chrono::steady_clock::now() < end) {
      loop_->step();
      cluster_.schedule();
      run_pods();
      end_reservations();
      const Instant until = Instant::at_second(session_->now().second() + 1);
      world_->serve(*session_);
      while (session_->now() < until) static_cast<void>(session_->advance(until));
      world_->serve(*session_);
      if (is_so()) return ::testing::AssertionSuccess();
    }
    auto failure = ::testing::AssertionFailure() << "allocated: " << cluster_.allocated();
    for (const std::string& line : lines_) failure << "\n  " << line;
    return failure;
  }
  /// Whether slices of the service serve, and as many pods stand.
  bool serves(std::size_t count) {
    std::size_t ready = 0;
    for (const StandingSlice& standing : session_->snapshot().slices) {
      if (!standing.is_foreign && standing.is_ready && !standing.holding.services.empty()) ++ready;
    }
    return ready == count && cluster_.list(kube::kPods).size() == count;
  }

  TestCluster cluster_;
  std::vector<kube::OwnedPools> own_ = {{"gpu.nvidia.com", std::nullopt}};
  std::vector<std::string> lines_;
  std::uint64_t intents_ = 0;
  std::unique_ptr<OperatorLoop> loop_;
  std::unique_ptr<SharedCluster> shared_;
  std::optional<live::OutsideWorld> world_;
  std::unique_ptr<live::Session> session_;
};

TEST_F(OperatorWorldTest, AServiceServesOnPodsAndLeavesNothingBehind) {
  begin("w");
  ASSERT_TRUE(comes([this] { return serves(1); }));
  const auto pods = cluster_.list(kube::kPods);
  EXPECT_EQ(pods.front().identity.name.namespace_name, "lab");
  EXPECT_TRUE(json::list_at(pods.front().object, {"spec", "schedulingGates"}).empty());
  ASSERT_TRUE(session_->remove_service({.tenant = "lab", .name = "vision"}).has_value());
  EXPECT_TRUE(comes([this] {
    return cluster_.list(kube::kPods).empty() && cluster_.list(kube::kResourceClaims).empty() &&
           session_->snapshot().slices.empty();
  }));
}

TEST_F(OperatorWorldTest, WithAnEmptyFolderWhatStandsIsAdopted) {
  begin("first");
  ASSERT_TRUE(comes([this] { return serves(1); }));
  const auto before = cluster_.list(kube::kPods);
  const auto claims = cluster_.list(kube::kResourceClaims);
  session_.reset();
  world_.reset();
  loop_.reset();
  shared_.reset();
  const int writes = cluster_.server.count_requests("P", "") + cluster_.server.count_requests("DELETE", "");
  start();
  begin("second");
  ASSERT_TRUE(comes([this] { return serves(1); }));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(comes([] { return true; }));
  EXPECT_TRUE(serves(1));
  EXPECT_EQ(cluster_.list(kube::kPods).front().identity.uid, before.front().identity.uid);
  EXPECT_EQ(cluster_.list(kube::kResourceClaims).front().identity.version, claims.front().identity.version);
  EXPECT_EQ(cluster_.server.count_requests("P", "") + cluster_.server.count_requests("DELETE", ""), writes);
}

TEST_F(OperatorWorldTest, WaitingPodsAndSlicesOfServicesShareAGpu) {
  begin("w");
  ASSERT_TRUE(comes([this] { return serves(1); }));
  for (const char* name : {"p", "q"}) {
    cluster_.create(kube::kResourceClaims, "n", kube::testing::claim_on(name, "3g.40gb", 1));
    cluster_.create(kube::kPods, "n", kube::testing::gated_pod(name, name, 1));
  }
  cluster_.create(kube::kDeviceClasses, "", kube::testing::class_of_profile("3g.40gb"));
  ASSERT_TRUE(comes([this] { return cluster_.list(kube::kEvents).size() == 1; }));
  std::size_t foreign = 0;
  ASSERT_TRUE(comes([&] {
    foreign = 0;
    for (const StandingSlice& standing : session_->snapshot().slices) foreign += standing.is_foreign ? 1 : 0;
    return foreign == 1;
  })) << "one of them fits beside the slice";
}

}  // namespace
}  // namespace berth::apps
