// What a session knows of services with rules for GPU models, after its process ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/mig/catalogue.h"
#include "live/session/entry.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/batch_tally.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

PerformancePoint whole_gpu_row(const char* gpu, std::int64_t latency_ms) {
  return {.gpu = gpu,
          .profile = "full",
          .batch = 1,
          .processes = 1,
          .requests_per_second = Decimal(1000, latency_ms),
          .latency_ms = Decimal(latency_ms)};
}

/// Ten requests per second; on the A30, whose rows are not known.
ServiceSpec service_on_a30() {
  ServiceSpec service = sim::testing::service_of("any", {}, sim::testing::counted(std::vector<std::uint32_t>(600, 10)));
  service.table = {.model = "any", .points = {whole_gpu_row("A30-24GB", 5), whole_gpu_row("T4-16GB", 10)}};
  service.tier.gpu = "A30-24GB";
  service.tier.known_on = {"T4-16GB"};
  return service;
}

class SessionTiers : public ::testing::Test {
 protected:
  SessionTiers() {
    session_ = make();
    session_->begin();
    EXPECT_TRUE(session_->set_tenant("t", {}, std::nullopt).has_value());
    EXPECT_TRUE(session_->set_service({.tenant = "t", .name = "s"}, service_on_a30(), {}, std::nullopt).has_value());
  }

  std::unique_ptr<Session> make() {
    Scenario scenario = sim::testing::scenario_of({}, {}, 600);
    scenario.layout.reset();
    scenario.fleet = {{.model = *mig::find_gpu_model("T4"), .count = 1, .usd_per_gpu_hour = {}},
                      {.model = *mig::find_gpu_model("A30"), .count = 1, .usd_per_gpu_hour = {}}};
    SessionOptions options;
    options.listener.entry = [this](const Entry& entry) {
      const auto* seen = std::get_if<EventSeen>(&entry.what);
      if (seen != nullptr && std::holds_alternative<TierMeasured>(seen->event.what)) ++measured_;
    };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }

  void restart() {
    const std::string saved = session_->save();
    const sim::WorldLeft left = session_->world_left();
    session_ = make();
    ASSERT_TRUE(session_->restore(saved).has_value());
    session_->repeat({}, left.world.orders);
    session_->resume(left);
  }

  [[nodiscard]] double batches() const {
    const std::vector<sim::ServiceMemory> services = session_->world_left().world.services;
    const auto found = services.back().batches.find("A30-24GB");
    return found == services.back().batches.end() ? 0 : found->second;
  }

  void run_until(std::int64_t second) {
    while (session_->now() < Instant::at_second(second))
      static_cast<void>(session_->advance(Instant::at_second(second)));
  }

  int measured_ = 0;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTiers, CountsOfBatchesGoOnAfterARestart) {
  run_until(12);
  const double before = batches();
  EXPECT_GT(before, 50);
  EXPECT_LT(before, sim::kMeasuringBatches);
  EXPECT_EQ(measured_, 0);
  restart();
  EXPECT_EQ(batches(), before);
  std::int64_t second = 12;
  while (measured_ == 0 && second < 200) run_until(++second);
  EXPECT_LT(second, 28) << "not 200 more batches, which take 20 s";
  EXPECT_EQ(measured_, 1);
}

TEST_F(SessionTiers, WhatIsKnownIsNotReportedAgain) {
  run_until(120);
  EXPECT_EQ(measured_, 1);
  restart();
  run_until(240);
  EXPECT_EQ(measured_, 1);
}

TEST_F(SessionTiers, RulesThatTheBytesOfASpecDoNotHaveComeBack) {
  const std::string plain = session_->save();
  ServiceSpec spec = service_on_a30();
  spec.ready = {
      .warm_pool = WarmPool{.slices_min = 0, .slices_max = 2, .cold_micro_usd = {}, .idle_micro_usd_per_hour = 7},
      .answer = Micros::seconds(30),
      .start_of_model = Micros::seconds(1)};
  spec.running = {.program = ProgramChoice{.template_name = "echo", .parameters = {{"text", "x"}}},
                  .replicas = ReplicaLimits{.slices_min = 0, .slices_max = 3}};
  ASSERT_TRUE(session_->set_service({.tenant = "t", .name = "s"}, spec, {}, std::nullopt).has_value());
  run_until(3);
  restart();
  const ServiceSpec& again = std::as_const(session_->scenario()).services[0];
  EXPECT_EQ(again.ready, spec.ready);
  EXPECT_EQ(again.running, spec.running);
  EXPECT_EQ(again.tier, spec.tier);
  // The format comes first, as twice the number.
  EXPECT_EQ(plain.front(), 14) << "without such rules, the bytes of earlier versions";
  EXPECT_EQ(session_->save().front(), 16);
}

}  // namespace
}  // namespace berth::live
