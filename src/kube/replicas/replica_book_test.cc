#include "kube/replicas/replica_book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/json/document.h"
#include "base/json/node_text.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPod = R"({"spec":{"containers":[{"name":"server","image":"i"}]}})";

class ReplicaBookTest : public ::testing::Test {
 protected:
  static WantedReplica wanted(const std::string& slice = "gpu-0-1g.10gb-6-1", const std::string& device = "d6") {
    return {
        .slice = slice, .tenant = "lab", .service = "vision", .device = {{"gpu.nvidia.com", "a"}, device}, .pod = kPod};
  }
  void want(std::vector<WantedReplica> all) { book_.want(std::move(all), now_); }
  std::vector<Action> decide() { return book_.decide(now_); }
  void pass(std::int64_t seconds) { now_ = now_ + Micros::seconds(seconds); }

  /// What a server does with a creation; `status` continues the object.
  void stand(const Action& action, const std::string& status = "") {
    yaml::Node object = json::parse_document(call_of(action.write).body, "object").value();
    yaml::Node& metadata = metadata_of(object);
    put(metadata, "uid", text_node("u-" + action.write.name.name));
    put(metadata, "resourceVersion", text_node(std::to_string(++version_)));
    if (!status.empty()) put(object, "status", json::parse_document(status, "status").value());
    standing_[action.write.resource.plural == kPods.plural ? "pod" : "claim"] = object;
    tell(action.write.resource, object);
  }
  static yaml::Node& metadata_of(yaml::Node& object) {
    return std::ranges::find(std::get<yaml::Map>(object.value), "metadata", &yaml::Entry::key)->value;
  }
  void tell(const Resource& resource, const yaml::Node& object, ChangeKind kind = ChangeKind::kModified) {
    book_.take(resource.plural, {kind, identity_of(object).value(), object});
  }
  void allocate() {
    yaml::Node& claim = standing_.at("claim");
    put(claim, "status",
        json::parse_document(R"({"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
                             R"("pool":"a","device":"d6"}]}}})",
                             "status")
            .value());
    tell(kResourceClaims, claim);
  }
  /// The allocation goes, and its intent stays.
  void release() {
    put(standing_.at("claim"), "status", map_node());
    tell(kResourceClaims, standing_.at("claim"));
  }
  void set_pod_status(const std::string& phase, bool is_ready) {
    yaml::Node& pod = standing_.at("pod");
    put(pod, "status",
        json::parse_document(fmt::format(R"({{"phase":"{}","conditions":[{{"type":"Ready","status":"{}"}}]}})", phase,
                                         is_ready ? "True" : "False"),
                             "status")
            .value());
    tell(kPods, pod);
  }
  /// A slice that serves.
  void serve() {
    want({wanted()});
    stand(decide().front());
    allocate();
    stand(decide().front());
    set_pod_status("Running", true);
    EXPECT_THAT(decide(), IsEmpty());
    EXPECT_THAT(book_.take_news(), SizeIs(1));
  }

  Instant now_ = Instant::at_second(1000);
  int version_ = 1;
  std::map<std::string, yaml::Node> standing_;
  ReplicaBook book_{{.world = "w1"}};
};

TEST_F(ReplicaBookTest, ASliceBecomesAClaimAndThenAPodThatServes) {
  EXPECT_THAT(decide(), IsEmpty());
  want({wanted()});
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kClaim);
  const std::string claim = call_of(actions[0].write).body;
  EXPECT_THAT(claim, HasSubstr(R"("berth.dev/intent":"0 slice=gpu.nvidia.com/a/d6")"));
  EXPECT_THAT(claim, HasSubstr(R"("berth.dev/service":"vision")"));
  EXPECT_THAT(claim, HasSubstr(R"("finalizers":["resource.kubernetes.io/delete-protection"])"));
  EXPECT_THAT(claim, HasSubstr(R"("deviceClassName":"mig.nvidia.com")"));
  EXPECT_EQ(actions[0].write.name.namespace_name, "lab");
  stand(actions[0]);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kPod);
  const std::string pod = call_of(actions[0].write).body;
  EXPECT_THAT(pod, HasSubstr(R"("schedulingGates":[{"name":"berth.dev/place"}])"));
  EXPECT_THAT(pod, HasSubstr(R"("resources":{"claims":[{"name":"berth-slice"}]})"));
  EXPECT_THAT(pod, HasSubstr(R"("resourceClaimName":")" + actions[0].write.name.name + "\""));
  stand(actions[0]);
  EXPECT_THAT(decide(), IsEmpty());
  set_pod_status("Running", true);
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(book_.take_news(), IsEmpty()) << "its claim has no devices yet";
  allocate();
  pass(7);
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(
      book_.take_news(),
      ElementsAre(ReplicaNews{
          .kind = ReplicaNewsKind::kReady, .slice = "gpu-0-1g.10gb-6-1", .text = "", .took = Micros::seconds(7)}));
}

