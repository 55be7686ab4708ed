#include "surface/pages/spot_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "surface/pages/spot_points.h"
#include "surface/pages/spot_strip.h"
#include "surface/pages/testing/page_text.h"

namespace berth::report {
namespace {

using purchase::Market;
using purchase::SpotPolicy;
using purchase::SpotScore;
using purchase::SpotStudy;
using ::testing::HasSubstr;
using ::testing::Not;

Market market(const std::string& series, const std::string& unavailable) {
  Market made{.series = {series}, .window = "<w>", .is_joined = false, .tick_seconds = 600, .is_available = {{}}};
  for (const char tick : unavailable) made.is_available.front().push_back(tick == '0');
  return made;
}

/// Two windows of 20 ticks: spot always available, and available only late.
SpotStudy study() {
  return {.markets = {market("z<1>", std::string(20, '0')), market("z2", std::string(8, '1') + std::string(12, '0'))},
          .task_seconds = 3'600,
          .deadlines = {7'200, 10'800},
          .restarts = {60},
          .prices = {.on_demand_micro_usd = 3'000'000, .spot_micro_usd = 1'000'000}};
}

std::vector<SpotScore> scores_of(const SpotStudy& of,
                                 const std::vector<SpotPolicy>& policies = {purchase::kSpotPolicies.begin(),
                                                                            purchase::kSpotPolicies.end()}) {
  return *purchase::run_spot_study(of, policies, [](const purchase::SpotRun&) { return true; });
}

std::string spot_page_of(const SpotStudy& of) { return render_spot_report("windows.jsonl", of, scores_of(of)); }

TEST(SpotReport, BeginsWithTheAnswerAndItsAssumption) {
  const std::string page = spot_page_of(study());
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">Run such jobs by berth: $)"));
  EXPECT_THAT(page, HasSubstr("0 of 4 deadlines missed."));
  EXPECT_THAT(page, HasSubstr("Assumed: the recorded windows, $3.0000 an hour on demand and $1.0000 on spot"));
  EXPECT_THAT(page, HasSubstr("not known: as given"));
  EXPECT_THAT(page, HasSubstr("<dd>2 of 2 series</dd>"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">optimal *</th>)"));
}

TEST(SpotReport, DrawsARowForEachPolicyAndDeadline) {
  const std::string page = spot_page_of(study());
  EXPECT_EQ(testing::count_of(page, R"(<path class="mean")"), 10U);
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">2 h, 1/60 h</th>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">3 h, 1/60 h</th>"));
  EXPECT_THAT(page, HasSubstr(R"(<rect class="spot")"));
  EXPECT_THAT(page, HasSubstr(R"(<rect class="demand")"));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(SpotReport, ShowsTheRunsThatDifferMost) {
  std::vector<SpotScore> scores = scores_of(study());
  SpotScore& ours = scores.back();
  for (SpotScore& score : scores) {
    for (purchase::SpotOutcome& run : score.runs) run.micro_usd = Decimal(5'000'000);
  }
  ASSERT_EQ(chosen_spot_runs(scores).size(), 1U);
  EXPECT_THAT(chosen_spot_runs(scores)[0].why, HasSubstr("pay the same"));
  ours.runs[1].micro_usd = Decimal(4'000'000);
  ours.runs[2].micro_usd = Decimal(3'000'000);
  ours.runs[3].micro_usd = Decimal(5'500'000);
  const auto chosen = chosen_spot_runs(scores);
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].index, 2U);
  EXPECT_THAT(chosen[0].why, HasSubstr("by the most: $2.00"));
  EXPECT_EQ(chosen[1].index, 3U);
  EXPECT_THAT(chosen[1].why, HasSubstr("pays more than"));
  EXPECT_THAT(chosen[1].why, HasSubstr("by the most: $0.50"));
}

TEST(SpotReport, NeedsNeitherBerthNorARival) {
  for (const SpotPolicy policy : purchase::kSpotPolicies) {
    const std::string page = render_spot_report("w", study(), scores_of(study(), {policy}));
    EXPECT_THAT(page, HasSubstr("the most expensive run of " + std::string(purchase::name_of(policy))));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
  }
  EXPECT_THAT(render_spot_report("w", study(), scores_of(study(), {SpotPolicy::kOptimal})),
              HasSubstr("optimal pays least, $1.50 a run, in hindsight."));
}

