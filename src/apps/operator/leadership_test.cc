// Two operators on the fake API server: one leads, the other takes over, and what the first still sends is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/operator/leadership.h"
#include "apps/operator/owned_rules.h"
#include "apps/operator/test_cluster.h"

namespace berth::apps {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr seconds kTakeOver(40);

/// One operator with its Lease: as `run_operator` runs it.
class Contender {
 public:
  Contender(TestCluster& cluster, std::string name)
      : client_(cluster.identity(), std::make_shared<edges::SharedPace>(10'000, 10'000),
                {.patience = Micros::seconds(5)}),
        keeper_(cluster.identity(), {.identity = name,
                                     .duration = Micros::seconds(2),
                                     .renew_deadline = Micros(1'200'000),
                                     .retry = Micros(200'000)}),
        loop_(cluster.identity(), {.placing = {.own = own_},
                                   .requests_per_second = 10'000,
                                   .moment = std::chrono::milliseconds(10),
                                   .is_standby = true,
                                   .may_write = [this] { return keeper_.may_write(); },
                                   .log = [this](const std::string& line) { lines_.push_back(line); }}),
        leadership_(keeper_, {.write_rules = [this] { return write_owned_rules(client_, {.own = own_}); },
                              .rule_grace = Micros(0),
                              .log = [this](const std::string& line) { lines_.push_back(line); }}) {}

  void step() {
    const auto followed = leadership_.step(loop_);
    ASSERT_TRUE(followed) << followed.error().message;
    loop_.step();
  }
  [[nodiscard]] bool leads() const { return loop_.is_leading() && loop_.is_synced(); }
  edges::LeaseKeeper& keeper() { return keeper_; }
  OperatorLoop& loop() { return loop_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<kube::OwnedPools> own_ = {{kube::testing::kToyDriver, std::nullopt}};
  std::vector<std::string> lines_;
  edges::KubeClient client_;
  edges::LeaseKeeper keeper_;
  OperatorLoop loop_;
  Leadership leadership_;
};

class TwoOperators : public ::testing::Test {
 protected:
  ::testing::AssertionResult comes(const std::vector<Contender*>& working, const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kTakeOver;
    while (std::chrono::steady_clock::now() < end) {
      for (Contender* each : working) each->step();
      if (is_so()) return ::testing::AssertionSuccess();
    }
    auto failure = ::testing::AssertionFailure()
                   << "bound: " << cluster_.bound() << ", allocated: " << cluster_.allocated();
    for (const Contender* each : working) {
      for (const std::string& line : each->lines()) failure << "\n  " << line;
    }
    return failure;
  }
  kube::PageItem claim(const std::string& name) {
    for (kube::PageItem& item : cluster_.list(kube::kResourceClaims)) {
      if (item.identity.name.name == name) return std::move(item);
    }
    return {};
  }
  std::string intent_of(const std::string& name) {
    return std::string(json::text_at(claim(name).object, {"metadata", "annotations", kube::kIntentAnnotation}));
  }

  TestCluster cluster_;
};

TEST_F(TwoOperators, TheStandbyWritesNothingUntilTheLeaseIsReleased) {
  cluster_.add_node("a");
  Contender first(cluster_, "first");
  ASSERT_TRUE(comes({&first}, [&] { return first.leads(); }));
  Contender second(cluster_, "second");
  ASSERT_TRUE(comes({&second}, [&] { return second.loop().is_synced() && second.keeper().standing().is_known; }));
  EXPECT_EQ(second.keeper().standing().leader, "first");
  const int writes = cluster_.server.count_requests("PATCH", "resourceclaims");
  cluster_.add_pod("one", "1g");
  ASSERT_TRUE(comes({&second}, [&] { return second.loop().placing().pods().size() == 1; }));
  for (int i = 0; i < 10; ++i) second.step();
  EXPECT_EQ(cluster_.server.count_requests("PATCH", "resourceclaims"), writes);
  ASSERT_TRUE(comes({&first, &second}, [&] { return !cluster_.allocated().empty(); }));
  EXPECT_THAT(intent_of("one"), HasSubstr("1 slice="));
  first.keeper().release();
  cluster_.add_pod("two", "1g");
  ASSERT_TRUE(comes({&first, &second}, [&] { return second.leads() && intent_of("two").starts_with("2 "); }));
  EXPECT_FALSE(first.loop().is_leading());
}

TEST_F(TwoOperators, OneThatIsKilledIsSucceededAndItsIntentsAreCarriedOutOrWithdrawn) {
  cluster_.add_node("a");
  auto first = std::make_unique<Contender>(cluster_, "first");
  ASSERT_TRUE(comes({first.get()}, [&] { return first->leads(); }));
  cluster_.add_pod("sound", "1g");
  cluster_.add_pod("lost", "1g");
  // It is killed between the intents and the allocations.
  cluster_.server.add({.kind = edges::testing::TroubleKind::kStatus,
                       .method = "PATCH",
                       .target_part = "/status",
                       .count = 1'000'000,
                       .status = 409});
  ASSERT_TRUE(comes({first.get()}, [&] { return !intent_of("sound").empty() && !intent_of("lost").empty(); }));
  first.reset();
  cluster_.server.clear_troubles();
  cluster_.remove(kube::kPods, "lost");
  const std::string before = claim("lost").identity.version;
  Contender second(cluster_, "second");
  ASSERT_TRUE(comes({&second}, [&] { return cluster_.allocated().starts_with("sound="); }));
  ASSERT_TRUE(comes({&second}, [&] { return claim("lost").identity.version != before; }));
  ASSERT_TRUE(comes({&second}, [&] { return intent_of("lost").empty(); }));
  EXPECT_TRUE(intent_of("sound").starts_with("1 ")) << "carried out as it was announced";
}

TEST_F(TwoOperators, WhatAStoppedLeaderSendsLateIsRefused) {
  cluster_.add_node("a");
  Contender first(cluster_, "first");
  ASSERT_TRUE(comes({&first}, [&] { return first.leads(); }));
  cluster_.add_pod("one", "3g");
  cluster_.server.add({.kind = edges::testing::TroubleKind::kStatus,
                       .method = "PATCH",
                       .target_part = "/status",
                       .count = 1'000'000,
                       .status = 503});
  ASSERT_TRUE(comes({&first}, [&] { return !intent_of("one").empty(); }));
  const kube::PageItem announced = claim("one");
  // It stops here. The pod goes, and the next leader withdraws what was announced.
  first.keeper().release();
  cluster_.server.clear_troubles();
  cluster_.remove(kube::kPods, "one");
  Contender second(cluster_, "second");
  ASSERT_TRUE(
      comes({&second}, [&] { return second.leads() && claim("one").identity.version != announced.identity.version; }));
  // The other one had looked at its Lease before it stopped: its write, on its way since, is based on an older version.
  kube::Write late{.kind = kube::WriteKind::kPatch,
                   .resource = kube::kResourceClaims,
                   .name = announced.identity.name,
                   .subresource = "status",
                   .uid = announced.identity.uid,
                   .version = announced.identity.version,
                   .body = kube::map_node()};
  kube::put(kube::put(late.body, "status", kube::map_node()), "allocation", kube::map_node());
  const auto outcome = cluster_.try_write(late);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->fate, kube::WriteFate::kConflict);
  EXPECT_EQ(cluster_.allocated(), "");
  // What it begins now it does not send at all.
  EXPECT_FALSE(first.keeper().may_write());
}

}  // namespace
}  // namespace berth::apps
