// The insight that a replay keeps for a report is what its policy used, and keeping it changes no figure.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <variant>

#include "engine/loop/planner_policy.h"
#include "sim/study/replay.h"
#include "sim/study/testing/policy_run.h"

namespace berth::study {
namespace {

using testing::speeds;

constexpr std::int64_t kInsightSeconds = 240;

/// The load moves from one service to the other and back.
Scenario moving_load() {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (std::int64_t at = 0; at < kInsightSeconds; ++at) {
    const bool is_flood = at / 80 % 2 == 0;
    const auto ripple = static_cast<std::uint32_t>(at * 7 % 30);
    first.push_back((is_flood ? 430 : 60) + ripple);
    second.push_back((is_flood ? 60 : 430) + ripple);
  }
  Scenario scenario = testing::scenario_of({testing::service_of("a", speeds(), testing::counted(first)),
                                            testing::service_of("b", speeds(), testing::counted(second))},
                                           {});
  scenario.layout.reset();
  return scenario;
}

struct Reported {
  measure::PolicyResult result;
  std::vector<PlanRecord> plans;
  std::vector<sim::JournalRecord> journal;
};

Reported reported(const Scenario& scenario, std::string_view policy, bool keeps_insight = true) {
  Reported reported;
  policy::Settings settings;
  settings.berth.record = [&](const PlanRecord& record) { reported.plans.push_back(record); };
  ReplayHooks hooks;
  hooks.journal = [&](std::string_view, const sim::JournalRecord& record) { reported.journal.push_back(record); };
  hooks.keeps_insight = keeps_insight;
  reported.result = *replay_policy(scenario, policy, 1, hooks, settings);
  return reported;
}

TEST(Insight, ForecastsAreThoseOfThePlansThatWereMade) {
  const Scenario scenario = moving_load();
  const Reported ran = reported(scenario, "berth");
  ASSERT_EQ(ran.result.insight.forecasts.size(), 2U);
  for (const measure::LeadForecast& lead : ran.result.insight.forecasts) {
    for (std::size_t service = 0; service < scenario.services.size(); ++service) {
      std::vector<std::optional<double>> median(kInsightSeconds);
      std::vector<std::optional<double>> low(kInsightSeconds);
      std::vector<std::optional<double>> high(kInsightSeconds);
      for (const PlanRecord& plan : ran.plans) {  // later plans replace the forecasts of earlier ones
        const auto& loads = plan.problem.services[service].loads;
        const auto samples = static_cast<std::size_t>(plan.problem.samples);
        for (std::int64_t slot = lead.lead_seconds; slot < plan.problem.slots; ++slot) {
          const auto second = static_cast<std::size_t>(plan.acts_at.second() + slot);
          const std::size_t at = static_cast<std::size_t>(slot) * samples;
          low[second] = loads[at];
          median[second] = loads[at + 2];
          high[second] = loads[at + 4];
        }
      }
      EXPECT_EQ(lead.services[service].low, low);
      EXPECT_EQ(lead.services[service].median, median);
      EXPECT_EQ(lead.services[service].high, high);
      EXPECT_GT(lead.services[service].judged_seconds, kInsightSeconds / 2);
    }
  }
}

/// The slice that a step creates or destroys.
std::optional<Slice> changed_slice(const SliceChange& step) {
  if (const auto* create = std::get_if<CreateSlice>(&step)) return create->slice;
  if (const auto* destroy = std::get_if<DestroySlice>(&step)) return destroy->slice;
  return std::nullopt;
}

TEST(Insight, EachSliceThatComesOrGoesHasADecisionWithAReason) {
  for (const char* policy : {"berth", "clairvoyant", "ekya", "static-even"}) {
    const Reported ran = reported(moving_load(), policy);
    std::set<std::pair<Slice, Instant>> decided;
    for (const measure::Decision& decision : ran.result.insight.decisions) {
      EXPECT_FALSE(decision.reason.text.empty()) << policy;
      for (const SliceChange& step : decision.steps) {
        if (const auto slice = changed_slice(step)) decided.emplace(*slice, decision.acts_at);
      }
    }
    std::size_t changes = 0;
    for (const sim::JournalRecord& record : ran.journal) {
      const auto* slice = std::get_if<world::SliceRecord>(&record);
      if (slice == nullptr ||
          (slice->event != world::SliceEvent::kCreated && slice->event != world::SliceEvent::kDestroyed))
        continue;
      ++changes;
      const auto first = decided.lower_bound({slice->slice, Instant()});
      EXPECT_TRUE(first != decided.end() && first->first == slice->slice && first->second <= slice->at) << policy;
    }
    EXPECT_GT(changes, 0U) << policy;
    EXPECT_EQ(ran.result.insight.decision_count, static_cast<std::int64_t>(ran.result.insight.decisions.size()));
  }
}

TEST(Insight, TheDecisionsOfThePlannerCarryTheirGain) {
  const Reported ran = reported(moving_load(), "berth");
  std::size_t later = 0;
  for (const measure::Decision& decision : ran.result.insight.decisions) {
    if (decision.acts_at == Instant()) continue;
    ++later;
    const auto& numbers = decision.reason.numbers;
    EXPECT_TRUE(std::ranges::any_of(numbers, [](const auto& number) { return number.first == "gain_seconds"; }));
  }
  EXPECT_GT(later, 0U);
}

TEST(Insight, IsKeptOnlyOnDemandAndChangesNothing) {
  const Scenario scenario = moving_load();
  const Reported with = reported(scenario, "berth");
  const Reported without = reported(scenario, "berth", false);
  EXPECT_EQ(testing::shown(with.journal), testing::shown(without.journal));
  EXPECT_EQ(with.result.figures.goodput, without.result.figures.goodput);
  EXPECT_TRUE(without.result.insight.forecasts.empty());
  EXPECT_TRUE(without.result.insight.decisions.empty());
  EXPECT_FALSE(with.result.insight.decisions.empty());
}

TEST(Insight, OnlyWhoForecastsReportsForecasts) {
  EXPECT_TRUE(reported(moving_load(), "clairvoyant").result.insight.forecasts.empty());
  EXPECT_TRUE(reported(moving_load(), "static-even").result.insight.forecasts.empty());
}

TEST(Insight, TheTimelineReportsWhetherSlicesAreShared) {
  EXPECT_TRUE(reported(moving_load(), "shared").result.timeline.shares_slices);
  EXPECT_FALSE(reported(moving_load(), "static-even").result.timeline.shares_slices);
}

}  // namespace
}  // namespace berth::study
