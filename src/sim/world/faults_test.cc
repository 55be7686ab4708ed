#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/geometry.h"
#include "sim/world/loop.h"
#include "sim/world/testing/engine_renewal.h"
#include "sim/world/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::assign;
using testing::create;
using testing::destroy;
using testing::holding_of;

constexpr std::uint32_t kGpus = 6;
constexpr std::uint32_t kFaultServices = 3;
constexpr std::int64_t kFaultSeconds = 600;
constexpr std::int64_t kStuckSeconds = 60 + 5 + 1;  ///< the time-out, and the start of a service after it

Scenario six_gpus() {
  std::vector<ServiceSpec> services;
  for (std::uint32_t index = 0; index < kFaultServices; ++index) {
    services.push_back(testing::service_of("s" + std::to_string(index), {{.profile = "1g.10gb"}},
                                           testing::generated(Generator::Kind::kPoisson, Decimal(5), kFaultSeconds)));
  }
  const Holding first = holding_of(testing::slice_at(0, "1g.10gb", 0), {0});
  return testing::scenario_of(std::move(services), {first}, kGpus);
}

/// Draws one change of one GPU after another, each of which can begin at once.
class RandomChanges {
 public:
  explicit RandomChanges(std::uint64_t seed) : rng_(seed) {}

  void decide(const Snapshot& snapshot, Plan& plan) {
    const GpuId gpu{static_cast<std::uint32_t>(rng_.below(kGpus))};
    if (!snapshot.is_open(gpu)) return;
    mig::State state;
    std::vector<StandingSlice> own;
    for (const StandingSlice& standing : snapshot.slices) {
      const Slice& slice = standing.holding.slice;
      if (slice.gpu != gpu) continue;
      state.push_back({.start = slice.start, .profile = slice.profile});
      if (!standing.is_leaving && !standing.is_foreign) own.push_back(standing);
    }
    const std::uint32_t service = static_cast<std::uint32_t>(rng_.below(kFaultServices));
    if (!own.empty() && rng_.below(2) == 0) {
      const StandingSlice& chosen = own[rng_.below(own.size())];
      const Slice& slice = chosen.holding.slice;
      if (!chosen.is_ready || rng_.below(2) == 0) {
        plan.actions.push_back(assign(holding_of(slice, {service})));
      } else {
        plan.actions.push_back(destroy(slice));
      }
      return;
    }
    std::sort(state.begin(), state.end());
    const auto places = mig::placements_that_fit(testing::a100(), state, mig::plain_rules(testing::a100()));
    if (places.empty()) return;
    const auto& place = places[rng_.below(places.size())];
    const Slice slice{.gpu = gpu, .start = place.start, .profile = place.profile};
    plan.actions.push_back(create(slice));
    if (rng_.below(3) > 0) plan.actions.push_back(assign(holding_of(slice, {service})));
  }

 private:
  Rng rng_;
};

constexpr std::array kKindsOfGpus = {FaultKind::kLose,         FaultKind::kReturn, FaultKind::kFailCreate,
                                     FaultKind::kFailDestroy,  FaultKind::kSlow,   FaultKind::kReportsFailure,
                                     FaultKind::kForeignSlice, FaultKind::kClear};

FaultOrder random_fault(Rng& rng) {
  FaultOrder order;
  order.kind = kKindsOfGpus.at(rng.below(kKindsOfGpus.size()));
  const std::uint32_t first = static_cast<std::uint32_t>(rng.below(kGpus));
  const std::uint32_t count = 1 + static_cast<std::uint32_t>(rng.below(2));
  for (std::uint32_t gpu = first; gpu < std::min(kGpus, first + count); ++gpu) order.gpus.push_back({gpu});
  order.times = 1 + static_cast<std::int64_t>(rng.below(3));
  if (order.kind == FaultKind::kSlow) {
    if (rng.below(3) == 0) order.times.reset();
    order.duration = Micros::seconds(1 + static_cast<std::int64_t>(rng.below(120)));
  }
  const Slice foreign = testing::slice_at(0, "1g.10gb", static_cast<int>(rng.below(7)));
  order.profile = foreign.profile;
  order.start = foreign.start;
  return order;
}

