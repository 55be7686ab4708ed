#include "kube/devices/choose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "base/json/document.h"
#include "base/json/node_text.h"
#include "kube/devices/testing/toy_cluster.h"

namespace berth::kube {
namespace {

using testing::claim_on;
using testing::class_of_profile;
using testing::counters_slice;
using testing::devices_slice;
using ::testing::ElementsAre;
using testing::gated_pod;
using ::testing::HasSubstr;
using testing::kToyDriver;
using testing::ready_node;

yaml::Node node_of(const std::string& text) {
  auto node = json::parse_document(text, "test");
  EXPECT_TRUE(node) << node.error().message << text;
  return node.value_or(yaml::Node{});
}

/// Nodes with a toy GPU each.
struct Toy {
  Inventory inventory;
  std::set<PoolName> owned;
  std::map<std::string, DeviceClass> classes;
  std::map<std::string, NodeFacts> nodes;
  std::map<std::string, NodeRoom> used;
  std::map<std::string, DeviceTaintRuleFacts> rules;
  Chooser chooser;

  explicit Toy(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      put(name + "-counters", counters_slice(name));
      put(name + "-devices", devices_slice(name));
      owned.insert({kToyDriver, name});
      nodes.emplace(name, read_node(node_of(ready_node(name))).value());
    }
    for (const char* profile : {"1g", "2g", "3g"})
      classes.emplace(profile, read_class(node_of(class_of_profile(profile))).value());
  }
  void put(const std::string& name, const std::string& slice) {
    const yaml::Node node = node_of(slice);
    ASSERT_TRUE(inventory.put_slice(name, &node));
  }
  void hold(const std::string& node, const std::string& device) {
    inventory.hold({{kToyDriver, node}, "gpu-0-mig-" + device});
  }