TEST_F(ReplicaBookTest, ThePodGoesBeforeItsClaim) {
  serve();
  WantedReplica leaving = wanted();
  leaving.is_leaving = true;
  want({leaving});
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  EXPECT_EQ(actions[0].write.uid, "u-" + actions[0].write.name.name);
  put(metadata_of(standing_.at("pod")), "deletionTimestamp", text_node("2026-01-01T00:00:00Z"));
  tell(kPods, standing_.at("pod"));
  EXPECT_THAT(decide(), IsEmpty()) << "its grace period";
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndClaim);
  EXPECT_THAT(book_.take_news(), IsEmpty());
  tell(kResourceClaims, standing_.at("claim"), ChangeKind::kDeleted);
  EXPECT_THAT(decide(), IsEmpty());
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].kind, ReplicaNewsKind::kGone);
}

TEST_F(ReplicaBookTest, ASliceThatGetsAnotherHolderGetsItsPod) {
  serve();
  WantedReplica leaving = wanted();
  leaving.is_leaving = true;
  want({leaving});
  EXPECT_THAT(decide(), SizeIs(1));
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  EXPECT_THAT(decide(), SizeIs(1));
  tell(kResourceClaims, standing_.at("claim"), ChangeKind::kDeleted);
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(book_.take_news(), SizeIs(1));
  pass(400);
  WantedReplica next = wanted();
  next.tenant = "shop";
  next.service = "search";
  want({next});
  const auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kClaim);
  EXPECT_EQ(actions[0].write.name.namespace_name, "shop");
  EXPECT_THAT(call_of(actions[0].write).body, HasSubstr(R"("berth.dev/service":"search")"));
  stand(actions[0]);
  allocate();
  stand(decide().front());
  pass(3);
  set_pod_status("Running", true);
  EXPECT_THAT(decide(), IsEmpty());
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].kind, ReplicaNewsKind::kReady);
  EXPECT_EQ(news[0].took, Micros::seconds(3)) << "the time of the new holder alone";
}

TEST_F(ReplicaBookTest, AnotherHolderWaitsUntilTheClaimOfTheFormerOneIsGone) {
  serve();
  WantedReplica next = wanted();
  next.service = "search";
  want({next});
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndClaim);
  tell(kResourceClaims, standing_.at("claim"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kClaim);
  EXPECT_THAT(call_of(actions[0].write).body, HasSubstr(R"("berth.dev/service":"search")"));
  EXPECT_THAT(book_.take_news(), IsEmpty());
}

TEST_F(ReplicaBookTest, APodThatIsNotReadyInTimeFails) {
  want({wanted()});
  stand(decide().front());
  allocate();
  stand(decide().front());
  pass(299);
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(book_.take_news(), IsEmpty());
  pass(1);
  const auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].kind, ReplicaNewsKind::kFailed);
  EXPECT_THAT(news[0].text, HasSubstr("was not Ready within 300 s"));
}

TEST_F(ReplicaBookTest, AClaimThatTheSchedulerTakesBackFailsWithTheReasonOfItsPod) {
  want({wanted()});
  stand(decide().front());
  allocate();
  stand(decide().front());
  release();
  EXPECT_THAT(decide(), IsEmpty()) << "the pod does not yet say why";
  EXPECT_THAT(book_.take_news(), IsEmpty());
  put(standing_.at("pod"), "status",
      json::parse_document(R"({"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",)"
                           R"("message":"0/1 nodes are available: volumes"}]})",
                           "status")
          .value());
  tell(kPods, standing_.at("pod"));
  const auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].kind, ReplicaNewsKind::kTakenBack);
  EXPECT_THAT(news[0].text, HasSubstr("waits: 0/1 nodes are available: volumes"));
}

TEST_F(ReplicaBookTest, AServiceWhoseClaimsAreTakenBackAgainAndAgainWaitsLongerEachTime) {
  std::int64_t waited = 0;
  for (int round = 0; round < 7; ++round) {
    const std::string slice = fmt::format("gpu-0-1g.10gb-6-{}", round);
    want({wanted(slice)});
    std::vector<Action> actions = decide();
    for (waited = 0; actions.empty() && waited < 100; ++waited) {
      pass(1);
      actions = decide();
    }
    ASSERT_THAT(actions, SizeIs(1));
    stand(actions.front());
    allocate();
    stand(decide().front());
    release();
    EXPECT_THAT(decide(), IsEmpty());
    pass(2);
    EXPECT_THAT(decide(), SizeIs(1));
    EXPECT_THAT(book_.take_news(), SizeIs(1));
    tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
    tell(kResourceClaims, standing_.at("claim"), ChangeKind::kDeleted);
    EXPECT_TRUE(round > 1 || waited == 0) << "another node is tried at once";
  }
  EXPECT_EQ(waited, 60);
}

