#include "sim/loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/testing/scenarios.h"

namespace berth::sim {
namespace {

using testing::fixed_stages;
using testing::holding_of;
using testing::scenario_of;
using testing::service_of;
using testing::slice_at;

const Slice one_g = slice_at(0, "1g.10gb", 0);
const Slice three_g = slice_at(0, "3g.40gb", 4);

Scenario world() {
  return scenario_of({service_of("a", {{.batch = 1, .processes = 1, .latency_ms = 10}},
                                 testing::generated(Generator::Kind::kConstant, Decimal(20), 60))},
                     {holding_of(one_g, {0}), holding_of(three_g, {0})});
}

/// Fixed, and from second 10 on a question each time it may ask one: to destroy the slice as long as it stands.
MakeStages destroying(const Scenario& scenario, int& asked) {
  return [&] {
    std::vector<Stage> stages = fixed_stages(scenario);
    stages.push_back({.name = "destroys",
                      .observe = {},
                      .ask = [&asked](const Snapshot& snapshot, Plan&) -> StageAnswer {
                        if (snapshot.now < Instant::at_second(10)) return Settled{};
                        ++asked;
                        return [](const Snapshot& posed, Solution& solution) {
                          for (const StandingSlice& standing : posed.staying()) {
                            if (standing.holding.slice != one_g) continue;
                            solution.plan.actions = {{.what = DestroySlice{one_g}, .reason = {}}};
                          }
                        };
                      },
                      .learn = {}});
    return stages;
  };
}

TEST(Loop, IsDrivenFromSecondToSecondAndOverAtTheEnd) {
  const Scenario scenario = world();
  Loop loop(scenario, [&] { return fixed_stages(scenario); }, {});
  loop.begin();
  EXPECT_EQ(loop.now(), Instant());
  EXPECT_EQ(loop.engine().snapshot().slices.size(), 2U);
  int stops = 0;
  while (!loop.is_over()) {
    const Instant stop = loop.next_stop();
    loop.advance();
    EXPECT_LE(loop.now(), stop);
    ++stops;
  }
  EXPECT_EQ(loop.now(), Instant::at_second(60));
  EXPECT_GE(stops, 60);
  const auto world = loop.finish();
  EXPECT_EQ(world->meters()[0].totals().requests, 60 * 20);
}

TEST(Loop, DoesNotWaitForASolverElsewhere) {
  const Scenario scenario = world();
  int asked = 0;
  std::vector<SolveRequest> requests;
  std::optional<Instant> took_effect;
  LoopOptions options;
  options.solve_elsewhere = [&](SolveRequest request) { requests.push_back(std::move(request)); };
  options.plan_made = [&](const Plan& plan, Instant at) {
    if (plan.made_at > Instant()) took_effect = at;
  };
  Loop loop(scenario, destroying(scenario, asked), options);
  loop.begin();
  const auto answer = [&](std::size_t index) {
    loop.answer(
        {.question = requests[index].question, .solution = std::make_shared<const Solution>(requests[index].solve())});
  };
  ASSERT_EQ(requests.size(), 1U);  // the first layout is a question, too
  answer(0);
  while (loop.now() < Instant::at_second(30)) loop.advance();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].made_at, Instant::at_second(10));
  EXPECT_EQ(asked, 1);  // the engine went on for 20 s, with one question open
  EXPECT_TRUE(loop.engine().has_open_question());

  answer(1);
  while (loop.now() < Instant::at_second(40)) loop.advance();
  EXPECT_EQ(took_effect, Instant::at_second(30));
  EXPECT_EQ(loop.engine().snapshot().slices.size(), 1U);
}

TEST(Loop, AnAnswerToTheSameQuestionGivesTheSameWorldHoweverItIsSolved) {
  const Scenario scenario = world();
  const auto journal_of = [&](bool is_elsewhere) {
    std::vector<JournalRecord> journal;
    std::vector<SolveRequest> requests;
    int asked = 0;
    LoopOptions options;
    options.journal = [&](const JournalRecord& record) { journal.push_back(record); };
    if (is_elsewhere) {
      options.solve_elsewhere = [&](SolveRequest request) { requests.push_back(std::move(request)); };
    }
    Loop loop(scenario, destroying(scenario, asked), options);
    const auto answer_all = [&] {
      for (const SolveRequest& request : std::exchange(requests, {})) {
        loop.answer({.question = request.question, .solution = std::make_shared<const Solution>(request.solve())});
      }
    };
    loop.begin();
    while (!loop.is_over()) {
      answer_all();
      loop.advance();
    }
    return journal;
  };
  EXPECT_EQ(journal_of(true), journal_of(false));
}

}  // namespace
}  // namespace berth::sim
