/// A service's variants change while its slices run them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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
using sim::testing::table_of;

/// Its own form is too slow; the variants are fast.
ServiceSpec with_variants(const std::vector<std::string>& names) {
  ServiceSpec spec = service_of("s", {{.latency_ms = 500}}, generated(Generator::Kind::kConstant, Decimal(40), 60));
  spec.tenant = "t";
  spec.arrivals.repeat = true;
  spec.expects = Decimal(40);
  for (const std::string& name : names) {
    spec.variants.push_back({.name = name, .table = table_of({{.latency_ms = 5}}), .accuracy = {}});
  }
  return spec;
}

class SessionVariants : public ::testing::TestWithParam<Fidelity> {
 protected:
  void SetUp() override {
    Scenario scenario = sim::testing::scenario_of({with_variants({"small", "tiny"})}, {}, 1);
    scenario.fidelity = GetParam();
    scenario.layout.reset();
    auto made = Session::make(std::move(scenario), {});
    ASSERT_TRUE(made);
    session_ = std::move(*made);
    session_->begin();
    run_for(20);
  }
  void run_for(std::int64_t seconds) {
    const Instant until = Instant::at_second(session_->now().second() + seconds);
    while (session_->advance(until)) {
    }
  }
  void set(const ServiceSpec& spec) {
    ASSERT_TRUE(session_->set_service({.tenant = "t", .name = "s"}, spec, {}, std::nullopt));
  }
  [[nodiscard]] bool runs_a_variant() const {
    return std::ranges::any_of(session_->snapshot().slices, [](const StandingSlice& standing) {
      return standing.point && standing.point->variant > 0;
    });
  }
  [[nodiscard]] std::size_t serving() const { return session_->watch().slices_of({0}).serving; }

  std::unique_ptr<Session> session_;
};

TEST_P(SessionVariants, ThatAreGoneAreNotPlannedWithAnyMore) {
  ASSERT_TRUE(runs_a_variant());
  ServiceSpec plain = with_variants({});
  plain.table = table_of({{.latency_ms = 5}});
  set(plain);
  EXPECT_FALSE(runs_a_variant());
  run_for(30);
  session_->refresh();
  EXPECT_GT(serving(), 0U);
}

TEST_P(SessionVariants, GoOnWhilePlanningIsPaused) {
  session_->pause("test");
  set(with_variants({}));
  run_for(10);
  session_->resume("test");
  set(with_variants({"tiny"}));
  run_for(30);
  session_->refresh();
  EXPECT_GT(serving(), 0U);
}

TEST_P(SessionVariants, ThatKeepTheirNamesGoOn) {
  ServiceSpec better = with_variants({"small", "tiny"});
  better.weight = Decimal(2);
  set(better);
  EXPECT_TRUE(runs_a_variant());
}

INSTANTIATE_TEST_SUITE_P(Fidelities, SessionVariants, ::testing::Values(Fidelity::kRequests, Fidelity::kRates));

}  // namespace
}  // namespace berth::live