  Surroundings around() { return {inventory, owned, classes, nodes, used, rules}; }
  Choice choose(const std::vector<Claim>& claims, const PodFacts& pod = {}, const std::string& node = {}) {
    std::vector<const Claim*> borrowed;
    for (const Claim& claim : claims) borrowed.push_back(&claim);
    return chooser.choose(pod, borrowed, around(), node);
  }
  /// "NODE DEVICE ..." of what is chosen, or the reason.
  std::string chosen(const std::vector<Claim>& claims, const PodFacts& pod = {}) {
    const Choice choice = choose(claims, pod);
    if (const auto* none = std::get_if<NoChoice>(&choice)) return none->reason;
    std::string text = std::get<Chosen>(choice).node;
    for (const auto& devices : std::get<Chosen>(choice).devices) {
      for (const AllocatedDevice& each : devices)
        text += " " + each.device.device.substr(std::string("gpu-0-mig-").size());
    }
    return text;
  }
};

Claim claim(const std::string& profile) { return read_claim(node_of(claim_on("c", profile, 1))).value(); }

TEST(Choose, ASmallDeviceGoesWhereItRulesOutTheLeast) {
  Toy toy({"a"});
  toy.hold("a", "1g-6");
  // First fit would take 1g-0 and rule out the last 3g.
  EXPECT_EQ(toy.chosen({claim("1g")}), "a 1g-4");
  toy.hold("a", "1g-4");
  EXPECT_EQ(toy.chosen({claim("1g")}), "a 1g-5");
  EXPECT_EQ(toy.chosen({claim("3g")}), "a 3g-0");
  toy.hold("a", "3g-0");
  EXPECT_THAT(toy.chosen({claim("3g")}), HasSubstr("units: 1 node (4 wanted on one GPU, at most 2 free)"));
  toy.inventory.free({{kToyDriver, "a"}, "gpu-0-mig-3g-0"});
  EXPECT_EQ(toy.chosen({claim("3g")}), "a 3g-0");
}

TEST(Choose, AmongNodesTheOneThatLosesTheLeast) {
  Toy toy({"a", "b"});
  toy.hold("b", "1g-6");
  EXPECT_EQ(toy.chosen({claim("1g")}), "b 1g-4");
  EXPECT_EQ(toy.chosen({claim("1g"), claim("3g")}), "b 1g-4 3g-0");
}

TEST(Choose, AllClaimsOfAPodOnOneNodeOrNone) {
  Toy toy({"a", "b"});
  toy.hold("a", "1g-0");
  toy.hold("b", "1g-4");
  EXPECT_THAT(toy.chosen({claim("3g"), claim("3g")}), HasSubstr("units for all of its requests together: 2 nodes"));
  EXPECT_EQ(toy.chosen({claim("3g"), claim("2g")}), "a 3g-4 2g-2");
}

TEST(Choose, OnlyCompletePoolsOfTheNewestGenerationCount) {
  Toy toy({"a"});
  toy.put("a-devices", devices_slice("a", 2));
  EXPECT_EQ(toy.chosen({claim("1g")}), "no node has devices of owned pools");
  toy.put("a-counters", counters_slice("a", 2));
  EXPECT_EQ(toy.chosen({claim("1g")}).substr(0, 4), "a 1g");
  ASSERT_TRUE(toy.inventory.put_slice("a-counters", nullptr));
  EXPECT_TRUE(toy.inventory.pools().empty());
}

TEST(Choose, PoolsThatAreNotOwnedAreLeftAlone) {
  Toy toy({"a", "b"});
  toy.owned.erase({kToyDriver, "a"});
  EXPECT_EQ(toy.chosen({claim("3g")}).substr(0, 2), "b ");
  EXPECT_TRUE(toy.chooser.is_of_owned(claim("3g"), toy.around()));
  toy.owned.clear();
  toy.chooser.forget_owned();
  EXPECT_FALSE(toy.chooser.is_of_owned(claim("3g"), toy.around()));
}

TEST(Choose, NodesThatDoNotSuitThePodAreNamed) {
  Toy toy({"a"});
  PodFacts pod;
  const auto becomes = [&](const std::string& rest) {
    toy.nodes["a"] = read_node(node_of(ready_node("a", rest))).value();
  };
  becomes(R"("unschedulable":true)");
  EXPECT_THAT(toy.chosen({claim("1g")}), HasSubstr("(node cordoned: 1 node)"));
  becomes(R"("taints":[{"key":"k","effect":"NoSchedule"}])");
  EXPECT_THAT(toy.chosen({claim("1g")}), HasSubstr("(node taint: 1 node)"));
  pod.tolerations = {{.key = "k", .is_any_value = true}};
  EXPECT_EQ(toy.chosen({claim("3g")}, pod), "a 3g-4");
  pod.node_selector = {{"zone", "x"}};
  EXPECT_THAT(toy.chosen({claim("1g")}, pod), HasSubstr("(node selector: 1 node)"));
  pod.node_selector.clear();
  pod.wants.cpu = 7'000;
  toy.used["a"] = {.cpu = 2'000};
  EXPECT_THAT(toy.chosen({claim("1g")}, pod), HasSubstr("(node CPU: 1 node (7000 m wanted, at most 6000 m free))"));
  pod.wants.cpu = 6'000;
  EXPECT_EQ(toy.chosen({claim("3g")}, pod), "a 3g-4");
  pod.affinity = {{{.key = "kubernetes.io/hostname", .op = "NotIn", .values = {"a"}}}};
  EXPECT_THAT(toy.chosen({claim("1g")}, pod), HasSubstr("(node affinity: 1 node)"));
}

TEST(Choose, TaintedDevicesAreForRequestsThatTolerateThem) {
  Toy toy({"a"});
  toy.rules["r"] = {.driver = kToyDriver, .pool = "a", .device = "gpu-0-mig-3g-0", .taint = {"k", "", "NoSchedule"}};
  EXPECT_EQ(toy.chosen({claim("3g")}), "a 3g-4");
  Claim tolerant = claim("3g");
  tolerant.requests[0].options[0].tolerations = {{.key = "k", .is_any_value = true}};
  toy.hold("a", "1g-6");
  EXPECT_EQ(toy.chosen({tolerant}), "a 3g-0");
  EXPECT_THAT(toy.chosen({claim("3g")}), HasSubstr("units: 1 node (4 wanted on one GPU, at most 7 free)"));
}

TEST(Choose, ADeviceThatIsTaintedOrNotSelectedIsNoMatterOfUnits) {
  Toy toy({"a"});
  toy.rules["r"] = {.driver = kToyDriver, .taint = {"k", "", "NoExecute"}};
  EXPECT_THAT(toy.chosen({claim("3g")}), HasSubstr("device taint: 1 node"));
  EXPECT_THAT(toy.chosen({claim("7g")}), HasSubstr("device selector: 1 node"));
}

TEST(Choose, CountsAlternativesAndMatchingAttributes) {
  Toy toy({"a"});
  Claim pair = claim("1g");
  pair.requests[0].options[0].count = 7;
  EXPECT_EQ(toy.chosen({pair}).size(), std::string("a 1g-0 1g-1 1g-2 1g-3 1g-4 1g-5 1g-6").size());
  Claim either =
      read_claim(
          node_of(R"({"metadata":{"name":"c","namespace":"n","resourceVersion":"1"},"spec":{"devices":{"requests":[)"
                  R"({"name":"r","firstAvailable":[{"name":"large","deviceClassName":"3g"},{"name":"small",)"
                  R"("deviceClassName":"2g"}]}]}}})"))
          .value();
  toy.hold("a", "3g-0");
  toy.hold("a", "1g-6");
  const Choice choice = toy.choose({either});
  ASSERT_TRUE(std::holds_alternative<Chosen>(choice));
  EXPECT_EQ(std::get<Chosen>(choice).devices[0][0].request, "r/small");
  Claim matching =
      read_claim(
          node_of(R"({"metadata":{"name":"c","namespace":"n","resourceVersion":"1"},"spec":{"devices":{"requests":[)"
                  R"({"name":"x","exactly":{"deviceClassName":"1g"}},{"name":"y","exactly":{"deviceClassName":"2g"}}],)"
                  R"("constraints":[{"matchAttribute":"gpu.nvidia.com/profile"}]}}})"))
          .value();
  Toy empty({"a"});
  EXPECT_THAT(empty.chosen({matching}), HasSubstr("units for all of its requests together: 1 node"));
  matching.constraints[0].attribute = "gpu.nvidia.com/type";
  EXPECT_EQ(empty.chosen({matching}).substr(0, 4), "a 1g");
}

TEST(Claim, WhatIsNotUnderstoodIsSaid) {
  const auto reason = [](const std::string& request) {
    return read_claim(
               node_of(
                   R"({"metadata":{"name":"c","namespace":"n","resourceVersion":"1"},"spec":{"devices":{"requests":[)" +
                   request + "]}}}"))
        .value()
        .not_understood;
  };
  EXPECT_EQ(reason(R"({"name":"r","exactly":{"deviceClassName":"1g","count":2}})"), "");
  EXPECT_THAT(reason(R"({"name":"r","exactly":{"deviceClassName":"1g","allocationMode":"All"}})"),
              HasSubstr("allocationMode"));
  EXPECT_THAT(reason(R"({"name":"r","exactly":{"deviceClassName":"1g","adminAccess":true}})"),
              HasSubstr("adminAccess"));
  EXPECT_THAT(reason(R"({"name":"r"})"), HasSubstr("wanted exactly or firstAvailable"));
  EXPECT_THAT(
      reason(R"_({"name":"r","exactly":{"deviceClassName":"1g","selectors":[{"cel":{"expression":"size(x)"}}]}})_"),
      HasSubstr("selector \"size(x)\" at column 1"));
}

TEST(Claim, AllocationsAreWrittenAsTheSchedulerDoesAndReadBack) {
  const std::vector<AllocatedDevice> devices = {{"slice", {{kToyDriver, "a/b"}, "gpu-0"}}};
  const std::map<std::string, DeviceClass> classes;
  const Claim one = claim("1g");
  const yaml::Node allocation =
      allocation_of({.claim = one, .devices = devices, .classes = classes, .node = "a", .time = "t"});
  EXPECT_EQ(json::text_of_node(allocation),
            R"({"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com","pool":"a/b","device":"gpu-0"}]},)"
            R"("nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",)"
            R"("values":["a"]}]}]},)"
            R"("allocationTimestamp":"t"})");
  const Claim read =
      read_claim(node_of(claim_on("c", "1g", 2, R"(,"status":{"allocation":)" + json::text_of_node(allocation) + "}")))
          .value();
  EXPECT_TRUE(read.is_allocated);
  EXPECT_EQ(read.allocated, devices);
  const auto intent = parse_intent(intent_text({.epoch = 3, .devices = devices}));
  ASSERT_TRUE(intent);
  EXPECT_EQ(intent->epoch, 3);
  EXPECT_EQ(intent->devices, devices);
  for (const char* text : {"", "x", "1 ", "1 a", "1 a=b", "1 a=b/c", "1a=b/c/d"})
    EXPECT_FALSE(parse_intent(text)) << text;
}

}  // namespace
}  // namespace berth::kube
