// The operator against the fake API server, with stand-ins for the scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/operator/test_cluster.h"

namespace berth::apps {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds kDeadline(30);
constexpr const char* kHeldAtSix =
    R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
    R"("pool":"a","device":"gpu-0-mig-1g-6"}]}},)"
    R"("reservedFor":[{"name":"somebody"}]})";

class OperatorTest : public ::testing::Test {
 protected:
  void start(std::vector<kube::OwnedPools> own = {{"gpu.nvidia.com", std::nullopt}}, bool is_dry_run = false) {
    loop_ = std::make_unique<OperatorLoop>(
        cluster_.identity(), OperatorLoopOptions{.placing = {.own = std::move(own)},
                                                 .is_dry_run = is_dry_run,
                                                 .requests_per_second = 10'000,
                                                 .moment = std::chrono::milliseconds(20),
                                                 .log = [this](const std::string& line) { lines_.push_back(line); }});
  }
  /// Lets the operator and the scheduler work until it holds.
  ::testing::AssertionResult comes(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kDeadline;
    while (std::chrono::steady_clock::now() < end) {
      loop_->step();
      cluster_.schedule();
      if (is_so()) return ::testing::AssertionSuccess();
    }
    auto failure = ::testing::AssertionFailure()
                   << "bound: " << cluster_.bound() << ", allocated: " << cluster_.allocated();
    for (const std::string& line : lines_) failure << "\n  " << line;
    return failure;
  }

  TestCluster cluster_;
  std::vector<std::string> lines_;
  std::unique_ptr<OperatorLoop> loop_;
};

TEST_F(OperatorTest, ThreePodsAreBoundWhereFirstFitBindsTwo) {
  cluster_.add_node("a");
  cluster_.add_claim("before", "1g", kHeldAtSix);
  start();
  cluster_.add_pod("one", "1g");
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "one=a"; }));
  EXPECT_EQ(cluster_.allocated(), "before=1g-6 one=1g-4");
  cluster_.add_pod("three", "3g");
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "one=a three=a"; }));
  cluster_.add_pod("two", "1g");
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "one=a three=a two=a"; }));
  EXPECT_EQ(cluster_.allocated(), "before=1g-6 one=1g-4 three=3g-0 two=1g-5");
}

TEST_F(OperatorTest, APodThatDoesNotFitWaitsWithAReasonUntilThereIsRoom) {
  cluster_.add_node("a");
  start();
  for (const char* name : {"p", "q", "r"}) cluster_.add_pod(name, "3g");
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "p=a q=a"; }));
  EXPECT_TRUE(comes([&] { return !cluster_.list(kube::kEvents).empty(); }));
  EXPECT_THAT(json::text_at(cluster_.list(kube::kEvents).front().object, {"note"}),
              HasSubstr("units: 1 node (4 wanted on one GPU, at most 0 free)"));
  EXPECT_THAT(loop_->placing().why({"n", "r"}).value_or(""),
              HasSubstr("units: 1 node (4 wanted on one GPU, at most 0 free)"));
  cluster_.remove(kube::kPods, "p");
  // The claim controller ends its reservation and its allocation.
  for (const kube::PageItem& item : cluster_.list(kube::kResourceClaims)) {
    if (item.identity.name.name != "p") continue;
    kube::Write status{.kind = kube::WriteKind::kPatch,
                       .resource = kube::kResourceClaims,
                       .name = item.identity.name,
                       .subresource = "status",
                       .version = item.identity.version,
                       .body = kube::map_node()};
    yaml::Node& fields = kube::put(status.body, "status", kube::map_node());
    kube::put(fields, "reservedFor", kube::null_node());
    kube::put(fields, "allocation", kube::null_node());
    cluster_.write(status);
  }
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "q=a r=a"; }));
}

TEST_F(OperatorTest, AnAllocationThatNoPodRefersToIsReleased) {
  cluster_.add_node("a");
  start();
  cluster_.add_pod("p", "3g");
  const auto is_allocated = [&] { return !cluster_.allocated().empty(); };
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (!is_allocated() && std::chrono::steady_clock::now() < end) loop_->step();
  ASSERT_TRUE(is_allocated());
  cluster_.remove(kube::kPods, "p");
  EXPECT_TRUE(comes([&] {
    const auto claims = cluster_.list(kube::kResourceClaims);
    return !is_allocated() &&
           json::text_at(claims.front().object, {"metadata", "annotations", kube::kIntentAnnotation}).empty() &&
           json::list_at(claims.front().object, {"metadata", "finalizers"}).empty();
  }));
}

TEST_F(OperatorTest, IntentsOfAnEarlierOperatorAreCompletedOrWithdrawn) {
  cluster_.add_node("a");
  cluster_.add_claim("before", "1g", kHeldAtSix);
  const auto with_intent = [&](const std::string& name, const std::string& profile, const std::string& device) {
    cluster_.add_pod(name, profile);
    for (const kube::PageItem& item : cluster_.list(kube::kResourceClaims)) {
      if (item.identity.name.name != name) continue;
      kube::Write patch{.kind = kube::WriteKind::kPatch,
                        .resource = kube::kResourceClaims,
                        .name = item.identity.name,
                        .version = item.identity.version,
                        .body = kube::map_node()};
      kube::put(kube::put(kube::put(patch.body, "metadata", kube::map_node()), "annotations", kube::map_node()),
                kube::kIntentAnnotation, kube::text_node("0 slice=gpu.nvidia.com/a/gpu-0-mig-" + device));
      cluster_.write(patch);
    }
  };
  with_intent("sound", "1g", "1g-2");
  with_intent("broken", "1g", "1g-6");  // another claim has it
  start();
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "broken=a sound=a"; }));
  EXPECT_THAT(cluster_.allocated(), HasSubstr("sound=1g-2"));
  EXPECT_EQ(cluster_.allocated().find("broken=1g-6"), std::string::npos);
}