/// Knows what happened from events alone: the records of slices, and the observations of foreign ones.
class Auditor {
 public:
  void take(const JournalRecord& record) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    if (slice == nullptr) return;
    EXPECT_LE(slice->services.size(), 1U);
    if (slice->event == world::SliceEvent::kCreated) {
      EXPECT_TRUE(own_.insert(slice->slice).second);
      expect_legal(slice->slice.gpu);
    }
    if (slice->event == world::SliceEvent::kDestroyed || slice->event == world::SliceEvent::kLost) {
      EXPECT_EQ(own_.erase(slice->slice), 1U);
    }
    EXPECT_TRUE(slice->event != world::SliceEvent::kServing || own_.contains(slice->slice));
  }

  void take(const Event& event) {
    if (const auto* lost = std::get_if<GpuLost>(&event.what)) {
      std::erase_if(foreign_, [&](const Slice& slice) { return slice.gpu == lost->gpu; });
    }
    if (const auto* observed = std::get_if<GpuObserved>(&event.what)) {
      std::erase_if(foreign_, [&](const Slice& slice) { return slice.gpu == observed->gpu; });
      for (const SeenSlice& seen : observed->slices) {
        if (seen.is_foreign) foreign_.insert(seen.slice);
      }
      expect_legal(observed->gpu);
    }
    if (const auto* failed = std::get_if<ActionFailed>(&event.what)) {
      ++failures_;
      // What begins again at the same instant is another action.
      std::erase_if(moving_, [&](const auto& moving) { return moving.first.first == failed->slice; });
    }
  }

  /// The engine's slices are those that exist, and nothing has been under way for too long.
  void check(const Snapshot& snapshot) {
    std::set<Slice> believed;
    std::map<std::pair<Slice, std::uint64_t>, Instant> moving;
    for (const StandingSlice& standing : snapshot.slices) {
      const Slice& slice = standing.holding.slice;
      EXPECT_EQ(standing.is_foreign, foreign_.contains(slice));
      if (standing.is_foreign) continue;
      EXPECT_TRUE(!standing.is_ready || own_.contains(slice)) << "GPU " << slice.gpu.index << " @" << slice.start;
      believed.insert(slice);
      if (standing.is_ready) continue;
      const std::pair key(slice, standing.is_leaving ? UINT64_MAX : standing.assignment);
      const auto known = moving_.find(key);
      moving[key] = known == moving_.end() ? snapshot.now : known->second;
      EXPECT_LE((snapshot.now - moving[key]).to_seconds(), kStuckSeconds)
          << "GPU " << slice.gpu.index << " @" << slice.start << (standing.is_leaving ? " leaves" : " comes") << " #"
          << standing.generation << " at second " << snapshot.now.second();
    }
    moving_ = std::move(moving);
    for (const Slice& slice : own_) EXPECT_TRUE(believed.contains(slice)) << "GPU " << slice.gpu.index;
  }

  [[nodiscard]] int failures() const { return failures_; }

 private:
  void expect_legal(GpuId gpu) const {
    mig::State state;
    for (const auto* slices : {&own_, &foreign_}) {
      for (const Slice& slice : *slices) {
        if (slice.gpu == gpu) state.push_back({.start = slice.start, .profile = slice.profile});
      }
    }
    std::sort(state.begin(), state.end());
    EXPECT_EQ(mig::find_clash(testing::a100(), state), std::nullopt);
  }

  std::set<Slice> own_;
  std::set<Slice> foreign_;
  std::map<std::pair<Slice, std::uint64_t>, Instant> moving_;  ///< since when
  int failures_ = 0;
};

class RandomFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFaults, NoSliceIsLostOrInventedAndNoGpuIsStuck) {
  const Scenario scenario = six_gpus();
  Auditor auditor;
  Rng rng(GetParam());
  const auto stages = [&](const Scenario&) {
    std::vector<Stage> made = testing::fixed_stages(scenario);
    const auto changes = std::make_shared<RandomChanges>(GetParam());
    made.push_back(deciding_stage("random", [changes](const Snapshot& snapshot, Plan& plan) {
      if (snapshot.now > Instant()) changes->decide(snapshot, plan);
      return std::optional<std::string>();
    }));
    return made;
  };
  LoopOptions options;
  options.listener.journal = [&](const JournalRecord& record) { auditor.take(record); };
  options.listener.event = [&](const Event& event) { auditor.take(event); };
  testing::EngineRebuild engine;
  engine.listen(options.listener);
  Loop loop(scenario, stages, options);
  engine.attach(loop, scenario);
  loop.begin();
  int injected = 0;
  while (!loop.is_over()) {
    if (rng.below(8) == 0) {
      const FaultOrder order = random_fault(rng);
      if (const auto id = loop.admit(order)) {
        loop.inject(*id, order);
        ++injected;
      }
    }
    loop.advance();
    // Now and then the engine is rebuilt from the events: it must reach the same state.
    const Instant at = loop.now();
    if (at.second() % 200 == 0 && at == Instant::at_second(at.second())) engine.rebuild();
    auditor.check(loop.engine().snapshot());
  }
  EXPECT_GT(injected, 30);
  EXPECT_GT(auditor.failures(), 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFaults, ::testing::Range<std::uint64_t>(1, 21));

}  // namespace
}  // namespace berth::sim
