// When a session can be saved.
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "live/session/session.h"
#include "live/session/session_options.h"
#include "live/session/testing/late_solver.h"
#include "sim/world/testing/scenarios.h"

namespace berth::live {
namespace {

/// The next question comes no earlier than the next second: a save need not wait for a pause of the solver.
TEST(SessionRest, EachAnswerIsFollowedByAnInstantOfRest) {
  constexpr std::int64_t kSeconds = 60;
  testing::LateSolver solver([] { return Micros(1'300'000); });
  SessionOptions options;
  options.planning_seconds = 1;
  options.solving = sim::Solving::kElsewhere;
  options.listener.question = [&](SolveRequest request) { solver.ask(std::move(request)); };
  ServiceSpec service = sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                 sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
  service.tenant = "t";
  const auto session = Session::make(sim::testing::scenario_of({service}, {}, 1), std::move(options));
  ASSERT_TRUE(session.has_value());
  (*session)->begin();
  int answers = 0;
  int steps_at_rest = 0;
  while ((*session)->now() < Instant::at_second(kSeconds) && !(*session)->is_over()) {
    auto answer = solver.take((*session)->now());
    if (answer) {
      ++answers;
      ASSERT_TRUE((*session)->answer(*std::move(answer)));
      ASSERT_FALSE((*session)->is_at_rest());
      ASSERT_TRUE((*session)->advance((*session)->now()));
      EXPECT_TRUE((*session)->is_at_rest()) << "at " << (*session)->now().micros() << " us";
      EXPECT_FALSE((*session)->save().empty());
    }
    static_cast<void>((*session)->advance((*session)->now() + Micros(100'000)));
    if (answers > 0 && (*session)->now() == Instant::at_second((*session)->now().second())) {
      steps_at_rest += (*session)->is_at_rest() ? 1 : 0;
    }
  }
  EXPECT_GT(answers, kSeconds / 3);
  EXPECT_EQ(steps_at_rest, 0) << "the solver rests by itself: this test says nothing";
}

}  // namespace
}  // namespace berth::live
