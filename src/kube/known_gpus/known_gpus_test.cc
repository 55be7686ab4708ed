#include "kube/known_gpus/known_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/json/document.h"
#include "kube/devices/testing/nvidia_node.h"
#include "kube/devices/testing/toy_cluster.h"

namespace berth::kube {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the objects of these tests

yaml::Node parsed(const std::string& text) {
  auto node = json::parse_document(text, "test");
  if (!node) ADD_FAILURE() << node.error().message << text;
  return node ? *node : yaml::Node{};
}

/// Nodes with two A100-80GB each.
struct Lab {
  explicit Lab(const std::vector<std::string>& names, const std::string& product = "NVIDIA A100-SXM4-80GB") {
    for (const std::string& name : names) {
      put(name + "-counters", nvidia_counters_slice(name, 2));
      put(name + "-devices", nvidia_devices_slice(name, 2, product));
      owned.insert({kToyDriver, name});
      nodes[name] = read_node(parsed(ready_node(name))).value();
    }
    for (const auto& [short_name, profile] : std::map<std::string, std::string>{
             {"1g", "1g.10gb"}, {"2g", "2g.20gb"}, {"3g", "3g.40gb"}, {"4g", "4g.40gb"}, {"7g", "7g.80gb"}}) {
      classes.emplace(short_name, read_class(parsed(nvidia_class(short_name, profile))).value());
    }
  }
  void put(const std::string& name, const std::string& text) {
    const yaml::Node node = parsed(text);
    ASSERT_TRUE(inventory.put_slice(name, &node));
  }
  Surroundings around() { return {inventory, owned, classes, nodes, used, rules}; }
  /// "NODE DEVICE", or "none". A device that is chosen is held.
  std::string place(const std::string& profile, const PodFacts& pod = {}) {
    const Claim wanted = read_claim(parsed(claim_on("c", profile, 1))).value();
    const auto chosen = known.choose(pod, wanted, around(), chooser);
    if (!chosen) return "none";
    const DeviceName device = chosen->devices[0][0].device;
    inventory.hold(device);
    return chosen->node + " " + device.device;
  }

  Inventory inventory;
  std::set<PoolName> owned;
  std::map<std::string, DeviceClass> classes;
  std::map<std::string, NodeFacts> nodes;
  std::map<std::string, NodeRoom> used;
  std::map<std::string, DeviceTaintRuleFacts> rules;
  Chooser chooser;
  KnownGpus known;
};

TEST(KnownGpus, SmallSlicesLeaveRoomForLargeOnes) {
  Lab lab({"a"});
  std::set<std::string> placed;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(placed.insert(lab.place("1g")).second);
  EXPECT_EQ(placed.contains("none"), false);
  // Three times 1g and three times 3g are on two GPUs only if the small ones share a half.
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(placed.insert(lab.place("3g")).second);
  EXPECT_FALSE(placed.contains("none"));
  EXPECT_EQ(lab.place("3g"), "none");
}

TEST(KnownGpus, WhatClaimsHoldIsFollowedAndFreedAgain) {
  Lab lab({"a"});
  EXPECT_NE(lab.place("7g"), "none");
  EXPECT_NE(lab.place("7g"), "none");
  EXPECT_EQ(lab.place("1g"), "none");
  lab.inventory.free({{kToyDriver, "a"}, "gpu-1-mig-7g80gb-0-0"});
  EXPECT_THAT(lab.place("1g"), ::testing::StartsWith("a gpu-1-mig-1g10gb-19-"));
  // A whole GPU that is held leaves nothing of it.
  Lab other({"a"});
  other.inventory.hold({{kToyDriver, "a"}, "gpu-0"});
  for (int i = 0; i < 7; ++i) EXPECT_THAT(other.place("1g"), ::testing::StartsWith("a gpu-1-"));
  EXPECT_EQ(other.place("1g"), "none");
}

TEST(KnownGpus, NodesThatDoNotSuitThePodAreLeftOut) {
  Lab lab({"a", "b"});
  PodFacts pod;
  pod.node_selector = {{"kubernetes.io/hostname", "b"}};
  EXPECT_EQ(lab.place("3g", pod).substr(0, 2), "b ");
  pod.node_selector = {{"kubernetes.io/hostname", "c"}};
  EXPECT_EQ(lab.place("3g", pod), "none");
  PodFacts large;
  large.wants.cpu = 7'000;
  lab.used["b"] = {.cpu = 2'000};
  EXPECT_EQ(lab.place("1g", large).substr(0, 2), "a ");
  lab.used["a"] = {.cpu = 2'000};
  EXPECT_EQ(lab.place("1g", large), "none");
  lab.used["b"] = {};
  EXPECT_EQ(lab.place("1g", large).substr(0, 2), "b ");
  lab.nodes["b"].is_cordoned = true;
  lab.known.forget();
  EXPECT_EQ(lab.place("1g", large), "none");
}

TEST(KnownGpus, OtherModelsTaintsAndRequestsAreNotHandled) {
  Lab unknown({"a"}, "Some GPU");
  EXPECT_EQ(unknown.place("1g"), "none");
  Lab lab({"a"});
  lab.rules["r"] = {.driver = kToyDriver, .taint = {"k", "", "NoSchedule"}};
  EXPECT_EQ(lab.place("1g"), "none");
  lab.rules.clear();
  lab.known.forget();
  Claim two = read_claim(parsed(claim_on("c", "1g", 1))).value();
  two.requests[0].options[0].count = 2;
  EXPECT_FALSE(lab.known.choose({}, two, lab.around(), lab.chooser));
  EXPECT_NE(lab.place("1g"), "none");
}

TEST(KnownGpus, NothingOverlapsAndTheSameHappensTwice) {
  const auto history = [] {
    Lab lab({"a", "b", "c"});
    Rng rng(7);
    std::string text;
    std::vector<DeviceName> held;
    const std::vector<std::string> profiles = {"1g", "2g", "3g", "4g", "7g"};
    for (int i = 0; i < 300; ++i) {
      if (!held.empty() && rng.below(3) == 0) {
        const std::size_t index = rng.below(held.size());
        lab.inventory.free(held[index]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
        continue;
      }
      const std::string placed = lab.place(profiles[rng.below(profiles.size())]);
      text += placed + "\n";
      if (placed != "none") held.push_back({{kToyDriver, placed.substr(0, 1)}, placed.substr(2)});
      for (const auto& [name, pool] : lab.inventory.pools()) {
        for (const std::int64_t left : pool.left) EXPECT_GE(left, 0) << text;
      }
    }
    return text;
  };
  EXPECT_EQ(history(), history());
}

}  // namespace
}  // namespace berth::kube
