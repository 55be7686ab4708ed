/// Random histories of a live session: services come, change and go, GPUs are lost, drained and return. An auditor that
/// reads the world's journal and the engine's answers finds nothing that must not be.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "live/session.h"
#include "mig/geometry.h"
#include "sim/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::generated;
using sim::testing::holding_of;
using sim::testing::service_of;
using sim::testing::slice_at;

constexpr int kHistories = sim::testing::kIsSlowBuild ? 10 : 100;
constexpr std::int64_t kEventfulSeconds = 120;
constexpr std::int64_t kQuietSeconds = 150;  ///< until everything that was begun must be over
constexpr std::uint32_t kGpus = 3;

/// Follows the journal: what stands where.
class Auditor {
 public:
  explicit Auditor(const Scenario& scenario) : scenario_(scenario) {}

  void read(const sim::JournalRecord& record) {
    const auto* slice = std::get_if<sim::SliceRecord>(&record);
    if (slice == nullptr) return;
    switch (slice->event) {
      case sim::SliceEvent::kCreated:
        EXPECT_TRUE(standing_.insert(slice->slice).second) << "two slices at one place";
        check_layout(slice->slice.gpu);
        break;
      case sim::SliceEvent::kDestroyed:
      case sim::SliceEvent::kLost:
        EXPECT_EQ(standing_.erase(slice->slice), 1U) << "a slice is gone that did not stand";
        break;
      case sim::SliceEvent::kServing:
        EXPECT_TRUE(standing_.contains(slice->slice));
        EXPECT_LE(slice->services.size(), 1U) << "a slice with two owners";
        break;
      case sim::SliceEvent::kDraining:
      case sim::SliceEvent::kRetrainingStarted:
      case sim::SliceEvent::kRetrainingDone:
        break;
    }
  }

  [[nodiscard]] const std::set<Slice>& standing() const { return standing_; }

 private:
  void check_layout(GpuId gpu) const {
    mig::State state;
    for (const Slice& slice : standing_) {
      if (slice.gpu != gpu) continue;
      if (slice.profile.is_full()) {
        EXPECT_EQ(count_on(gpu), 1) << "a whole GPU beside other slices";
      } else {
        state.push_back({.start = slice.start, .profile = slice.profile});
      }
    }
    const auto clash = mig::find_clash(scenario_.model_of(gpu), state);
    EXPECT_FALSE(clash.has_value()) << clash.value_or("");
  }
  [[nodiscard]] std::ptrdiff_t count_on(GpuId gpu) const { return std::ranges::count(standing_, gpu, &Slice::gpu); }

  const Scenario& scenario_;
  std::set<Slice> standing_;
};

ServiceSpec random_service(Rng& rng) {
  const auto latency_ms = static_cast<std::int64_t>(5 + rng.below(40));
  ServiceSpec spec = service_of("", {{.batch = 1, .processes = 1, .latency_ms = latency_ms}},
                                generated(Generator::Kind::kPoisson, Decimal(std::int64_t(rng.below(120))), 60));
  spec.arrivals.repeat = true;
  spec.start = Micros::seconds(static_cast<std::int64_t>(rng.below(8)));
  if (rng.below(4) == 0) spec.expects = Decimal(std::int64_t(1 + rng.below(300)));
  if (rng.below(5) == 0) spec.isolation = Isolation::kGpu;
  if (rng.below(4) == 0) {
    Retraining retraining;
    retraining.every = Micros::seconds(40);
    retraining.offset = Micros::seconds(static_cast<std::int64_t>(rng.below(30)));
    retraining.time_on = {{1, Micros::seconds(12)}, {2, Micros::seconds(8)}, {3, Micros::seconds(5)}};
    spec.retraining = retraining;
    spec.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
  }
  return spec;
}

class History {
 public:
  History(std::uint64_t seed, const std::string& policy) : rng_(Rng(seed).split("history")) {
    Scenario scenario = sim::testing::scenario_of({random_service(rng_)}, {}, kGpus);
    scenario.services.front().name = "first";
    scenario.services.front().tenant = "t";
    scenario.window_seconds = 30;
    if (policy == "fixed") scenario.layout = {holding_of(slice_at(0, "1g.10gb", 0), {0})};
    if (policy != "fixed") scenario.layout.reset();
    scenario.frozen = {{.from = Instant::at_second(60), .until = Instant::at_second(75)}};
    SessionOptions options;
    options.seed = seed;
    options.policy = policy;
    options.journal = [this](const sim::JournalRecord& record) { auditor_->read(record); };
    auto session = Session::make(std::move(scenario), std::move(options));
    EXPECT_TRUE(session.has_value());
    session_ = std::move(*session);
    auditor_.emplace(session_->scenario());
    session_->begin();
  }

