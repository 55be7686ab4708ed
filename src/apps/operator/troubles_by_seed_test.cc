// The operator under random troubles, drawn from a seed: what its claims hold never overlaps, and nothing is left over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/operator/test_cluster.h"
#include "base/core/rng.h"

namespace berth::apps {
namespace {

using edges::testing::TroubleKind;

constexpr int kSteps = 40;
constexpr std::chrono::seconds kSettled(40);
const std::vector<std::string> kSwarmNodes = {"a", "b"};

class OperatorSwarm : public ::testing::TestWithParam<int> {
 protected:
  OperatorSwarm() {
    for (const std::string& node : kSwarmNodes) cluster_.add_node(node);
    restart();
  }

  void restart() {
    loop_ = nullptr;
    loop_ = std::make_unique<OperatorLoop>(
        cluster_.identity(),
        OperatorLoopOptions{.placing = {.own = {{kube::testing::kToyDriver, std::nullopt}}},
                            .reflector = {.page_size = 3, .back_off = kube::BackOff(Micros(10'000), Micros(100'000))},
                            .requests_per_second = 10'000,
                            .moment = std::chrono::milliseconds(10),
                            .log = [this](const std::string& line) { lines_.push_back(line); }});
  }

  /// The memory slices that allocated claims take, each once: "a4".
  void check_overlaps() {
    std::set<std::string> taken;
    for (const kube::PageItem& item : cluster_.list(kube::kResourceClaims)) {
      const kube::Claim claim = kube::read_claim(item.object).value();
      for (const kube::AllocatedDevice& each : claim.allocated) {
        const std::string device = each.device.device.substr(std::string("gpu-0-mig-").size());  // "3g-4"
        const int size = device[0] == '3' ? 4 : device[0] - '0';
        const int start = device[3] - '0';
        for (int i = start; i < start + size; ++i) {
          EXPECT_TRUE(taken.insert(fmt::format("{}{}", each.device.pool.pool, i)).second) << cluster_.allocated();
        }
      }
    }
  }

  void add_pod() {
    const std::string name = fmt::format("p{:03}", ++pod_count_);
    cluster_.add_pod(name, fmt::format("{}g", 1 + rng_.below(3)));
    pods_.push_back(name);
  }
  void remove_pod() {
    if (pods_.empty()) return;
    const std::size_t index = rng_.below(pods_.size());
    cluster_.remove(kube::kPods, pods_[index]);
    pods_.erase(pods_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void make_trouble() {
    constexpr std::array<TroubleKind, 4> kKinds = {TroubleKind::kStatus, TroubleKind::kStatus,
                                                   TroubleKind::kLostAfterWrite, TroubleKind::kLostBefore};
    constexpr std::array<int, 4> kStatuses = {409, 429, 500, 503};
    const std::size_t kind = rng_.below(kKinds.size());
    cluster_.server.add({.kind = kKinds[kind],
                         .method = "PATCH",
                         .target_part = rng_.below(2) == 0 ? "resourceclaims" : "fieldManager=berth",
                         .count = 1,
                         .status = kStatuses[rng_.below(kStatuses.size())]});
  }
  void step() {
    switch (rng_.below(8)) {
      case 0:
      case 1:
      case 2:
        return add_pod();
      case 3:
        return remove_pod();
      case 4:
        return cluster_.server.compact();
      case 5:
        return cluster_.server.break_watches();
      case 6:
        return make_trouble();
      default:
        return restart();
    }
  }
  bool settles(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kSettled;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      loop_->step();
      cluster_.schedule();
      cluster_.collect();
      check_overlaps();
    }
    return true;
  }

  Rng rng_ = Rng(static_cast<std::uint64_t>(GetParam()));
  TestCluster cluster_;
  std::vector<std::string> pods_;
  std::vector<std::string> lines_;
  int pod_count_ = 0;
  std::unique_ptr<OperatorLoop> loop_;
};

TEST_P(OperatorSwarm, NothingOverlapsAndNothingIsLeftOver) {
  for (int i = 0; i < kSteps && !HasFailure(); ++i) {
    step();
    loop_->step();
    if (rng_.below(2) == 0) cluster_.schedule();
    cluster_.collect();
    check_overlaps();
  }
  const auto report = [&] {
    std::string text = cluster_.bound() + " | " + cluster_.allocated();
    for (const std::string& line : lines_) text += "\n  " + line;
    return text;
  };
  while (!pods_.empty()) remove_pod();
  ASSERT_TRUE(settles([&] { return cluster_.list(kube::kResourceClaims).empty(); })) << report();
  // All the room is there again.
  for (int i = 0; i < 4; ++i) cluster_.add_pod(fmt::format("full{}", i), "3g");
  const auto is_full = [&] {
    const std::string bound = cluster_.bound();
    return bound.find("full0=") != std::string::npos && bound.find("full1=") != std::string::npos &&
           bound.find("full2=") != std::string::npos && bound.find("full3=") != std::string::npos;
  };
  EXPECT_TRUE(settles(is_full)) << report();
}

INSTANTIATE_TEST_SUITE_P(Seeds, OperatorSwarm, ::testing::Range(1, 11));

}  // namespace
}  // namespace berth::apps