TEST_F(ReplicaBookTest, WhatWasReservedAndIsReleasedIsNoFailure) {
  serve();
  put(standing_.at("claim"), "status",
      json::parse_document(R"({"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
                           R"("pool":"a","device":"d6"}]}},"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]})",
                           "status")
          .value());
  tell(kResourceClaims, standing_.at("claim"));
  release();
  pass(10);
  EXPECT_THAT(decide(), IsEmpty());
  EXPECT_THAT(book_.take_news(), IsEmpty());
}

TEST_F(ReplicaBookTest, AClaimThatCannotHaveItsDeviceFails) {
  want({wanted()});
  stand(decide().front());
  put(*const_cast<yaml::Node*>(json::find_at(standing_.at("claim"), {"metadata", "annotations"})), "berth.dev/intent",
      text_node("0"));
  tell(kResourceClaims, standing_.at("claim"));
  const auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndClaim);
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(news[0].text, HasSubstr("cannot have gpu.nvidia.com/a/d6"));
}

TEST_F(ReplicaBookTest, WhatCannotBeCreatedIsTriedAgainAndItsReasonIsThatOfTheFailure) {
  want({wanted()});
  Action claim = decide().front();
  book_.take_outcome(claim, WriteOutcome{.fate = WriteFate::kConflict, .message = "exists"}, now_);
  EXPECT_THAT(decide(), IsEmpty());
  pass(5);
  stand(decide().front());
  const Action pod = decide().front();
  book_.take_outcome(pod, WriteOutcome{.fate = WriteFate::kRefused, .message = "spec.containers: wrong"}, now_);
  EXPECT_THAT(decide(), IsEmpty());
  pass(5);
  EXPECT_THAT(decide(), SizeIs(1));
  EXPECT_THAT(book_.take_news(), IsEmpty());
  pass(290);
  EXPECT_THAT(decide(), SizeIs(1));
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_THAT(news[0].text, HasSubstr("was not Ready within 300 s: spec.containers: wrong"));
}

TEST_F(ReplicaBookTest, PodsOfAnotherTemplateAreReplacedOneAtATime) {
  serve();
  WantedReplica second = wanted("gpu-0-1g.10gb-5-2", "d5");
  WantedReplica changed = wanted();
  second.pod = changed.pod = R"({"spec":{"containers":[{"name":"server","image":"j"}]}})";
  want({changed, second});
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1)) << "the other one is not Ready yet";
  EXPECT_EQ(actions[0].kind, ActionKind::kClaim);
  want({changed});
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_THAT(call_of(actions[0].write).body, HasSubstr(R"("image":"j")"));
}

TEST_F(ReplicaBookTest, APodThatIsGoneOrFinishedIsCreatedAgain) {
  serve();
  set_pod_status("Failed", false);
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kPod);
}

TEST_F(ReplicaBookTest, WhatStandsIsTakenOverAndOtherWorldsAreLeftAlone) {
  serve();
  ReplicaBook next({.world = "w2"});
  for (const auto& [kind, object] : standing_)
    next.take(kind == "pod" ? kPods.plural : kResourceClaims.plural,
              {ChangeKind::kAdded, identity_of(object).value(), object});
  next.want({}, now_);
  EXPECT_THAT(next.decide(now_), IsEmpty());
  next.want({wanted("gpu-5-1g.10gb-6-9")}, now_);
  EXPECT_THAT(next.decide(now_), IsEmpty());
  const auto news = next.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].slice, "gpu-5-1g.10gb-6-9");
  EXPECT_TRUE(next.is_known(next.views().front().object));
}

TEST_F(ReplicaBookTest, WhatBelongsToNoSliceOfThisWorldIsDeleted) {
  serve();
  want({});
  auto actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndPod);
  tell(kPods, standing_.at("pod"), ChangeKind::kDeleted);
  actions = decide();
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(actions[0].kind, ActionKind::kEndClaim);
}

TEST_F(ReplicaBookTest, WithoutAPodTemplateTheClaimAloneServes) {
  WantedReplica bare = wanted();
  bare.pod.clear();
  want({bare});
  stand(decide().front());
  EXPECT_THAT(decide(), IsEmpty());
  allocate();
  EXPECT_THAT(decide(), IsEmpty());
  const auto news = book_.take_news();
  ASSERT_THAT(news, SizeIs(1));
  EXPECT_EQ(news[0].kind, ReplicaNewsKind::kReady);
}

}  // namespace
}  // namespace berth::kube
