// Whole replays of the published planners that repartition during the run.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "base/core/test_cases.h"
#include "sim/study/replay.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::Ran;
using testing::speeds;

constexpr std::array<std::string_view, 3> kRivals = {"ekya", "astraea", "migrator"};

/// One service is busy half of the time, the other one the other half.
Scenario tides(std::int64_t seconds) {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (std::int64_t at = 0; at < seconds; ++at) {
    const bool is_flood = at / 300 % 2 == 0;
    first.push_back(is_flood ? 450 : 60);
    second.push_back(is_flood ? 60 : 450);
  }
  Scenario scenario = testing::scenario_of({testing::service_of("a", speeds(), testing::counted(first)),
                                            testing::service_of("b", speeds(), testing::counted(second))},
                                           {});
  scenario.layout.reset();
  return scenario;
}

void add_retraining(Scenario& scenario) {
  for (ServiceSpec& service : scenario.services) {
    service.accuracy = {.before_micro = 600'000, .after_micro = 900'000};
    Retraining retraining;
    retraining.every = Micros::seconds(300);
    retraining.offset = Micros::seconds(40);
    for (const auto& [size, seconds] : {std::pair(1, 90), {2, 50}, {3, 36}, {4, 30}, {7, 20}}) {
      retraining.time_on[size] = Micros::seconds(seconds);
    }
    service.retraining = retraining;
  }
}

double goodput_under(const Scenario& scenario, std::string_view policy) {
  const auto result = replay_policy(scenario, policy, 1, {});
  EXPECT_TRUE(result && !result->infeasible) << policy;
  return result->figures.goodput_mean_of_services.value_or(0);
}

TEST(Rivals, FollowALoadThatMovesFromOneServiceToAnother) {
  const Scenario scenario = tides(1200);
  const double even = goodput_under(scenario, "static-even");
  for (const std::string_view rival : kRivals) {
    const Ran ran = testing::run_policy(scenario, rival);
    EXPECT_GT(ran.result.figures.goodput_mean_of_services, even + 0.05) << rival;
    EXPECT_GT(ran.result.figures.changes, 0) << rival;
    EXPECT_LT(ran.result.figures.changes, 150) << rival << " does not thrash";
  }
}

TEST(Rivals, RetrainWhereItPays) {
  Scenario scenario = tides(berth::testing::by_build(900, 600));
  add_retraining(scenario);
  const double even = goodput_under(scenario, "static-even");
  for (const std::string_view rival : kRivals) {
    const Ran ran = testing::run_policy(scenario, rival);
    EXPECT_GT(ran.result.figures.goodput_mean_of_services, even) << rival;
    std::int64_t done = 0;
    for (const sim::JournalRecord& record : ran.journal) {
      const auto* slice = std::get_if<world::SliceRecord>(&record);
      done += slice != nullptr && slice->event == world::SliceEvent::kRetrainingDone ? 1 : 0;
    }
    EXPECT_GE(done, berth::testing::by_build(4, 2)) << rival;
  }
}

TEST(Rivals, ObeyFrozenWindowsAndDelays) {
  Scenario scenario = tides(berth::testing::by_build(900, 550));
  add_retraining(scenario);
  scenario.observation_delay = Micros(2'500'000);
  scenario.planning = Micros(1'500'000);
  scenario.frozen = {{.from = Instant::at_second(300), .until = Instant::at_second(500)}};
  for (ServiceSpec& service : scenario.services) service.drop = DropRule::kNever;
  for (const std::string_view rival : kRivals) {
    const Ran ran = testing::run_policy(scenario, rival);
    EXPECT_GT(ran.result.figures.requests, 0);
    for (const sim::JournalRecord& record : ran.journal) {
      const auto* slice = std::get_if<world::SliceRecord>(&record);
      if (slice == nullptr || slice->event != world::SliceEvent::kDraining) continue;
      EXPECT_FALSE(slice->at >= Instant::at_second(300) && slice->at < Instant::at_second(500)) << rival;
    }
  }
}

