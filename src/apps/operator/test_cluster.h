/// A cluster for tests of the operator: the fake API server with objects, and stand-ins for scheduler and kubelets.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apps/operator/operator_loop.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "edges/files/disk_files.h"
#include "edges/kube/testing/fake_api_server.h"
#include "kube/client/page.h"
#include "kube/client/write.h"
#include "kube/devices/testing/toy_cluster.h"

namespace berth::apps {

class TestCluster {
 public:
  TestCluster()
      : client_(identity(), std::make_shared<edges::SharedPace>(100'000, 100'000), {.patience = Micros::seconds(5)}) {
    for (const char* profile : {"1g", "2g", "3g"})
      create(kube::kDeviceClasses, "", kube::testing::class_of_profile(profile));
  }

  std::shared_ptr<edges::KubeIdentity> identity() {
    kube::Access access;
    access.server = server.url();
    return std::make_shared<edges::KubeIdentity>(access, files_);
  }

  void create(const kube::Resource& resource, const std::string& namespace_name, const std::string& object) {
    const auto answer = client_.ask({.method = "POST",
                                     .target = kube::collection_path(resource, namespace_name),
                                     .content_type = "application/json",
                                     .body = object});
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_EQ(answer->status, 201) << answer->body << object;
  }
  /// A node with a toy GPU of its own.
  void add_node(const std::string& name) {
    create(kube::kNodes, "", kube::testing::ready_node(name));
    create(kube::kResourceSlices, "", kube::testing::counters_slice(name));
    create(kube::kResourceSlices, "", kube::testing::devices_slice(name));
  }
  void add_claim(const std::string& name, const std::string& profile, const std::string& rest = "") {
    create(kube::kResourceClaims, "n", kube::testing::claim_on(name, profile, 1, rest));
  }
  /// A gated pod with a claim of its own.
  void add_pod(const std::string& name, const std::string& profile) {
    add_claim(name, profile);
    create(kube::kPods, "n", kube::testing::gated_pod(name, name, 1));
  }
  std::vector<kube::PageItem> list(const kube::Resource& resource) {
    const auto answer = client_.ask({.target = kube::collection_path(resource)});
    EXPECT_TRUE(answer && answer->status == 200);
    auto page = kube::read_page(answer->body);
    EXPECT_TRUE(page);
    return page ? std::move(page->items) : std::vector<kube::PageItem>{};
  }
  Result<kube::WriteOutcome> try_write(const kube::Write& write) { return kube::write_carefully(client_, write); }
  void write(const kube::Write& write) {
    const auto outcome = kube::write_carefully(client_, write);
    EXPECT_TRUE(outcome || is_tolerant) << outcome.error().message;
  }

  /// What the scheduler does next: reserves the claims of pods without gates, and binds.
  void schedule() {
    std::map<std::string, kube::Claim> claims;
    for (const kube::PageItem& item : list(kube::kResourceClaims))
      claims.emplace(item.identity.name.name, kube::read_claim(item.object).value());
    for (const kube::PageItem& item : list(kube::kPods)) {
      const kube::PodFacts pod = kube::read_pod(item.object).value();
      if (!pod.gates.empty() || !pod.node.empty() || pod.claims.empty()) continue;
      const auto claim = claims.find(pod.claims.front().claim.value_or(""));
      if (claim == claims.end() || !claim->second.is_allocated) continue;
      if (!reserve(claim->second, pod)) continue;
      bind(pod, claim->second.allocated.front().device.pool.pool);
    }
  }
  bool reserve(const kube::Claim& claim, const kube::PodFacts& pod) {
    kube::Write status{.kind = kube::WriteKind::kPatch,
                       .resource = kube::kResourceClaims,
                       .name = claim.identity.name,
                       .subresource = "status",
                       .version = claim.identity.version,
                       .body = kube::map_node()};
    yaml::Node consumer = kube::map_node();
    kube::put(consumer, "name", kube::text_node(pod.identity.name.name));
    kube::put(kube::put(status.body, "status", kube::map_node()), "reservedFor", {{}, yaml::List{std::move(consumer)}});
    const auto outcome = try_write(status);
    EXPECT_TRUE(outcome || is_tolerant);
    return outcome && outcome->fate == kube::WriteFate::kDone;
  }
  void bind(const kube::PodFacts& pod, const std::string& node) {
    kube::Write binding{.kind = kube::WriteKind::kPatch,
                        .resource = kube::kPods,
                        .name = pod.identity.name,
                        .version = pod.identity.version,
                        .body = kube::map_node()};
    kube::put(kube::put(binding.body, "spec", kube::map_node()), "nodeName", kube::text_node(node));
    write(binding);
  }
  /// What the claim controller and the garbage collector do: claims whose pods are gone lose reservation and
  /// allocation, then their finalizer, and go.
  void collect() {
    std::set<std::string> pods;
    for (const kube::PageItem& item : list(kube::kPods)) pods.insert(item.identity.name.name);
    for (const kube::PageItem& item : list(kube::kResourceClaims)) {
      if (pods.contains(item.identity.name.name)) continue;
      kube::Write write{.kind = kube::WriteKind::kPatch,
                        .resource = kube::kResourceClaims,
                        .name = item.identity.name,
                        .version = item.identity.version,
                        .body = kube::map_node()};
      const kube::Claim claim = kube::read_claim(item.object).value();
      if (claim.is_reserved || claim.is_allocated) {
        write.subresource = "status";
        yaml::Node& status = kube::put(write.body, "status", kube::map_node());
        kube::put(status, "reservedFor", kube::null_node());
        kube::put(status, "allocation", kube::null_node());
      } else if (!claim.is_being_deleted) {
        write.kind = kube::WriteKind::kDelete;
        write.uid = item.identity.uid;
      } else {
        kube::put(kube::put(write.body, "metadata", kube::map_node()), "finalizers", {{}, yaml::List{}});
      }
      this->write(write);
    }
  }
  void remove(const kube::Resource& resource, const std::string& name) {
    for (const kube::PageItem& item : list(resource)) {
      if (item.identity.name.name != name) continue;
      write({.kind = kube::WriteKind::kDelete,
             .resource = resource,
             .name = item.identity.name,
             .uid = item.identity.uid});
    }
  }

  /// "POD=NODE ..." of bound pods.
  std::string bound() {
    std::string text;
    for (const kube::PageItem& item : list(kube::kPods)) {
      const std::string_view node = json::text_at(item.object, {"spec", "nodeName"});
      if (!node.empty()) text += (text.empty() ? "" : " ") + item.identity.name.name + "=" + std::string(node);
    }
    return text;
  }
  /// "CLAIM=DEVICE ..." of allocated claims.
  std::string allocated() {
    std::string text;
    for (const kube::PageItem& item : list(kube::kResourceClaims)) {
      const kube::Claim claim = kube::read_claim(item.object).value();
      for (const auto& each : claim.allocated) {
        text += (text.empty() ? "" : " ") + item.identity.name.name + "=" +
                each.device.device.substr(std::string("gpu-0-mig-").size());
      }
    }
    return text;
  }

  edges::testing::FakeApiServer server;
  bool is_tolerant = false;  ///< writes of the stand-ins may fail: they are tried again

 private:
  edges::DiskFiles files_;
  edges::KubeClient client_;
};

}  // namespace berth::apps