TEST_F(OperatorTest, AnAllocationThatTheSchedulerTookBackIsChosenOnAnotherNode) {
  cluster_.add_node("a");
  cluster_.add_node("b");
  start();
  cluster_.add_pod("p", "3g");
  const auto gated = [&] {
    return !json::list_at(cluster_.list(kube::kPods).front().object, {"spec", "schedulingGates"}).empty();
  };
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (gated() && std::chrono::steady_clock::now() < end) loop_->step();
  ASSERT_FALSE(gated());
  const auto claim = cluster_.list(kube::kResourceClaims).front();
  kube::Write status{.kind = kube::WriteKind::kPatch,
                     .resource = kube::kResourceClaims,
                     .name = claim.identity.name,
                     .subresource = "status",
                     .version = claim.identity.version,
                     .body = kube::map_node()};
  kube::put(kube::put(status.body, "status", kube::map_node()), "allocation", kube::null_node());
  cluster_.write(status);
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "p=b"; }));
}

TEST_F(OperatorTest, ForeignClaimsPoolsAndPodsAreNeverWritten) {
  cluster_.add_node("a");
  cluster_.add_node("b");
  start({{"gpu.nvidia.com", std::vector<std::string>{"a"}}});
  cluster_.add_pod("mine", "3g");
  cluster_.create(
      kube::kResourceClaims, "n",
      R"({"metadata":{"name":"tolerant","namespace":"n"},"spec":{"devices":{"requests":[{"name":"slice","exactly":{)"
      R"("deviceClassName":"1g","tolerations":[{"key":"berth.dev/owned","operator":"Exists"}]}}]}}})");
  cluster_.create(kube::kPods, "n", kube::testing::gated_pod("tolerant", "tolerant", 1));
  cluster_.create(kube::kResourceClaims, "n", kube::testing::claim_on("other", "unknown-class", 1));
  cluster_.create(kube::kPods, "n", kube::testing::gated_pod("other", "other", 1));
  EXPECT_TRUE(comes([&] { return cluster_.bound() == "mine=a" && cluster_.list(kube::kEvents).size() >= 2; }));
  for (const char* name : {"tolerant", "other"}) {
    EXPECT_EQ(cluster_.server.count_requests("PATCH", std::string("resourceclaims/") + name), 0) << name;
    EXPECT_EQ(cluster_.server.count_requests("PATCH", std::string("pods/") + name), 0) << name;
  }
}

TEST_F(OperatorTest, ADryRunWritesNothing) {
  cluster_.add_node("a");
  cluster_.add_pod("p", "3g");
  start({{"gpu.nvidia.com", std::nullopt}}, true);
  const int writes = cluster_.server.count_requests("P", "");
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  while (lines_.empty() && std::chrono::steady_clock::now() < end) loop_->step();
  ASSERT_FALSE(lines_.empty());
  EXPECT_THAT(lines_.front(), HasSubstr("would: intends claim n/p of pod n/p: gpu.nvidia.com/a/gpu-0-mig-3g-4"));
  for (int i = 0; i < 3; ++i) loop_->step();
  EXPECT_EQ(cluster_.server.count_requests("P", ""), writes);
}

TEST_F(OperatorTest, ConflictsAndLostAnswersDoNotAllocateTwice) {
  cluster_.add_node("a");
  cluster_.add_node("b");
  using edges::testing::Trouble;
  using edges::testing::TroubleKind;
  for (int i = 0; i < 3; ++i) {
    cluster_.server.add({.kind = TroubleKind::kLostAfterWrite, .method = "PATCH", .target_part = "resourceclaims"});
    cluster_.server.add(
        {.kind = TroubleKind::kStatus, .method = "PATCH", .target_part = "resourceclaims", .status = 409});
    cluster_.server.add({.kind = TroubleKind::kLostAfterWrite, .method = "PATCH", .target_part = "status"});
    cluster_.server.add({.kind = TroubleKind::kStatus, .method = "PATCH", .target_part = "pods/", .status = 409});
    cluster_.server.add({.kind = TroubleKind::kLostBefore, .method = "PATCH", .target_part = "resourceclaims"});
  }
  start();
  for (const char* name : {"p", "q", "r", "s"}) cluster_.add_pod(name, "3g");
  EXPECT_TRUE(comes([&] { return cluster_.bound().size() == std::string("p=a q=a r=b s=b").size(); }));
  const std::string allocated = cluster_.allocated();
  for (const char* device : {"=3g-0", "=3g-4"}) {
    const std::size_t first = allocated.find(device);
    EXPECT_NE(allocated.find(device, first + 1), std::string::npos) << allocated;
  }
}

}  // namespace
}  // namespace berth::apps
