#include "kube/placing/placing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "kube/devices/testing/toy_cluster.h"

namespace berth::kube {
namespace {

using testing::claim_on;
using ::testing::ElementsAre;
using testing::gated_pod;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kWall = "2026-01-01T00:00:00.000000Z";

/// A cluster of one toy GPU, as a placing sees it. Objects are texts; the test is the server.
struct Seen {
  Placing placing = Placing({.own = {{testing::kToyDriver, std::nullopt}}});
  Instant now = Instant::at_second(100);

  Seen() {
    put(kNodes, testing::ready_node("a"));
    put(kResourceSlices, testing::counters_slice("a"));
    put(kResourceSlices, testing::devices_slice("a"));
    for (const char* profile : {"1g", "2g", "3g"}) put(kDeviceClasses, testing::class_of_profile(profile));
  }
  void put(const Resource& resource, const std::string& text, ChangeKind kind = ChangeKind::kAdded) {
    auto object = json::parse_document(text, "test");
    ASSERT_TRUE(object) << object.error().message << text;
    placing.take(resource.plural, {kind, identity_of(*object).value(), *object});
  }
  void list_all() {
    for (const Resource& resource : followed_resources()) placing.note_listed(resource.plural);
  }
  std::vector<std::string> decided() {
    actions = placing.decide(now, kWall);
    std::vector<std::string> texts;
    for (const Action& action : actions) texts.push_back(std::string(word_of(action.kind)) + " " + action.text);
    return texts;
  }
  /// What stands after a write.
  void stands(std::size_t action, const std::string& text) {
    auto object = json::parse_document(text, "test");
    ASSERT_TRUE(object) << object.error().message << text;
    placing.take_outcome(actions.at(action), WriteOutcome{.object = *object});
  }

  std::vector<Action> actions;
};

std::string with_intent(const std::string& name, const std::string& profile, int version, const std::string& device,
                        const std::string& rest = "") {
  std::string text = claim_on(name, profile, version, rest);
  const std::string annotation =
      R"({"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"],"annotations":{"berth.dev/intent":)"
      R"("0 slice=gpu.nvidia.com/a/gpu-0-mig-)" +
      device + R"("},)";
  return annotation + text.substr(std::string(R"({"metadata":{)").size());
}

std::string allocation(const std::string& device) {
  return R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
         R"("pool":"a","device":"gpu-0-mig-)" +
         device + R"("}]}}})";
}

TEST(Placing, DecidesNothingBeforeEverythingIsListed) {
  Seen seen;
  seen.put(kResourceClaims, claim_on("c", "1g", 5));
  seen.put(kPods, gated_pod("p", "c", 6));
  EXPECT_THAT(seen.decided(), IsEmpty());
  seen.list_all();
  EXPECT_EQ(seen.decided().size(), 1U);
}

TEST(Placing, WritesTheIntentThenTheAllocationThenOpensTheGate) {
  Seen seen;
  seen.list_all();
  seen.put(kResourceClaims, claim_on("c", "3g", 5));
  seen.put(kPods, gated_pod("p", "c", 6));
  EXPECT_THAT(seen.decided(), ElementsAre("intends claim n/c of pod n/p: gpu.nvidia.com/a/gpu-0-mig-3g-4"));
  EXPECT_EQ(seen.actions[0].write.version, "5");
  EXPECT_EQ(seen.actions[0].write.uid, "uid-c");
  EXPECT_EQ(json::text_of_node(seen.actions[0].write.body),
            R"({"metadata":{"finalizers":["resource.kubernetes.io/delete-protection"],)"
            R"("annotations":{"berth.dev/intent":"0 slice=gpu.nvidia.com/a/gpu-0-mig-3g-4"}}})");
  seen.stands(0, with_intent("c", "3g", 7, "3g-4"));
  EXPECT_THAT(seen.decided(), ElementsAre("allocates claim n/c: gpu.nvidia.com/a/gpu-0-mig-3g-4"));
  EXPECT_EQ(seen.actions[0].write.version, "7");
  EXPECT_EQ(seen.actions[0].write.subresource, "status");
  EXPECT_THAT(json::text_of_node(seen.actions[0].write.body),
              HasSubstr(R"("allocationTimestamp":"2026-01-01T00:00:00Z")"));
  seen.stands(0, with_intent("c", "3g", 8, "3g-4", allocation("3g-4")));
  // An older state that a watch still brings changes nothing.
  seen.put(kResourceClaims, claim_on("c", "3g", 5), ChangeKind::kModified);
  EXPECT_THAT(seen.decided(), ElementsAre("opens the gate of pod n/p"));
  EXPECT_EQ(json::text_of_node(seen.actions[0].write.body), R"({"spec":{"schedulingGates":[]}})");
}

