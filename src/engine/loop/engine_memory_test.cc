// An engine restored from its memory continues like the saved one: sim/study/rebuild_test.cc and
// live/session/history_test.cc compare whole runs. Here: what is restored, and how unreadable memory is handled.
#include "engine/loop/engine_memory.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/core/archive.h"
#include "base/core/rng.h"
#include "engine/loop/drain_stage.h"
#include "engine/loop/engine.h"
#include "engine/loop/planner_policy.h"
#include "engine/loop/test_fleet.h"

namespace berth {
namespace {

using testing::create;
using testing::slice_at;
using testing::two_gpus;

/// Counts the steps, and asks for a slice in the first ones.
class Counter {
 public:
  StageAnswer ask(const Snapshot& /*snapshot*/, Plan& plan) {
    if (steps_ < 2) plan.actions.push_back(create(slice_at(steps_, "1g.10gb", 0)));
    ++steps_;
    return Settled{};
  }

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.steps_);
    archive.require(self.steps_ < 1000);
  }

 private:
  std::uint32_t steps_ = 0;
};

Stage counting(std::string name) {
  const auto counter = std::make_shared<Counter>();
  return {.name = std::move(name),
          .observe = {},
          .ask = [counter](const Snapshot& snapshot, Plan& plan) { return counter->ask(snapshot, plan); },
          .learn = {},
          .memory = memory_of(counter)};
}

std::vector<Stage> one_counter(const Scenario& /*scenario*/) { return {counting("counts")}; }

/// The first GPU has its first layout, and a change of the second one waits for approval.
std::unique_ptr<Engine> waiting_engine(const Scenario& scenario) {
  auto engine = std::make_unique<Engine>(scenario, one_counter, EngineRules{.approval = Approval::kFirst});
  static_cast<void>(testing::step_and_solve(*engine, Instant()));
  engine->observe({.at = Instant(), .what = GpuScheduled{.gpu = {1}, .reason = "test"}});
  static_cast<void>(testing::step_and_solve(*engine, Instant::at_second(1)));
  return engine;
}

TEST(EngineMemory, IsAllThatTheEngineRemembers) {
  const Scenario scenario = two_gpus();
  const auto saved = waiting_engine(scenario);
  ASSERT_NE(saved->waiting(), nullptr);
  const std::string bytes = bytes_of(saved->memory());
  Engine restored(scenario, one_counter, EngineRules{.approval = Approval::kFirst});
  EXPECT_EQ(restored.restore(from_bytes<EngineMemory>(bytes).value()).value(), std::vector<std::string>());
  EXPECT_EQ(bytes_of(restored.memory()), bytes);
  EXPECT_EQ(bytes_of(restored.snapshot()), bytes_of(saved->snapshot()));
  ASSERT_NE(restored.waiting(), nullptr);
  EXPECT_EQ(*restored.waiting(), *saved->waiting());
  const std::uint64_t waiting = saved->waiting()->id;
  for (Engine* engine : {saved.get(), &restored}) {
    engine->observe({.at = Instant::at_second(2), .what = PlanApproved{.plan = waiting}});
    const StepAnswer answer = engine->step(Instant::at_second(2));
    EXPECT_EQ(answer.plan.id, waiting);
    EXPECT_EQ(engine->snapshot().slices.size(), 2U);
  }
  EXPECT_EQ(bytes_of(restored.memory()), bytes_of(saved->memory()));
}

TEST(EngineMemory, HasTheWindowsWithoutChanges) {
  const Scenario scenario = two_gpus();
  Engine saved(scenario, one_counter);
  const NoChanges windows{.week_at_start = Micros(5), .spans = {{.from_minute = 2, .until_minute = 3}}};
  saved.observe({.at = Instant(), .what = NoChangesSet{.windows = windows}});
  static_cast<void>(testing::step_and_solve(saved, Instant()));
  EngineMemory memory = saved.memory();
  std::vector<NoChanges> read;  // by the stages
  Engine restored(scenario, [&](const Scenario& live) {
    read.push_back(live.no_changes);
    return one_counter(live);
  });
  EXPECT_TRUE(restored.restore(memory).has_value());
  EXPECT_EQ(restored.scenario().no_changes, windows);
  EXPECT_EQ(read.back(), windows);
  EXPECT_EQ(bytes_of(restored.memory()), bytes_of(memory));
  memory.no_changes.spans.clear();  // not sound
  EXPECT_FALSE(from_bytes<EngineMemory>(bytes_of(memory)).has_value());
}

