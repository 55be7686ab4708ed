// `berth why pod` on the fake API server.
#include "apps/operator/run_why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "apps/operator/owned_rules.h"
#include "apps/operator/test_cluster.h"

namespace berth::apps {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class WhyPod : public ::testing::Test {
 protected:
  std::string why(const std::string& pod) {
    kube::Access access;
    access.server = cluster_.server.url();
    const auto text = explain_pod_of_cluster({.access = access, .pod = {"n", pod}}, files_);
    return text ? *text : "failed: " + text.error().message;
  }
  void own_everything() {
    edges::KubeClient client(cluster_.identity(), std::make_shared<edges::SharedPace>());
    ASSERT_TRUE(write_owned_rules(client, {.own = {{kube::testing::kToyDriver, std::nullopt}}}));
  }
  void add_pod_with(const std::string& name, const std::string& rest_of_spec) {
    cluster_.add_claim(name, "1g");
    std::string pod = kube::testing::gated_pod(name, name, 1);
    const std::string spec = R"("spec":{)";
    pod.insert(pod.find(spec) + spec.size(), rest_of_spec + ",");
    cluster_.create(kube::kPods, "n", pod);
  }

  TestCluster cluster_;
  edges::DiskFiles files_;
};

TEST_F(WhyPod, WithoutRulesNothingIsOwned) {
  cluster_.add_node("a");
  cluster_.add_pod("p", "3g");
  EXPECT_THAT(why("p"), HasSubstr("pod n/p waits: none of its claims is on a device that Berth owns"));
  EXPECT_EQ(why("q"), "failed: pod n/q: wanted a pod of the cluster, found none");
}

TEST_F(WhyPod, WhatIsShortIsNamedAndNothingIsWritten) {
  cluster_.add_node("a");
  own_everything();
  cluster_.add_pod("fits", "3g");
  add_pod_with("large", R"("nodeSelector":{"zone":"x"})");
  cluster_.create(
      kube::kResourceClaims, "n",
      R"_({"metadata":{"name":"odd","namespace":"n"},"spec":{"devices":{"requests":[{"name":"slice","exactly":{)_"
      R"_("deviceClassName":"1g","selectors":[{"cel":{"expression":"size(device.driver) > 3"}}]}}]}}})_");
  cluster_.create(kube::kPods, "n", kube::testing::gated_pod("odd", "odd", 1));
  cluster_.create(kube::kPods, "n", kube::testing::gated_pod("early", "absent", 1));
  const int writes = cluster_.server.count_requests("P", "");
  EXPECT_THAT(why("fits"), AllOf(HasSubstr("pod n/fits can be placed; the operator's next write intends claim n/fits"),
                                 HasSubstr("  fits: no devices yet")));
  EXPECT_THAT(why("large"), HasSubstr("node selector: 1 node"));
  EXPECT_THAT(why("odd"), HasSubstr("selector \"size(device.driver) > 3\""));
  EXPECT_THAT(why("early"), HasSubstr("waits: claim absent does not exist yet"));
  EXPECT_EQ(cluster_.server.count_requests("P", ""), writes);
  EXPECT_EQ(cluster_.server.count_requests("DELETE", ""), 0);
}

TEST_F(WhyPod, UnitsAreCountedAgainstWhatOthersHold) {
  cluster_.add_node("a");
  own_everything();
  const char* const held =
      R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
      R"("pool":"a","device":"gpu-0-mig-3g-0"}]}},"reservedFor":[{"name":"somebody"}]})";
  cluster_.add_claim("first", "3g", held);
  cluster_.add_claim("second", "1g",
                     R"(,"status":{"allocation":{"devices":{"results":[{"request":"slice","driver":"gpu.nvidia.com",)"
                     R"("pool":"a","device":"gpu-0-mig-1g-6"}]}}})");
  cluster_.add_pod("p", "3g");
  EXPECT_THAT(why("p"), HasSubstr("units: 1 node (4 wanted on one GPU, at most 3 free)"));
}

}  // namespace
}  // namespace berth::apps