TEST(Placing, DevicesAreHeldFromTheMomentTheyAreChosen) {
  Seen seen;
  seen.list_all();
  for (const char* name : {"p", "q", "r"}) {
    seen.put(kResourceClaims, claim_on(name, "3g", 5));
    seen.put(kPods, gated_pod(name, name, 6));
  }
  const auto texts = seen.decided();
  EXPECT_THAT(texts, ElementsAre(HasSubstr("p: gpu.nvidia.com/a/gpu-0-mig-3g-4"),
                                 HasSubstr("q: gpu.nvidia.com/a/gpu-0-mig-3g-0"),
                                 HasSubstr("reports pod n/r: none of the nodes with owned devices will do")));
  // The first write is refused: its devices are free again.
  seen.placing.take_outcome(seen.actions[0],
                            WriteOutcome{.fate = WriteFate::kConflict, .object = {}, .message = "conflict"});
  seen.stands(1, with_intent("q", "3g", 7, "3g-0"));
  EXPECT_THAT(seen.decided(), ElementsAre(HasSubstr("intends claim n/p of pod n/p: gpu.nvidia.com/a/gpu-0-mig-3g-4"),
                                          HasSubstr("allocates claim n/q")));
}

TEST(Placing, WhatPodsNoLongerReferToIsReleasedAfterAWhile) {
  Seen seen;
  seen.list_all();
  seen.put(kResourceClaims, with_intent("c", "1g", 5, "1g-0", allocation("1g-0")));
  EXPECT_THAT(seen.decided(), IsEmpty());
  seen.now = seen.now + kUnreferencedMin;
  EXPECT_THAT(seen.decided(), ElementsAre(HasSubstr("releases claim n/c")));
  EXPECT_EQ(json::text_of_node(seen.actions[0].write.body), R"({"status":{"allocation":null}})");
  seen.stands(0, with_intent("c", "1g", 6, "1g-0"));
  EXPECT_THAT(seen.decided(), ElementsAre("withdraws the intent of claim n/c"));
  EXPECT_EQ(json::text_of_node(seen.actions[0].write.body),
            R"({"metadata":{"finalizers":[],"annotations":{"berth.dev/intent":null}}})");
  // Reserved, or without an intent of ours: left alone.
  Seen other;
  other.list_all();
  other.put(kResourceClaims, claim_on("foreign", "1g", 5, allocation("1g-0")));
  EXPECT_THAT(other.decided(), IsEmpty());
  other.now = other.now + kUnreferencedMin;
  EXPECT_THAT(other.decided(), IsEmpty());
}

TEST(OwnedPools, EachEntryHasARuleForEachPool) {
  const std::vector<OwnedPools> own = {{"d", std::nullopt}, {"e", std::vector<std::string>{"x", "y/z"}}};
  EXPECT_TRUE(is_owned(own, {"d", "anything"}));
  EXPECT_TRUE(is_owned(own, {"e", "x"}));
  EXPECT_FALSE(is_owned(own, {"e", "z"}));
  EXPECT_FALSE(is_owned(own, {"f", "x"}));
  const auto rules = taint_rules(own);
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].name.name, "berth-owned.d");
  EXPECT_EQ(
      json::text_of_node(rules[0].body),
      R"({"metadata":{"labels":{"app.kubernetes.io/managed-by":"berth"}},"spec":{"deviceSelector":{"driver":"d"},)"
      R"("taint":{"key":"berth.dev/owned","effect":"NoSchedule"}}})");
  EXPECT_THAT(json::text_of_node(rules[2].body), HasSubstr(R"("deviceSelector":{"driver":"e","pool":"y/z"})"));
  EXPECT_NE(rules[1].name, rules[2].name);
}

}  // namespace
}  // namespace berth::kube
