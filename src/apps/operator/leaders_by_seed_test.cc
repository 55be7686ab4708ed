// Several operators with short leases under random troubles, drawn from a seed: they are killed, or stopped between the
// look at their Lease and a write, answers are lost and objects are deleted. No two allocations ever overlap, none
// changes while it is reserved, and at the end nothing is left over.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/operator/leadership.h"
#include "apps/operator/owned_rules.h"
#include "apps/operator/test_cluster.h"
#include "base/core/rng.h"
#include "base/core/test_cases.h"

namespace berth::apps {
namespace {

using edges::testing::TroubleKind;
using std::chrono::milliseconds;

constexpr int kTroubleSteps = 30;
constexpr std::size_t kSeedsInCi = 10;
constexpr std::chrono::seconds kLeadersSettled(60);
const std::vector<kube::OwnedPools> kSwarmOwn = {{kube::testing::kToyDriver, std::nullopt}};

/// Where threads of a process that is stopped wait.
class StopGate {
 public:
  void set(bool is_closed) {
    const std::lock_guard held(lock_);
    is_closed_ = is_closed;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock held(lock_);
    changed_.wait(held, [this] { return !is_closed_; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_closed_ = false;
};

/// An operator in a thread of its own, which can be stopped and killed like a process.
class Process {
 public:
  Process(TestCluster& cluster, const std::string& name, std::uint64_t seed)
      : client_(cluster.identity(), std::make_shared<edges::SharedPace>(10'000, 10'000),
                {.patience = Micros::seconds(2), .may_write = [this] { return may_write(); }}),
        keeper_(cluster.identity(),
                {.identity = name,
                 .duration = Micros::seconds(1),
                 .renew_deadline = Micros(600'000),
                 .retry = Micros(100'000)},
                [this] { gate_.pass(); }),
        loop_(cluster.identity(), {.placing = {.own = kSwarmOwn, .instance = name},
                                   .reflector = {.page_size = 3 + static_cast<int>(seed % 5),
                                                 .back_off = kube::BackOff(Micros(10'000), Micros(100'000))},
                                   .requests_per_second = 10'000,
                                   .writer_count = 3,
                                   .moment = milliseconds(10),
                                   .is_standby = true,
                                   .may_write = [this] { return may_write(); },
                                   .log = [this](const std::string& line) { note(line); }}),
        leadership_(keeper_, {.write_rules = [this] { return write_owned_rules(client_, {.own = kSwarmOwn}); },
                              .rule_grace = Micros(0),
                              .log = [this](const std::string& line) { note(line); }}),
        thread_([this] { run(); }) {}
  ~Process() { kill(); }

  void stop() { gate_.set(true); }
  void resume() { gate_.set(false); }
  /// What it has begun to send may still arrive; it begins nothing more.
  void kill() {
    is_dead_ = true;
    gate_.set(false);
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] bool leads() const { return !is_dead_ && keeper_.may_write(); }
  std::vector<std::string> lines() {
    const std::lock_guard held(lock_);
    return lines_;
  }

 private:
  /// Stops, if it is to be stopped, after the look and before the write.
  bool may_write() {
    const bool is_leader = keeper_.may_write();
    gate_.pass();
    return is_leader && !is_dead_;
  }
  void run() {
    while (!is_dead_) {
      gate_.pass();
      const auto followed = leadership_.step(loop_);
      if (!followed) note("failed: " + followed.error().message);
      loop_.step();
    }
  }
  void note(const std::string& line) {
    const std::lock_guard held(lock_);
    lines_.push_back(line);
  }

  std::mutex lock_;
  std::vector<std::string> lines_;
  std::atomic<bool> is_dead_ = false;
  StopGate gate_;
  edges::KubeClient client_;
  edges::LeaseKeeper keeper_;
  OperatorLoop loop_;
  Leadership leadership_;
  std::thread thread_;
};

/// Sees each claim that is written, in order: what is held at any time must not overlap.
class ClaimWatcher {
 public:
  void take(std::string_view type, const yaml::Node& object) {
    const auto claim = kube::read_claim(object);
    if (!claim || json::find_at(object, {"spec", "devices"}) == nullptr) return;
    const std::lock_guard held(lock_);
    const kube::ObjectName& name = claim->identity.name;
    const Seen before = std::exchange(seen_[name], Seen{});
    if (type == "DELETED") return;
    Seen& now = seen_[name];
    now.is_reserved = claim->is_reserved;
    for (const kube::AllocatedDevice& each : claim->allocated) add_units(each.device, now.units);
    if (before.is_reserved && now.is_reserved && before.units != now.units)
      faults_.push_back(name.text() + ": its allocation changed while it was reserved");
    for (const auto& [other, facts] : seen_) {
      for (const std::string& unit : facts.units) {
        if (other != name && now.units.contains(unit))
          faults_.push_back(fmt::format("{} and {} both have {}", name.text(), other.text(), unit));
      }
    }
  }
  std::vector<std::string> faults() {
    const std::lock_guard held(lock_);
    return faults_;
  }

 private:
  struct Seen {
    std::set<std::string> units;
    bool is_reserved = false;
  };
  /// Its memory slices: "a4".
  static void add_units(const kube::DeviceName& device, std::set<std::string>& units) {
    const std::string text = device.device.substr(std::string("gpu-0-mig-").size());  // "3g-4"
    const int size = text[0] == '3' ? 4 : text[0] - '0';
    for (int i = 0; i < size; ++i) units.insert(fmt::format("{}{}", device.pool.pool, text[3] - '0' + i));
  }

  std::mutex lock_;
  std::map<kube::ObjectName, Seen> seen_;
  std::vector<std::string> faults_;
};

/// One run, drawn from a seed; what went wrong is in `faults`.
class LeaderSwarm {
 public:
  explicit LeaderSwarm(std::uint64_t seed) : seed_(seed), rng_(seed) {
    cluster_.is_tolerant = true;
    cluster_.server.observe([this](std::string_view type, const yaml::Node& object) { watcher_.take(type, object); });
    for (const char* node : {"a", "b"}) cluster_.add_node(node);
    for (const char* name : {"x", "y"}) begin(name);
  }
  LeaderSwarm(const LeaderSwarm&) = delete;
  LeaderSwarm& operator=(const LeaderSwarm&) = delete;
  ~LeaderSwarm() {
    processes_.clear();
    cluster_.server.observe(nullptr);
  }

  void run() {
    for (int i = 0; i < kTroubleSteps && watcher_.faults().empty(); ++i) {
      step();
      // Sometimes for longer than a Lease: another one takes over from a process that is stopped.
      live_for(milliseconds(rng_.below(6) == 0 ? 1'300 : 30));
    }
    for (const auto& process : processes_) process->resume();
    cluster_.server.clear_troubles();
    while (!pods_.empty()) remove_pod();
    EXPECT_TRUE(settles([&] { return cluster_.list(kube::kResourceClaims).empty(); })) << story();
    // All the room is there again.
    for (int i = 0; i < 4; ++i) cluster_.add_pod(fmt::format("full{}", i), "3g");
    EXPECT_TRUE(settles([&] {
      const std::string bound = cluster_.bound();
      return bound.find("full0=") != std::string::npos && bound.find("full1=") != std::string::npos &&
             bound.find("full2=") != std::string::npos && bound.find("full3=") != std::string::npos;
    })) << story();
    for (const std::string& fault : watcher_.faults()) ADD_FAILURE() << fault << "\n" << story();
  }
  /// Leaders so far.
  std::int64_t leader_count() {
    const auto leases = cluster_.list(kube::kLeases);
    return leases.empty() ? 0 : kube::read_lease(leases.front().object).transitions;
  }

 private:
  void begin(const std::string& name) {
    processes_.push_back(std::make_unique<Process>(cluster_, fmt::format("{}{}", name, ++process_count_), seed_));
  }
  std::size_t any_process() { return rng_.below(processes_.size()); }
  void kill_one() {
    const std::size_t index = any_process();
    for (std::string& line : processes_[index]->lines()) lines_.push_back(std::move(line));
    processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
    begin("z");
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
    constexpr std::array<TroubleKind, 3> kKinds = {TroubleKind::kStatus, TroubleKind::kLostAfterWrite,
                                                   TroubleKind::kLostBefore};
    constexpr std::array<int, 4> kStatuses = {409, 429, 500, 503};
    cluster_.server.add({.kind = kKinds[rng_.below(kKinds.size())],
                         .method = "PATCH",
                         .target_part = rng_.below(3) == 0 ? "leases" : "resourceclaims",
                         .count = 1 + static_cast<int>(rng_.below(3)),
                         .status = kStatuses[rng_.below(kStatuses.size())]});
  }
  void step() {
    switch (rng_.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return add_pod();
      case 4:
        return remove_pod();
      case 5:
        return rng_.below(2) == 0 ? cluster_.server.compact() : cluster_.server.break_watches();
      case 6:
        return make_trouble();
      case 7:
        return kill_one();
      case 8:
        return processes_[any_process()]->stop();
      default:
        for (const auto& process : processes_) process->resume();
    }
  }
  /// The scheduler and the controllers work, for as long as the operators may need to notice.
  void live_for(milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    do {
      cluster_.schedule();
      cluster_.collect();
    } while (std::chrono::steady_clock::now() < end);
  }
  bool settles(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + kLeadersSettled;
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      live_for(milliseconds(20));
    }
    return true;
  }
  std::string story() {
    std::string text = fmt::format("seed {}: {} | {}", seed_, cluster_.bound(), cluster_.allocated());
    for (const std::string& line : lines_) text += "\n  " + line;
    for (const auto& process : processes_) {
      text += "\n  -- of one that lives:";
      for (const std::string& line : process->lines()) text += "\n  " + line;
    }
    return text;
  }

  std::uint64_t seed_;
  Rng rng_;
  ClaimWatcher watcher_;
  TestCluster cluster_;
  std::vector<std::string> pods_;
  std::vector<std::string> lines_;
  int pod_count_ = 0;
  int process_count_ = 0;
  std::vector<std::unique_ptr<Process>> processes_;
};

TEST(LeaderSwarms, NothingOverlapsAndNothingIsLeftOver) {
  std::atomic<std::int64_t> leader_count = 0;
  std::int64_t seed_count = 0;
  std::vector<std::thread> runs;
  // Side by side: most of a run is waiting for Leases to expire.
  for (const std::uint64_t seed : berth::testing::case_seeds(kSeedsInCi)) {
    ++seed_count;
    runs.emplace_back([seed, &leader_count] {
      LeaderSwarm swarm(seed);
      swarm.run();
      leader_count += swarm.leader_count();
    });
    if (runs.size() < kSeedsInCi) continue;
    for (std::thread& run : runs) run.join();
    runs.clear();
  }
  for (std::thread& run : runs) run.join();
  EXPECT_GT(leader_count, seed_count) << "leaders of all seeds together";
}

}  // namespace
}  // namespace berth::apps