TEST(EngineMemory, AStageThatCannotBeReadBeginsAnewAlone) {
  const Scenario scenario = two_gpus();
  const auto make_stages = [](const Scenario&) { return std::vector<Stage>{counting("a"), counting("b")}; };
  Engine saved(scenario, make_stages);
  static_cast<void>(testing::step_and_solve(saved, Instant()));
  const EngineMemory whole = saved.memory();
  const std::string untouched = bytes_of(std::uint32_t{0});
  ASSERT_EQ(whole.stages.size(), 2U);
  ASSERT_NE(whole.stages[0].bytes, untouched);
  std::vector<EngineMemory> damaged(5, whole);
  damaged[0].stages[0].bytes.clear();
  damaged[1].stages[0].bytes += "x";
  damaged[2].stages[0].bytes = bytes_of(std::uint32_t{1000});
  damaged[3].stages[0].format = kStageMemoryFormat + 1;
  damaged[4].stages.erase(damaged[4].stages.begin());
  for (const EngineMemory& memory : damaged) {
    Engine restored(scenario, make_stages);
    EXPECT_EQ(restored.restore(memory).value(), std::vector<std::string>{"a"});
    EXPECT_EQ(restored.memory().stages[0].bytes, untouched);
    EXPECT_EQ(restored.memory().stages[1], whole.stages[1]);
    EXPECT_EQ(bytes_of(restored.snapshot()), bytes_of(saved.snapshot()));
  }
}

TEST(EngineMemory, ThatOfAnotherScenarioIsRefused) {
  const EngineMemory memory = waiting_engine(two_gpus())->memory();
  Scenario one_service = two_gpus();
  one_service.services.pop_back();
  Scenario no_gpu = two_gpus();
  no_gpu.fleet.clear();
  for (const Scenario& other : {one_service, no_gpu}) {
    Engine engine(other, one_counter);
    EXPECT_FALSE(engine.restore(memory).has_value());
    EXPECT_EQ(engine.snapshot().version, 0U);
    EXPECT_TRUE(engine.snapshot().slices.empty());
  }
}

TEST(EngineMemory, ThatOfAnotherFormatIsRefused) {
  std::string bytes = bytes_of(EngineMemory());
  ASSERT_EQ(bytes.front(), bytes_of(kEngineMemoryFormat).front());
  EXPECT_TRUE(from_bytes<EngineMemory>(bytes).has_value());
  bytes.front() = bytes_of(kEngineMemoryFormatOfSpeeds + 1).front();
  EXPECT_FALSE(from_bytes<EngineMemory>(bytes).has_value());
}

/// Without factors the bytes are those of earlier versions.
TEST(EngineMemory, SpeedFactorsHaveAFormatOfTheirOwn) {
  EngineMemory memory;
  memory.speeds[{.service = {3}, .gpu = "A100-80GB", .profile = "1g.10gb"}] = {
      .factor = Decimal(13, 10), .batches = 214, .at = Instant::at_second(700), .is_used = false};
  const std::string bytes = bytes_of(memory);
  EXPECT_EQ(bytes.front(), bytes_of(kEngineMemoryFormatOfSpeeds).front());
  const auto again = from_bytes<EngineMemory>(bytes);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->speeds, memory.speeds);
}

TEST(EngineMemory, ACopyOfTheSnapshotSharesItsChunks) {
  const auto engine = waiting_engine(two_gpus());
  const EngineMemory memory = engine->memory();
  EXPECT_TRUE(memory.cluster.snapshot.slices.shares(engine->snapshot().slices, 0));
}

// ---- the planner's memory

std::vector<Stage> planner(const Scenario& scenario) {
  return {drain_stage(scenario, true), planner_stage(scenario, forecast_outlook(scenario), {})};
}

/// After `seconds` in which both services got requests.
std::unique_ptr<Engine> planned_engine(const Scenario& scenario, std::int64_t seconds) {
  auto engine = std::make_unique<Engine>(scenario, planner);
  static_cast<void>(testing::step_and_solve(*engine, Instant()));
  for (std::int64_t second = 0; second < seconds; ++second) {
    for (std::uint32_t service = 0; service < 2; ++service) {
      const ServiceSecond seen{.service = {service}, .second = second, .arrivals = 20 + 30 * ((second / 10) % 3)};
      engine->observe({.at = Instant::at_second(second + 1), .what = seen});
    }
    static_cast<void>(testing::step_and_solve(*engine, Instant::at_second(second + 1)));
  }
  return engine;
}

