// Pods in turn on a small cluster, by seed: the units that Berth's choices bind, and those of a scheduler that takes
// the first device that fits on the node with the fewest pods, as that of Kubernetes does, which does not know GPUs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/json/document.h"
#include "kube/devices/testing/nvidia_node.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/placing/placing.h"

namespace berth::kube {
namespace {

constexpr int kTurnNodes = 10;
constexpr int kTurnPods = 200;
constexpr int kTurnLife = 70;
constexpr const char* kTurnWall = "2026-01-01T00:00:00.000000Z";

yaml::Node turn_object(const std::string& text) { return json::parse_document(text, "test").value(); }

/// Chooses for one pod after the other; nothing: it does not fit.
class PodsInTurn {
 public:
  PodsInTurn() {
    for (int i = 0; i < kTurnNodes; ++i) {
      const std::string name = fmt::format("n{}", i);
      take(kNodes, testing::ready_node(name));
      take(kResourceSlices, testing::nvidia_counters_slice(name, 2));
      take(kResourceSlices, testing::nvidia_devices_slice(name, 2));
    }
    take(kDeviceClasses, testing::nvidia_class("1g", "1g.10gb"));
    take(kDeviceClasses, testing::nvidia_class("2g", "2g.20gb"));
    take(kDeviceClasses, testing::nvidia_class("3g", "3g.40gb"));
    for (const Resource& resource : followed_resources()) placing_.note_listed(resource.plural);
  }

  bool add(const std::string& name, const std::string& profile) {
    claims_[name] = profile;
    take(kResourceClaims, testing::claim_on(name, profile, ++version_));
    take(kPods, testing::gated_pod(name, name, ++version_));
    now_ = now_ + Micros::seconds(1);
    for (const Action& action : placing_.decide(now_, kTurnWall)) {
      if (action.kind == ActionKind::kIntent) return true;
    }
    remove(name);
    return false;
  }
  void remove(const std::string& name) {
    take(kPods, testing::gated_pod(name, name, ++version_), ChangeKind::kDeleted);
    take(kResourceClaims, testing::claim_on(name, claims_.at(name), ++version_), ChangeKind::kDeleted);
  }

 private:
  void take(const Resource& resource, const std::string& text, ChangeKind kind = ChangeKind::kAdded) {
    const yaml::Node object = turn_object(text);
    placing_.take(resource.plural, {kind, identity_of(object).value(), object});
  }

  Placing placing_ = Placing({.own = {{testing::kToyDriver, std::nullopt}}});
  std::map<std::string, std::string> claims_;
  Instant now_ = Instant::at_second(1);
  int version_ = 10;
};

class FirstFit {
 public:
  FirstFit() {
    for (int i = 0; i < kTurnNodes; ++i) {
      const std::string name = fmt::format("n{}", i);
      for (const std::string& text :
           {testing::nvidia_counters_slice(name, 2), testing::nvidia_devices_slice(name, 2)}) {
        const yaml::Node slice = turn_object(text);
        EXPECT_TRUE(inventory_.put_slice(fmt::format("s{}", ++slices_), &slice));
      }
    }
  }
  bool add(const std::string& name, const std::string& profile) {
    const std::map<std::string, std::string> words = {{"1g", "-1g10gb-"}, {"2g", "-2g20gb-"}, {"3g", "-3g40gb-"}};
    std::optional<DeviceName> best;
    for (const auto& [pool_name, pool] : inventory_.pools()) {
      if (best && pods_on_[pool_name.pool] >= pods_on_[best->pool.pool]) continue;
      for (std::size_t i = 0; i < pool.pool.devices.size(); ++i) {
        const std::string& device = pool.pool.devices[i].name;
        if (device.find(words.at(profile)) == std::string::npos || !pool.is_free(i)) continue;
        best = DeviceName{pool_name, device};
        break;
      }
    }
    if (!best) return false;
    inventory_.hold(*best);
    ++pods_on_[best->pool.pool];
    held_[name] = *best;
    return true;
  }
  void remove(const std::string& name) {
    inventory_.free(held_.at(name));
    --pods_on_[held_.at(name).pool.pool];
  }

 private:
  Inventory inventory_;
  int slices_ = 0;
  std::map<std::string, int> pods_on_;
  std::map<std::string, DeviceName> held_;
};

template <class Scheduler>
int bound_units(Scheduler scheduler, int seed) {
  Rng rng(static_cast<std::uint64_t>(seed));
  std::vector<std::string> pods;
  std::set<std::string> bound;
  int units = 0;
  for (int i = 0; i < kTurnPods; ++i) {
    if (i >= kTurnLife && bound.contains(pods[static_cast<std::size_t>(i - kTurnLife)]))
      scheduler.remove(pods[static_cast<std::size_t>(i - kTurnLife)]);
    const int size = 1 + static_cast<int>(rng.below(3));
    pods.push_back(fmt::format("p{:03}", i));
    if (!scheduler.add(pods.back(), fmt::format("{}g", size))) continue;
    bound.insert(pods.back());
    units += size;
  }
  return units;
}

TEST(UnitsBySeed, NeverFewerThanFirstFitAndMoreInSum) {
  int sum = 0;
  int sum_first = 0;
  for (int seed = 1; seed <= 5; ++seed) {
    const int ours = bound_units(PodsInTurn(), seed);
    const int first = bound_units(FirstFit(), seed);
    EXPECT_GE(ours, first) << seed;
    RecordProperty(fmt::format("seed_{}", seed), fmt::format("{} {}", ours, first));
    sum += ours;
    sum_first += first;
  }
  EXPECT_GT(sum, sum_first);
}

}  // namespace
}  // namespace berth::kube
