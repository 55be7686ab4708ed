// The whole program on the fake API server, stopped by a signal.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "apps/operator/run_operator.h"
#include "apps/operator/test_cluster.h"
#include "edges/http_client/curl_client.h"
#include "edges/http_server/http_server.h"
#include "kube/fleet/testing/nvidia_pool.h"
#include "kube/services/custom_resources.h"

namespace berth::apps {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kRunDeadline(90);
constexpr const char* kVision =
    R"({"metadata":{"name":"vision","namespace":"lab","generation":1},"spec":{"slo":{"latency_ms":100},)"
    R"("expects":{"requests_per_second":20},"profile":{"format":"csv","model":"v","rows":[{"model":"v",)"
    R"("gpu":"A100-80GB","profile":"1g.10gb","batch":1,"processes":1,"requests_per_second":50,"latency_ms":20}]}}})";

/// SIGTERM and SIGHUP are held back from this process, for whoever waits for them.
class HeldTerm {
 public:
  HeldTerm() {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaddset(&term, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &term, &before_);
  }
  HeldTerm(const HeldTerm&) = delete;
  HeldTerm& operator=(const HeldTerm&) = delete;
  ~HeldTerm() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

class RunOperatorTest : public ::testing::Test {
 protected:
  RunOperatorTest() {
    std::string path = (std::filesystem::temp_directory_path() / "berth-operator-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
    cluster_.create(kube::kNamespaces, "", R"({"metadata":{"name":"kube-system"}})");
    cluster_.create(kube::kNodes, "", kube::testing::ready_node("a"));
    cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_counters({}));
    cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_devices({}));
    for (const kube::Write& rule : kube::taint_rules(own_))  // it stands already: no waiting
      cluster_.create(kube::kDeviceTaintRules, "", R"({"metadata":{"name":")" + rule.name.name + R"("}})");
  }
  ~RunOperatorTest() override {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void start() {
    out_path_ = folder_ + "/out";
    std::FILE* const out = std::fopen(out_path_.c_str(), "w");
    std::FILE* const err = std::fopen((folder_ + "/err").c_str(), "a");
    thread_ = std::thread([this, out, err] {
      OperatorRequest request;
      request.access.server = cluster_.server.url();
      request.own = own_;
      request.gpus_max = gpus_max_;
      request.up.world = live::WorldKind::kKubernetes;
      request.up.has_load = has_load_;
      request.is_dry_run = request.up.is_dry_run = is_dry_run_;
      request.up.config_path = "berth.yaml";  // as the message of a reread names it
      request.up.listen = {.host = "127.0.0.1", .port = 0};
      request.up.data_dir = folder_ + "/" + state_;
      request.up.scenario_path = scenario_;
      const auto serve = [](const std::string& host, std::uint16_t port, HttpHandler& handler) {
        return edges::start_http_server({.host = host, .port = port}, handler);
      };
      status_ =
          run_operator(request, {.out = out,
                                 .err = err,
                                 .files = &files_,
                                 .version = "test",
                                 .start_server = serve,
                                 .read_own_again = [this] { return Result<std::vector<kube::OwnedPools>>(own_again_); },
                                 .report_failure =
                                     [this](const Error& error) {
                                       failure_ = error.message;
                                       return 2;
                                     },
                                 .read_config_again = [] { return Result<live::RereadConfig>(live::RereadConfig()); }});
      std::fclose(out);
      std::fclose(err);
      is_over_ = true;
    });
  }
  void stop() {
    if (!thread_.joinable()) return;
    if (!is_over_) ::kill(::getpid(), SIGTERM);
    thread_.join();
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// The address of the API, once it answers.
  std::string url() {
    const auto end = std::chrono::steady_clock::now() + kRunDeadline;
    std::string line;
    while (line.find(" key:") == std::string::npos && !is_over_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      line = read(out_path_);
    }
    const std::size_t from = line.find("http");
    const std::string found = from == std::string::npos ? "" : line.substr(from, line.find(' ', from) - from);
    return found.ends_with('/') ? found.substr(0, found.size() - 1) : found;
  }
  Result<HttpReply> ask(const std::string& method, const std::string& address, const std::string& body = "") {
    std::string key = read(folder_ + "/" + state_ + "/admin.key");
    while (!key.empty() && key.back() == '\n') key.pop_back();
    HttpCall call;
    call.method = method;
    call.url = address;
    call.body = body;
    if (!body.empty()) call.headers.push_back({"Content-Type", "application/json"});
    call.headers.push_back({"Authorization", "Bearer " + key});
    return http_.send(call);
  }
  /// 0: no answer.
  int status_of(const std::string& address) {
    const auto reply = ask("GET", address);
    return reply ? reply->status : 0;
  }
  /// The status of `/readyz` once it is this one, or at the deadline.
  int await_ready(const std::string& address, int status) {
    const auto end = std::chrono::steady_clock::now() + kRunDeadline;
    while (status_of(address + "/readyz") != status && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return status_of(address + "/readyz");
  }
  void take_server_away() {
    for (const char* method : {"GET", "PATCH", "PUT", "POST"})
      cluster_.server.add({.kind = edges::testing::TroubleKind::kLostBefore,
                           .method = method,
                           .target_part = "/api",
                           .count = 1'000'000});
    cluster_.server.break_watches();
  }
  void expect_nothing_written() {
    EXPECT_TRUE(cluster_.list(kube::kLeases).empty());
    EXPECT_TRUE(cluster_.list(kube::kDeviceTaintRules).empty());
  }
  bool comes(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kRunDeadline;
    while (!is_so()) {
      if (is_over_ || std::chrono::steady_clock::now() > end) return false;
      cluster_.schedule();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

  HeldTerm held_;  // before any thread
  TestCluster cluster_;
  std::vector<kube::OwnedPools> own_ = {{"gpu.nvidia.com", std::nullopt}};
  std::vector<kube::OwnedPools> own_again_ = own_;  ///< after SIGHUP
  std::int64_t gpus_max_ = kube::kOwnedGpusMax;
  bool has_load_ = false;
  bool is_dry_run_ = false;
  edges::DiskFiles files_;
  edges::CurlClient http_;
  std::string folder_;
  std::string state_ = "state";  ///< of the session, in the folder
  std::optional<std::string> scenario_ = std::nullopt;
  std::string out_path_;
  std::string failure_;
  std::atomic<int> status_ = -1;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

TEST_F(RunOperatorTest, ServicesOfTheClusterGetSlicesAndTheApiRefusesItsWrites) {
  cluster_.create(kube::kGpuServices, "lab", kVision);
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  const auto world = ask("GET", address + "/v1/status");
  ASSERT_TRUE(world.has_value()) << world.error().message;
  EXPECT_THAT(world->body, HasSubstr(R"("world":"kubernetes")"));
  EXPECT_TRUE(comes([&] { return !cluster_.allocated().empty(); })) << read(folder_ + "/err");
  EXPECT_THAT(cluster_.allocated(), HasSubstr("=1g.10gb-19-"));
  EXPECT_TRUE(comes([&] {
    const auto objects = cluster_.list(kube::kGpuServices);
    return !json::text_at(objects.front().object, {"status", "phase"}).empty();
  })) << read(folder_ + "/err");
  const auto refused = ask("DELETE", address + "/v1/tenants/lab/services/vision");
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 409);
  EXPECT_THAT(refused->body, HasSubstr("owned_by_cluster"));
  EXPECT_THAT(refused->body, HasSubstr("kubectl delete gpuservice vision -n lab"));
  stop();
  EXPECT_EQ(status_, 0) << failure_ << read(folder_ + "/err");
}

TEST_F(RunOperatorTest, APoolThatIsNotNamedAnyMoreGetsNothingNewAndKeepsWhatItHas) {
  own_again_ = {{"gpu.nvidia.com", std::vector<std::string>{"other"}}};
  for (const kube::Write& rule : kube::taint_rules(own_again_))
    cluster_.create(kube::kDeviceTaintRules, "", R"({"metadata":{"name":")" + rule.name.name + R"("}})");
  cluster_.create(kube::kGpuServices, "lab", kVision);
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  EXPECT_TRUE(comes([&] { return !cluster_.allocated().empty(); })) << read(folder_ + "/err");
  const std::string allocated = cluster_.allocated();
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(comes([&] {
    const auto gpu = ask("GET", address + "/v1/gpus/gpu-0");
    return gpu && gpu->body.find("kubernetes.own does not name pool") != std::string::npos;
  })) << read(folder_ + "/err");
  const auto gpu = ask("GET", address + "/v1/gpus/gpu-0");
  ASSERT_TRUE(gpu.has_value());
  EXPECT_THAT(gpu->body, HasSubstr(R"("health":"ok")"));
  EXPECT_EQ(cluster_.allocated(), allocated);
  EXPECT_EQ(cluster_.list(kube::kDeviceTaintRules).size(), 1U) << "that of the other pool";
}

TEST_F(RunOperatorTest, ADryRunPlansAndWritesNothing) {
  is_dry_run_ = true;
  for (const kube::Write& rule : kube::taint_rules(own_)) cluster_.remove(kube::kDeviceTaintRules, rule.name.name);
  cluster_.create(kube::kGpuServices, "lab", kVision);
  cluster_.add_pod("waits", "1g");
  own_again_ = {{"gpu.nvidia.com", std::vector<std::string>{"other"}}};
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  EXPECT_TRUE(comes([&] {
    const auto service = ask("GET", address + "/v1/tenants/lab/services/vision");
    return service && service->status == 200;
  })) << read(folder_ + "/err");
  EXPECT_TRUE(comes([&] {
    const auto events = ask("GET", address + "/v1/events?limit=500");
    return events && events->body.find("dry run: nothing is done") != std::string::npos;
  })) << read(folder_ + "/err");
  ::kill(::getpid(), SIGHUP);
  EXPECT_TRUE(comes([&] { return read(folder_ + "/err").find("was read again") != std::string::npos; }));
  stop();
  EXPECT_EQ(status_, 0) << failure_;
  EXPECT_THAT(read(folder_ + "/err"), HasSubstr("would: "));
  expect_nothing_written();
  EXPECT_TRUE(cluster_.allocated().empty());
  EXPECT_EQ(cluster_.list(kube::kResourceClaims).size(), 1U) << "that of the pod";
  EXPECT_TRUE(cluster_.list(kube::kConfigMaps).empty());
  const auto services = cluster_.list(kube::kGpuServices);
  EXPECT_EQ(json::find_at(services.front().object, {"status"}), nullptr);
}

TEST_F(RunOperatorTest, SimulatedLoadIsThatOfArrivals) {
  has_load_ = true;
  std::string vision = kVision;
  const std::string expects = R"("expects":{"requests_per_second":20},)";
  vision.insert(vision.find(expects) + expects.size(),
                R"("arrivals":{"format":"constant","requests_per_second":20,"seconds":3600},)");
  cluster_.create(kube::kGpuServices, "lab", vision);
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  EXPECT_TRUE(comes([&] {
    const auto service = ask("GET", address + "/v1/tenants/lab/services/vision");
    const auto at = service ? service->body.find(R"("in_time":)") : std::string::npos;
    return at != std::string::npos && service->body.substr(at, 12) != R"("in_time":0,)";
  })) << read(folder_ + "/err");
  const auto status = ask("GET", address + "/v1/status");
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(status->body, HasSubstr(R"("load":"simulated")"));
}

TEST_F(RunOperatorTest, APauseOutlivesTheOperator) {
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  const auto paused = ask("PUT", address + "/v1/planning", R"({"paused":true,"reason":"maintenance"})");
  ASSERT_TRUE(paused.has_value());
  ASSERT_EQ(paused->status, 200) << paused->body;
  EXPECT_TRUE(comes([&] { return cluster_.list(kube::kConfigMaps).size() == 1; })) << read(folder_ + "/err");
  stop();
  is_over_ = false;
  state_ = "another";
  start();
  const std::string next = url();
  ASSERT_FALSE(next.empty()) << failure_ << read(folder_ + "/err");
  EXPECT_TRUE(comes([&] {
    const auto planning = ask("GET", next + "/v1/planning");
    return planning && planning->body.find("maintenance") != std::string::npos;
  })) << read(folder_ + "/err");
}

TEST_F(RunOperatorTest, AStandbyAnswersReadsAndNamesTheLeader) {
  cluster_.create(kube::kGpuServices, "lab", kVision);
  cluster_.create(kube::kLeases, "berth-system",
                  R"({"metadata":{"name":"berth"},"spec":{"holderIdentity":"other_1","leaseDurationSeconds":3600,)"
                  R"("leaseTransitions":3,"renewTime":"2026-01-01T00:00:00.000000Z"}})");
  start();
  std::string address;
  EXPECT_TRUE(comes([&] {
    address = read(folder_ + "/state/address");
    return !address.empty();
  })) << read(folder_ + "/err");
  while (!address.empty() && (address.back() == '\n' || address.back() == '/')) address.pop_back();
  const auto probe = ask("GET", address + "/readyz");
  ASSERT_TRUE(probe.has_value()) << probe.error().message;
  EXPECT_EQ(probe->status, 200);
  // What stands in the cluster.
  EXPECT_TRUE(comes([&] {
    const auto gpu = ask("GET", address + "/v1/gpus/gpu-0");
    return gpu && gpu->status == 200;
  })) << read(folder_ + "/err");
  const auto body_of = [&](const std::string& path) {
    const auto reply = ask("GET", address + path);
    return reply ? fmt::format("{} {}", reply->status, reply->body) : reply.error().message;
  };
  EXPECT_THAT(body_of("/v1/gpus"), HasSubstr(R"("cluster_node":"a")"));
  EXPECT_THAT(body_of("/v1/gpus/gpu-7"), HasSubstr("404"));
  EXPECT_THAT(body_of("/v1/gpus?limit=0"), HasSubstr("bad_query"));
  EXPECT_THAT(body_of("/v1/nodes"), HasSubstr(R"("name":"node-0")"));
  EXPECT_THAT(body_of("/v1/slices"), HasSubstr(R"("items":[])"));
  EXPECT_THAT(body_of("/v1/status"), HasSubstr(R"("leads":false,"leader":"other_1")"));
  EXPECT_THAT(body_of("/v1/status"), HasSubstr(R"("planning":{"paused":false,"reason":null})"));
  EXPECT_THAT(body_of("/v1/services"), HasSubstr(R"("requests_per_second":20)"));
  EXPECT_THAT(body_of("/v1/tenants/lab"), HasSubstr(R"("kind":"Tenant")"));
  EXPECT_THAT(body_of("/v1/tenants/lab/services/vision"), HasSubstr(R"("phase":"Waiting")"));
  // Changes are seen.
  cluster_.remove(kube::kGpuServices, "vision");
  EXPECT_TRUE(comes([&] { return body_of("/v1/services").find(R"("items":[])") != std::string::npos; }));
  // Nobody reads it without the key, and what only the leader has is not there.
  HttpCall unknown;
  unknown.method = "GET";
  unknown.url = address + "/v1/services";
  const auto closed = http_.send(unknown);
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->status, 401);
  for (const char* path : {"/v1/plans", "/v1/usage", "/v1/events?limit=1", "/metrics"})
    EXPECT_THAT(body_of(path), HasSubstr("other_1")) << path;
  const auto write = ask("PUT", address + "/v1/planning", R"({"paused":false})");
  ASSERT_TRUE(write.has_value()) << write.error().message;
  EXPECT_EQ(write->status, 503);
  EXPECT_THAT(write->body, HasSubstr("not_leader"));
  EXPECT_THAT(write->body, HasSubstr("other_1"));
  EXPECT_TRUE(cluster_.list(kube::kConfigMaps).empty());
  // A pause that the leader keeps in the cluster.
  cluster_.create(kube::kConfigMaps, "berth-system",
                  R"({"metadata":{"name":"berth-pause"},"data":{"paused":"true","reason":"upgrade"}})");
  EXPECT_TRUE(comes([&] {
    return body_of("/v1/status").find(R"("planning":{"paused":true,"reason":"upgrade"})") != std::string::npos;
  })) << body_of("/v1/status");
  EXPECT_THAT(body_of("/v1/planning"), HasSubstr(R"("paused":true,"reason":"upgrade","since":null)"));
  stop();
  EXPECT_EQ(status_, 0) << failure_;
}

TEST_F(RunOperatorTest, AStandbySaysThatTheApiServerIsAway) {
  cluster_.create(kube::kLeases, "berth-system",
                  R"({"metadata":{"name":"berth"},"spec":{"holderIdentity":"other_1","leaseDurationSeconds":3600,)"
                  R"("leaseTransitions":3,"renewTime":"2026-01-01T00:00:00.000000Z"}})");
  start();
  std::string address;
  EXPECT_TRUE(comes([&] {
    address = read(folder_ + "/state/address");
    while (!address.empty() && (address.back() == '\n' || address.back() == '/')) address.pop_back();
    return !address.empty() && status_of(address + "/v1/status") == 200;
  })) << read(folder_ + "/err");
  take_server_away();
  EXPECT_EQ(await_ready(address, 503), 503) << read(folder_ + "/err");
  const auto status = ask("GET", address + "/v1/status");
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(status->body, HasSubstr(R"("cluster_away_since_wall":"20)"));
  EXPECT_EQ(status_of(address + "/v1/gpus"), 200) << "what stood when it was last seen";
  cluster_.server.clear_troubles();
  EXPECT_EQ(await_ready(address, 200), 200) << read(folder_ + "/err");
}

TEST_F(RunOperatorTest, ASessionGoesOnWhileTheApiServerIsAway) {
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  take_server_away();
  EXPECT_EQ(await_ready(address, 503), 503) << read(folder_ + "/err");
  const auto status = ask("GET", address + "/v1/status");
  ASSERT_TRUE(status.has_value());
  EXPECT_THAT(status->body, HasSubstr(R"("cluster_away_since_wall":"20)"));
  cluster_.server.clear_troubles();
  EXPECT_EQ(await_ready(address, 200), 200) << read(folder_ + "/err");
}

TEST_F(RunOperatorTest, AGpuThatComesHasItsNumberAlsoAfterARestart) {
  start();
  const std::string address = url();
  ASSERT_FALSE(address.empty()) << failure_ << read(folder_ + "/err");
  cluster_.create(kube::kNodes, "", kube::testing::ready_node("b"));
  cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_counters({.node = "b"}));
  cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_devices({.node = "b"}));
  const auto gpu_of = [&](const std::string& at) {
    const auto reply = ask("GET", at + "/v1/gpus/gpu-1");
    return reply ? reply->body : std::string();
  };
  EXPECT_TRUE(comes([&] { return gpu_of(address).find(R"("scheduling":"open")") != std::string::npos; }))
      << read(folder_ + "/err");
  EXPECT_THAT(gpu_of(address), HasSubstr("GPU-b-0"));
  EXPECT_TRUE(comes([&] {  // events are shown once they are recorded
    const auto events = ask("GET", address + "/v1/events?limit=500");
    return events && events->body.find("model A100-80GB, node b") != std::string::npos;
  })) << read(folder_ + "/err");
  stop();
  EXPECT_EQ(status_, 0) << failure_ << read(folder_ + "/err");
  is_over_ = false;
  start();
  const std::string next = url();
  ASSERT_FALSE(next.empty()) << failure_ << read(folder_ + "/err");
  EXPECT_THAT(gpu_of(next), HasSubstr("GPU-b-0"));
}

TEST_F(RunOperatorTest, AFolderBelongsToOneCluster) {
  start();
  ASSERT_FALSE(url().empty()) << failure_ << read(folder_ + "/err");
  stop();
  cluster_.remove(kube::kNamespaces, "kube-system");
  cluster_.create(kube::kNamespaces, "", R"({"metadata":{"name":"kube-system"}})");
  for (const kube::Write& rule : kube::taint_rules(own_)) cluster_.remove(kube::kDeviceTaintRules, rule.name.name);
  cluster_.remove(kube::kLeases, "berth");
  is_over_ = false;
  start();
  thread_.join();
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(failure_, HasSubstr("the cluster: wanted"));
  EXPECT_THAT(failure_, HasSubstr("berth up --data OTHER"));
  expect_nothing_written();
}

TEST_F(RunOperatorTest, AScenarioWithServicesIsRefused) {
  for (const kube::Write& rule : kube::taint_rules(own_)) cluster_.remove(kube::kDeviceTaintRules, rule.name.name);
  scenario_ = folder_ + "/scenario.yaml";
  std::ofstream(*scenario_) << R"(berth: 1
fleet: []
services:
  - name: vision
    slo: {latency_ms: 100}
    arrivals: {format: poisson, requests_per_second: 20, seconds: 60}
    profile: {format: csv, model: vision, path: rows.csv}
    pod: {spec: {containers: [{name: c, image: i}]}}
)";
  std::ofstream(folder_ + "/rows.csv") << "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n"
                                          "vision,A100-80GB,1g.10gb,1,1,50,20\n";
  start();
  thread_.join();
  EXPECT_EQ(status_, 2);
  EXPECT_THAT(failure_, HasSubstr("scenario.yaml: services: wanted none in the world of a cluster"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/state"));
  expect_nothing_written();
}

TEST_F(RunOperatorTest, MoreGpusThanANewFolderMayHaveAreRefusedBeforeAnythingIsWritten) {
  for (const kube::Write& rule : kube::taint_rules(own_)) cluster_.remove(kube::kDeviceTaintRules, rule.name.name);
  cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_counters({.node = "b"}));
  cluster_.create(kube::kResourceSlices, "", kube::testing::nvidia_devices({.node = "b"}));
  gpus_max_ = 1;
  start();
  thread_.join();
  EXPECT_EQ(status_, 2);
  EXPECT_EQ(failure_, "kubernetes.gpus_max: wanted at most 1 GPUs in the owned pools, found 2");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/state"));
  expect_nothing_written();
}

TEST_F(RunOperatorTest, AScenarioWithAnotherFleetOrALayoutIsRefusedBeforeAnythingIsWritten) {
  for (const kube::Write& rule : kube::taint_rules(own_)) cluster_.remove(kube::kDeviceTaintRules, rule.name.name);
  scenario_ = folder_ + "/scenario.yaml";
  const auto refusal_of = [&](const std::string& rest) {
    std::ofstream(*scenario_) << "berth: 1\nservices: []\n" << rest;
    is_over_ = false;
    start();
    thread_.join();
    EXPECT_EQ(status_, 2);
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/state"));
    expect_nothing_written();
    return failure_;
  };
  EXPECT_THAT(refusal_of("fleet: [{gpu: H100-80GB, count: 1}]\n"), HasSubstr("fleet: gpu-0: wanted A100-80GB"));
  EXPECT_THAT(refusal_of("fleet: [{gpu: A100-80GB, count: 2}]\n"), HasSubstr("found 2"));
  EXPECT_THAT(refusal_of("fleet: [{gpu: A100-80GB, count: 1}]\n"
                         "layout: [{gpu: 0, slices: [{profile: 1g.10gb, start: 0}]}]\n"),
              HasSubstr("scenario.yaml: layout: wanted none in the world of a cluster"));
}

TEST_F(RunOperatorTest, AScenarioMayStateTheFleetOfTheClusterWithItsPrices) {
  scenario_ = folder_ + "/scenario.yaml";
  std::ofstream(*scenario_) << "berth: 1\nservices: []\nfleet: [{gpu: A100-80GB, count: 1, usd_per_gpu_hour: 2}]\n";
  start();
  EXPECT_FALSE(url().empty()) << failure_ << read(folder_ + "/err");
}

}  // namespace
}  // namespace berth::apps