TEST(EngineMemory, IsReadAsItWasWritten) {
  const Scenario scenario = two_gpus();
  const std::string bytes = bytes_of(planned_engine(scenario, 40)->memory());
  Engine restored(scenario, planner);
  EXPECT_EQ(restored.restore(from_bytes<EngineMemory>(bytes).value()).value(), std::vector<std::string>());
  EXPECT_EQ(bytes_of(restored.memory()), bytes);
}

TEST(EngineMemory, DamagedBytesGiveFailureOrOtherMemory) {
  const Scenario scenario = two_gpus();
  const std::string whole = bytes_of(planned_engine(scenario, 40)->memory());
  Rng rng(5);
  int read = 0;
  for (int i = 0; i < 300; ++i) {
    EXPECT_FALSE(from_bytes<EngineMemory>(whole.substr(0, rng.below(whole.size()))).has_value());
    std::string damaged = whole;
    for (std::uint64_t flips = 1 + rng.below(3); flips > 0; --flips) {
      char& byte = damaged[rng.below(damaged.size())];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << rng.below(8)));
    }
    const auto memory = from_bytes<EngineMemory>(damaged);
    if (!memory) continue;
    ++read;
    Engine restored(scenario, planner);
    const auto begun_anew = restored.restore(*memory);
    if (begun_anew) {
      EXPECT_FALSE(bytes_of(restored.memory()).empty());
    }
  }
  EXPECT_GT(read, 0);
}

/// What is asked and answered in 60 seconds, as bytes. The load grows in steps, so slices are on their way when the
/// next question is asked; in the end floors cannot be met.
std::vector<std::string> questions_of(const Scenario& scenario, bool restores) {
  std::vector<std::string> questions;
  PlannerOptions options;
  options.record = [&](const PlanRecord& record) {
    questions.push_back(bytes_of(record.problem) + bytes_of(record.known) + bytes_of(record.unmet_floors));
  };
  const MakeStages stages = [&](const Scenario& own) {
    return std::vector<Stage>{drain_stage(own, true), planner_stage(own, forecast_outlook(own), options)};
  };
  auto engine = std::make_unique<Engine>(scenario, stages);
  for (std::int64_t second = 0; second < 60; ++second) {
    const Instant now = Instant::at_second(second);
    const StepAnswer asked = engine->step(now);
    if (asked.request) {
      const auto solution = std::make_shared<const Solution>(asked.request->solve());
      questions.push_back(bytes_of(*solution));
      engine->observe({.at = now, .what = SolveFinished{.question = asked.request->question, .solution = solution}});
      static_cast<void>(engine->step(now));
    }
    if (restores) {
      auto other = std::make_unique<Engine>(engine->scenario(), stages);
      EXPECT_TRUE(other->restore(from_bytes<EngineMemory>(bytes_of(engine->memory())).value()).value().empty());
      engine = std::move(other);
    }
    for (std::uint32_t service = 0; service < 2; ++service) {
      const ServiceSecond seen{.service = {service}, .second = second, .arrivals = 20 + second / 12 * 300};
      engine->observe({.at = Instant::at_second(second + 1), .what = seen});
    }
  }
  return questions;
}

TEST(EngineMemory, ARestoredPlannerAsksTheSameQuestions) {
  Scenario scenario = two_gpus();
  for (ServiceSpec& service : scenario.services) {
    service.start = Micros::seconds(12);
    service.floor_attainment = Decimal(9, 10);
  }
  const std::vector<std::string> straight = questions_of(scenario, /*restores=*/false);
  EXPECT_GT(straight.size(), 20U);
  EXPECT_TRUE(questions_of(scenario, /*restores=*/true) == straight);
}

/// If these sizes change, so do the bytes: raise kEngineMemoryFormat, or kStageMemoryFormat for those of a stage.
TEST(EngineMemory, HasTheSizeOfItsFormat) {
  const Scenario scenario = two_gpus();
  const EngineMemory memory = Engine(scenario, planner).memory();
  EXPECT_EQ(bytes_of(memory.cluster).size(), 29U);
  ASSERT_EQ(memory.stages.size(), 2U);
  EXPECT_EQ(memory.stages[0].bytes.size(), 1U);
  EXPECT_EQ(memory.stages[1].bytes.size(), 6616U);
}

}  // namespace
}  // namespace berth