TEST(Rivals, TheSameBytesTwiceAndNoLookAhead) {
  constexpr std::int64_t kSeconds = berth::testing::by_build(400, 160);
  Scenario scenario = tides(kSeconds);
  add_retraining(scenario);
  Scenario other = scenario;
  for (ServiceSpec& service : other.services) {
    auto& counts = std::get<CountTrace>(service.arrivals.source).counts;
    for (std::size_t second = kSeconds / 2; second < counts.size(); ++second) counts[second] = 7;
  }
  for (const std::string_view rival : kRivals) {
    const auto journal_until = [&](const Scenario& of, std::int64_t second) {
      std::string text;
      for (const sim::JournalRecord& record : testing::run_policy(of, rival).journal) {
        const Instant at = std::visit([](const auto& each) { return each.at; }, record);
        if (at < Instant::at_second(second)) text += testing::shown(record) + "\n";
      }
      return text;
    };
    EXPECT_EQ(journal_until(scenario, kSeconds), journal_until(scenario, kSeconds)) << rival;
    EXPECT_EQ(journal_until(scenario, kSeconds / 2), journal_until(other, kSeconds / 2)) << rival;
  }
}

TEST(Rivals, NameWhatTheyDoNotKeep) {
  Scenario scenario = tides(60);
  scenario.services[0].floor_attainment = Decimal(9, 10);
  scenario.services[1].isolation = Isolation::kGpu;
  scenario.services[1].changes_per_hour = 3;
  for (const std::string_view rival : kRivals) {
    EXPECT_EQ(
        testing::run_policy(scenario, rival).result.ignores,
        (std::vector<NamedConstraint>{
            {"a", ConstraintKind::kFloor}, {"b", ConstraintKind::kChangesPerHour}, {"b", ConstraintKind::kIsolation}}));
  }
}

TEST(Rivals, MigratorReportsItsGap) {
  EXPECT_NE(testing::run_policy(tides(60), "migrator").result.how.find("integer programs"), std::string::npos);
}

// ---- parameters

TEST(PolicySettings, AreSetByName) {
  policy::Settings settings;
  EXPECT_TRUE(policy::set_parameter(settings, "ekya.period_seconds=25"));
  EXPECT_TRUE(policy::set_parameter(settings, "astraea.target_level=0.75"));
  EXPECT_TRUE(policy::set_parameter(settings, "migrator.nodes_max=7"));
  EXPECT_EQ(settings.ekya.period_seconds, 25);
  EXPECT_EQ(settings.astraea.target_level, 0.75);
  EXPECT_EQ(settings.migrator.nodes_max, 7);
}

TEST(PolicySettings, RefuseWhatIsNotOne) {
  policy::Settings settings;
  for (const char* text : {"ekya.period=5", "ekya.period_seconds", "", "=1", "ekya.period_seconds=", "ekya.gain_min=x",
                           "ekya.period_seconds=1.5", "ekya.gain_min=-0.1", "ekya.period_seconds=99999999999"}) {
    EXPECT_FALSE(policy::set_parameter(settings, text)) << text;
  }
  EXPECT_NE(policy::set_parameter(settings, "ekya.period=5").error().message.find("astraea.target_level"),
            std::string::npos);
  EXPECT_EQ(policy::set_parameter(settings, "ekya.period_seconds=1.5").error().message,
            "ekya.period_seconds: wanted a whole number from 0 to 1000000000, found \"1.5\"");
}

TEST(PolicySettings, ChangeTheReplay) {
  const Scenario scenario = tides(600);
  policy::Settings settings;
  ASSERT_TRUE(policy::set_parameter(settings, "astraea.gain_min=1"));
  const auto still = replay_policy(scenario, "astraea", 1, {}, settings);
  ASSERT_TRUE(still);
  EXPECT_EQ(still->figures.changes, 0);
}

}  // namespace
}  // namespace berth::study