  void run() {
    for (std::int64_t second = 1; second <= kEventfulSeconds; ++second) {
      run_to(second);
      if (rng_.below(3) == 0) do_something();
    }
    session_->resume("the end");
    sim::FaultOrder clear;
    clear.kind = sim::FaultKind::kClear;
    clear.gpus = {{0}, {1}, {2}};
    EXPECT_TRUE(session_->inject(clear).has_value());
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      session_->return_gpu({gpu});
      session_->schedule({gpu}, GpuScheduling::kOpen, "the end");
    }
    run_to(kEventfulSeconds + 2);
    remove_all();
    run_to(kEventfulSeconds + kQuietSeconds);
    expect_rest();
  }

 private:
  void run_to(std::int64_t second) {
    while (session_->advance(Instant::at_second(second))) {
      const Instant now = session_->now();
      const bool is_frozen = now >= Instant::at_second(60) && now < Instant::at_second(75);
      if (!is_frozen || session_->plans().plans().empty()) continue;
      EXPECT_FALSE(session_->plans().plans().back().acts_at == now) << "a plan in a frozen window";
    }
    for (const StandingSlice& standing : session_->snapshot().slices) {
      for (const ServiceId service : standing.holding.services) {
        EXPECT_LT(service.index, session_->scenario().services.size());
      }
    }
  }

  void do_something() {
    const GpuId gpu{static_cast<std::uint32_t>(rng_.below(kGpus))};
    const ServiceName name{.tenant = "t", .name = "s" + std::to_string(rng_.below(4))};
    switch (rng_.below(12)) {
      case 0:
        session_->lose_gpu(gpu);
        break;
      case 1:
      case 2:
        session_->return_gpu(gpu);
        break;
      case 3:
        session_->schedule(gpu, GpuScheduling::kCordoned, "test");
        break;
      case 4:
        session_->schedule(gpu, GpuScheduling::kDraining, "test");
        break;
      case 5:
        session_->schedule(gpu, GpuScheduling::kOpen, "test");
        break;
      case 6:
        static_cast<void>(session_->remove_service(name));
        break;
      case 7:
        break_an_action(gpu);
        break;
      case 8:
        session_->pause("test");
        break;
      case 9:
        session_->resume("test");
        break;
      default:
        EXPECT_TRUE(session_->set_service(name, random_service(rng_), {}, std::nullopt).has_value());
        break;
    }
  }

  void break_an_action(GpuId gpu) {
    constexpr std::array kKinds = {sim::FaultKind::kFailCreate, sim::FaultKind::kFailDestroy, sim::FaultKind::kSlow,
                                   sim::FaultKind::kReportsFailure};
    sim::FaultOrder order;
    order.kind = kKinds[rng_.below(kKinds.size())];
    order.gpus = {gpu};
    order.times = 1;
    order.duration = Micros::seconds(static_cast<std::int64_t>(rng_.below(90)));
    EXPECT_TRUE(session_->inject(order).has_value());
  }

  void remove_all() {
    const auto services = session_->catalog().services;
    for (const auto& [name, entry] : services) EXPECT_TRUE(session_->remove_service(name).has_value());
    EXPECT_TRUE(session_->remove_tenant("t").has_value());
  }

  /// Nothing is under way any more, nobody holds anything, and the engine knows what stands.
  void expect_rest() {
    std::set<Slice> known;
    for (const StandingSlice& standing : session_->snapshot().slices) {
      EXPECT_FALSE(standing.is_leaving);
      EXPECT_TRUE(standing.is_ready);
      EXPECT_TRUE(standing.holding.services.empty());
      known.insert(standing.holding.slice);
    }
    EXPECT_EQ(known, auditor_->standing());
    EXPECT_LE(session_->scenario().services.size(), 12U) << "places are taken again";
  }

  Rng rng_;
  std::optional<Auditor> auditor_;
  std::unique_ptr<Session> session_;
};

TEST(History, AnAuditorFindsNothingThatMustNotBe) {
  for (int seed = 1; seed <= kHistories; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    History(static_cast<std::uint64_t>(seed), seed % 4 == 0 ? "fixed" : "berth").run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace berth::live
