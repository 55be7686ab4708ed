// What readers see is recorded before they see it: a crash must not take it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "live/session/entry.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/late_solver.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

TEST(SessionSight, WhatASecondShowedFirstIsRecordedForTheFirstReader) {
  testing::LateSolver solver([] { return Micros(300'000); });
  std::vector<Entry> told;
  int record_count = 0;
  SessionOptions options;
  options.planning_seconds = 1;
  options.solving = sim::Solving::kElsewhere;
  options.listener.question = [&](SolveRequest request) { solver.ask(std::move(request)); };
  options.listener.entry = [&](const Entry& entry) { told.push_back(entry); };
  options.records_first = true;
  options.listener.record = [&](const std::vector<Entry>& /*orders*/) {
    ++record_count;
    return std::optional<std::string>();
  };
  ServiceSpec service = sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                 sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
  service.tenant = "t";
  const auto session = Session::make(sim::testing::scenario_of({service}, {}, 1), std::move(options));
  ASSERT_TRUE(session.has_value());
  (*session)->begin();
  // No client reads before the second after the plan that creates the first slices.
  while ((*session)->snapshot().slices.empty() && (*session)->now() < Instant::at_second(60)) {
    auto answer = solver.take((*session)->now());
    if (answer) {
      ASSERT_TRUE((*session)->answer(*std::move(answer)));
    }
    static_cast<void>((*session)->advance((*session)->now() + Micros(100'000)));
  }
  const Instant next = Instant::at_second((*session)->now().second() + 1);
  while ((*session)->now() < next) static_cast<void>((*session)->advance(next));
  ASSERT_FALSE((*session)->snapshot().slices.empty());

  const int before = record_count;
  (*session)->refresh();
  EXPECT_EQ(record_count, before + 1);
  const bool tells_of_step = std::ranges::any_of(told, [&](const Entry& entry) {
    return entry.at == next &&
           (std::holds_alternative<Stepped>(entry.what) || std::holds_alternative<Advanced>(entry.what));
  });
  EXPECT_TRUE(tells_of_step) << "the next start sees it at the same second";
  (*session)->refresh();
  EXPECT_EQ(record_count, before + 1) << "nothing new";
}

}  // namespace
}  // namespace berth::live
