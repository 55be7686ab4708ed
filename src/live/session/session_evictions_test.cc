/// Services get other targets, profiles and neighbours while they run.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "live/session/service_watch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

using sim::testing::generated;
using sim::testing::service_of;

ServiceSpec served(const std::string& name) {
  ServiceSpec spec = service_of(name, {{.latency_ms = 10}, {.profile = "2g.20gb", .latency_ms = 6}},
                                generated(Generator::Kind::kConstant, Decimal(40), 60));
  spec.batching = {};
  spec.arrivals.repeat = true;
  spec.expects = Decimal(40);
  return spec;
}

/// One GPU and the services x and y, which were added at run time.
class SessionEvictions : public ::testing::Test {
 protected:
  void SetUp() override {
    Scenario scenario = sim::testing::scenario_of({}, {}, 1);
    scenario.layout.reset();
    auto made = Session::make(std::move(scenario), {});
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    ASSERT_TRUE(session_->set_tenant("t", {}, std::nullopt));
    set(served("x"));
    set(served("y"));
    run_for(40);
    ASSERT_EQ(phase(0), ServicePhase::kRunning);
    ASSERT_EQ(phase(1), ServicePhase::kRunning);
  }
  void run_for(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
    session_->refresh();
  }
  void set(const ServiceSpec& spec) {
    ASSERT_TRUE(session_->set_service({.tenant = "t", .name = spec.name}, spec, {}, std::nullopt));
  }
  [[nodiscard]] ServicePhase phase(std::uint32_t service) const {
    return session_->watch().slices_of({service}).phase();
  }
  [[nodiscard]] std::set<ServiceId> holders() const {
    std::set<ServiceId> holders;
    for (const StandingSlice& standing : session_->snapshot().slices) {
      holders.insert(standing.holding.services.begin(), standing.holding.services.end());
    }
    return holders;
  }

  std::unique_ptr<Session> session_;
};

TEST_F(SessionEvictions, ATargetThatNoSliceKeepsMakesAServiceWait) {
  ServiceSpec spec = served("x");
  sim::testing::set_target_ms(spec, 1);
  set(spec);
  run_for(10);
  EXPECT_EQ(phase(0), ServicePhase::kWaiting);
  EXPECT_EQ(phase(1), ServicePhase::kRunning);
  set(served("x"));
  run_for(40);
  EXPECT_EQ(phase(0), ServicePhase::kRunning);
}

TEST_F(SessionEvictions, SoDoesAProfileOfOtherGpus) {
  ServiceSpec spec = served("x");
  for (PerformancePoint& point : spec.table.points) point.gpu = "H100-80GB-SXM5";
  set(spec);
  run_for(10);
  EXPECT_EQ(phase(0), ServicePhase::kWaiting);
}

TEST_F(SessionEvictions, ATargetThatOnlyLargerSlicesKeepMovesIt) {
  ServiceSpec spec = served("x");
  sim::testing::set_target_ms(spec, 15);
  set(spec);
  run_for(90);
  EXPECT_EQ(phase(0), ServicePhase::kRunning);
  const auto& model = sim::testing::a100();
  for (const StandingSlice& standing : session_->snapshot().slices) {
    if (standing.holding.services != std::vector{ServiceId{0}}) continue;
    EXPECT_EQ(profile_name(model, standing.holding.slice.profile), "2g.20gb");
  }
}

TEST_F(SessionEvictions, IsolationIsKeptByTheOneThatWasSetLast) {
  ASSERT_EQ(holders().size(), 2U);
  ServiceSpec spec = served("x");
  spec.isolation = Isolation::kGpu;
  set(spec);
  run_for(5);
  for (int second = 5; second < 60; ++second) {
    EXPECT_EQ(holders().size(), 1U) << "second " << second;
    run_for(1);
  }
  set(served("x"));
  run_for(40);
  EXPECT_EQ(holders().size(), 2U);
}

}  // namespace
}  // namespace berth::live
