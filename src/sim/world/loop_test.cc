#include "sim/world/loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/world/testing/engine_renewal.h"
#include "sim/world/testing/scenarios.h"

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

/// The policy fixed, and from second 10 on, whenever possible, a question: to destroy the slice while it exists.
MakeStages destroying(const Scenario& scenario, int& asked) {
  return [&](const Scenario&) {
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
  Loop loop(scenario, [&](const Scenario&) { return fixed_stages(scenario); }, {});
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
  options.solving = Solving::kElsewhere;
  options.listener.question = [&](SolveRequest request) { requests.push_back(std::move(request)); };
  options.listener.plan = [&](const Plan& plan, Instant at) {
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
  EXPECT_EQ(asked, 1);  // the engine ran for 20 s with one question open
  EXPECT_TRUE(loop.engine().has_open_question());

  answer(1);
  while (loop.now() < Instant::at_second(40)) loop.advance();
  EXPECT_EQ(took_effect, Instant::at_second(30));
  EXPECT_EQ(loop.engine().snapshot().slices.size(), 1U);
}

TEST(Loop, AnAnswerToTheSameQuestionGivesTheSameWorldHoweverItIsSolved) {
  Scenario scenario = world();
  const auto journal_of = [&](bool is_elsewhere) {
    std::vector<JournalRecord> journal;
    std::vector<SolveRequest> requests;
    int asked = 0;
    LoopOptions options;
    options.listener.journal = [&](const JournalRecord& record) { journal.push_back(record); };
    if (is_elsewhere) {
      options.solving = Solving::kElsewhere;
      options.listener.question = [&](SolveRequest request) { requests.push_back(std::move(request)); };
      options.solving = Solving::kElsewhereWaiting;
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
  scenario.planning = Micros(2'500'000);
  EXPECT_EQ(journal_of(true), journal_of(false));
}

struct DrivenRun {
  std::vector<JournalRecord> journal;
  std::vector<Instant> steps;
  friend bool operator==(const DrivenRun&, const DrivenRun&) = default;
};

/// Two large services by rates, one of which drops late requests, and a small one request by request.
Scenario world_by_rates() {
  const auto large = [](std::string name, Generator::Kind kind) {
    return service_of(std::move(name), {{.batch = 128, .processes = 2, .latency_ms = 10}},
                      testing::generated(kind, Decimal(25'400), 60));
  };
  Scenario scenario = scenario_of(
      {large("a", Generator::Kind::kPoisson), large("b", Generator::Kind::kConstant),
       service_of("c", {{.latency_ms = 10}}, testing::generated(Generator::Kind::kPoisson, Decimal(70), 60))},
      {holding_of(one_g, {0}), holding_of(slice_at(0, "1g.10gb", 1), {1}), holding_of(slice_at(0, "1g.10gb", 2), {2})});
  scenario.services.front().drop = DropRule::kNever;
  scenario.fidelity = Fidelity::kRates;
  return scenario;
}

void expect_same_in_pieces(const Scenario& scenario) {
  const auto run_with = [&](const std::function<Micros()>& piece) {
    DrivenRun run;
    int asked = 0;
    LoopOptions options;
    options.listener.journal = [&](const JournalRecord& record) { run.journal.push_back(record); };
    Loop loop(scenario, destroying(scenario, asked), options);
    loop.begin();
    while (!loop.is_over()) {
      const Instant until = loop.now() + piece();
      if (loop.advance(until)) run.steps.push_back(loop.now());
      EXPECT_LE(loop.now(), until);
    }
    return run;
  };
  const DrivenRun whole = run_with([] { return Micros::seconds(1); });
  std::int64_t state = 1;
  const DrivenRun pieces = run_with([&] { return Micros((state = state * 48271 % 2147483647) % 300'000); });
  EXPECT_EQ(pieces, whole);
  EXPECT_GE(whole.steps.size(), 60U);
  EXPECT_FALSE(whole.journal.empty());
}

TEST(Loop, GoesOnInPiecesToTheSameWorld) { expect_same_in_pieces(world()); }

TEST(Loop, GoesOnInPiecesToTheSameWorldByRates) { expect_same_in_pieces(world_by_rates()); }

/// The journal of a run with proposals that are approved, left to expire or superseded, and a pause; the engine is
/// rebuilt at each stop whose second `is_rebuilt` picks.
std::vector<JournalRecord> approving_journal(const Scenario& scenario, const std::function<bool(Instant)>& is_rebuilt) {
  std::vector<JournalRecord> journal;
  std::vector<std::uint64_t> held;
  LoopOptions options;
  options.approval = Approval::kAlways;
  options.listener.journal = [&](const JournalRecord& record) { journal.push_back(record); };
  options.listener.answer = [&](const StepAnswer& answer) {
    if (answer.held) held.push_back(answer.held->id);
  };
  testing::EngineRebuild engine;
  engine.listen(options.listener);
  int asked = 0;
  Loop loop(scenario, destroying(scenario, asked), options);
  engine.attach(loop, scenario);
  loop.begin();
  while (!loop.is_over()) {
    loop.advance();
    if (is_rebuilt(loop.now())) engine.rebuild();
    const std::int64_t second = loop.now().second();
    if (loop.now() != Instant::at_second(second)) continue;
    const auto tell = [&](decltype(Event::what) what) { loop.command({.at = loop.now(), .what = std::move(what)}); };
    if (second == 15) tell(PlanExpired{.plan = held.back()});
    if (second == 20) tell(GpuScheduled{.gpu = {0}, .scheduling = GpuScheduling::kCordoned, .reason = "test"});
    if (second == 22) tell(GpuScheduled{.gpu = {0}, .scheduling = GpuScheduling::kOpen, .reason = ""});
    if (second == 24) tell(PlanningPaused{.reason = "test"});
    if (second == 26) tell(PlanApproved{.plan = held.back()});
    if (second == 28) tell(PlanningResumed{});
    if (second == 30) tell(PlanApproved{.plan = held.back()});
  }
  EXPECT_EQ(loop.engine().snapshot().slices.size(), 1U);
  EXPECT_GE(held.size(), 3U);
  return journal;
}

TEST(Loop, AnEngineRebuiltFromItsEventsKnowsWhatWaitsForApproval) {
  const Scenario scenario = world();
  const auto straight = approving_journal(scenario, [](Instant) { return false; });
  EXPECT_EQ(approving_journal(scenario, [](Instant) { return true; }), straight);
  EXPECT_EQ(approving_journal(scenario, [](Instant at) { return at.second() % 7 == 0; }), straight);
  const auto is_destruction = [](const JournalRecord& record) {
    const auto* slice = std::get_if<world::SliceRecord>(&record);
    return slice != nullptr && slice->event == world::SliceEvent::kDestroyed;
  };
  const auto destroyed = std::ranges::find_if(straight, is_destruction);
  ASSERT_NE(destroyed, straight.end());
  EXPECT_GE(std::get<world::SliceRecord>(*destroyed).at, Instant::at_second(30));
}

}  // namespace
}  // namespace berth::sim