TEST(SpotReport, AScoreThatDoesNotExistIsADash) {
  SpotStudy equal = study();
  equal.prices.spot_micro_usd = equal.prices.on_demand_micro_usd;
  EXPECT_THAT(spot_page_of(equal), HasSubstr(R"(<td data-label="Score"><span class="absent">–</span></td>)"));
  EXPECT_THAT(spot_page_of(study()), Not(HasSubstr(R"(<td data-label="Score"><span class="absent">)")));
}

TEST(SpotReport, MissedDeadlinesAreCrosses) {
  SpotStudy hostile = study();
  // Spot is lost in the last tick in which the policy could still leave it.
  hostile.markets = {market("z", "0000001111" + std::string(10, '1'))};
  hostile.deadlines = {4'200};
  const std::vector<SpotScore> scores = scores_of(hostile, {SpotPolicy::kGreedy});
  std::vector<SpotScore> late = scores;
  late.front().runs.front().is_missed = true;
  EXPECT_THAT(render_spot_report("w", hostile, late), HasSubstr(R"(<path class="run late" d="M)"));
  late.front().runs.front().is_missed = false;
  EXPECT_THAT(render_spot_report("w", hostile, late), Not(HasSubstr(R"(<path class="run late" d="M)")));
}

TEST(SpotReport, NamesAreNoMarkupAndNoMarkIsLeft) {
  SpotStudy of = study();
  of.markets.resize(1);
  const std::string page = render_spot_report("<script>.jsonl", of, scores_of(of));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;.jsonl"));
  EXPECT_THAT(page, HasSubstr("z&lt;1&gt;, window &lt;w&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("z<1>")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

TEST(SpotReport, ZonesOfAMarketHaveARowEachUpToALimit) {
  SpotStudy zones = study();
  Market joined = market("z0", std::string(20, '0'));
  joined.is_joined = true;
  for (int zone = 1; zone < 8; ++zone) {
    joined.series.push_back("z" + std::to_string(zone));
    joined.is_available.push_back(joined.is_available.front());
  }
  zones.markets = {joined};
  const std::string page = spot_page_of(zones);
  EXPECT_THAT(page, HasSubstr("<dd>1, 8 zones each as one market</dd>"));
  EXPECT_THAT(page, HasSubstr("8 zones, window &lt;w&gt;"));
  EXPECT_THAT(page, HasSubstr(">z5</text>"));
  EXPECT_THAT(page, Not(HasSubstr(">z6</text>")));
  EXPECT_THAT(page, HasSubstr("; 2 zones are not drawn"));
  EXPECT_THAT(page, HasSubstr("berth is in this zone"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="stay" d="M)"));
  EXPECT_THAT(spot_page_of(study()), Not(HasSubstr(R"(<path class="stay")")));
}

TEST(SpotReport, ManyRunsAreThinnedOutAndManyTicksShareAColumn) {
  SpotStudy many = study();
  many.markets.assign(4'000, market("z", std::string(20, '0')));
  std::vector<SpotScore> scores = scores_of(many, {SpotPolicy::kOnDemand});
  const std::string page = render_spot_report("w", many, scores);
  EXPECT_THAT(page, HasSubstr("About one run in 2.67 is drawn; means are of all."));
  EXPECT_NEAR(static_cast<double>(testing::count_of(page, "h0M")), kSpotPointsMax, 5);
  EXPECT_LT(page.size(), 200'000U);

  SpotStudy slow = study();
  slow.markets = {market("z", std::string(30'000, '0'))};
  slow.markets.front().tick_seconds = 1;
  slow.task_seconds = 20'000;
  slow.deadlines = {25'000};
  const std::string strip = render_spot_report("w", slow, scores_of(slow, {SpotPolicy::kOnDemand}));
  EXPECT_THAT(strip, HasSubstr("a column is 25 ticks, in the state of most of them"));
  EXPECT_LT(strip.size(), 100'000U);
}

TEST(SpotReport, ManyDeadlinesShareALane) {
  SpotStudy many = study();
  many.deadlines = {7'200, 7'800, 8'400, 9'000, 9'600};
  const std::string page = spot_page_of(many);
  EXPECT_THAT(page, HasSubstr("of all deadlines, in a lane for each policy"));
  EXPECT_EQ(testing::count_of(page, R"(<path class="mean")"), 5U);
}

TEST(SpotReport, TheSameStudyGivesTheSameBytes) { EXPECT_EQ(spot_page_of(study()), spot_page_of(study())); }

}  // namespace
}  // namespace berth::report
