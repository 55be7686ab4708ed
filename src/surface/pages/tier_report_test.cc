#include "surface/pages/tier_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "surface/pages/testing/page_text.h"
#include "surface/pages/tier_charts.h"

namespace berth::report {
namespace {

using testing::count_of;
using ::testing::HasSubstr;
using ::testing::Not;

tier::TierPoint one_point(int per_second) {
  return {.samples_per_second = Decimal(per_second), .latency_ms = Decimal(10)};
}

/// Three tiers: the first was measured, the second is predicted, the third excluded.
tier::TierAnswer small_answer() {
  tier::ChooseCall call{.kind = tier::TierKind::kServices,
                        .tiers = {{.name = "t<4", .usd_per_hour = Decimal(1)},
                                  {.name = "a30", .usd_per_hour = Decimal(2)},
                                  {.name = "a100", .usd_per_hour = Decimal(4)}},
                        .known = {.group = "m", .name = "w&x", .points = {{one_point(100)}, {}, {}}},
                        .target = {.per_second = Decimal(450), .latency_ms = Decimal(100)}};
  call.rules = tier::TierRules{.rules = {{.name = "not it",
                                          .bounds = {{.feature = tier::RuleFeature::kLatencyMs, .below = Decimal(200)}},
                                          .tier = "a100",
                                          .is_exclusion = true}}};
  call.estimate_at = [](const tier::TierTarget&) {
    return std::vector<tier::TierEstimate>{{},
                                           {.per_second = 300,
                                            .per_second_p10 = 250,
                                            .per_second_p90 = 390,
                                            .latency_ms = 20,
                                            .probability = 0.97,
                                            .cost = 2,
                                            .cost_mean = 2.1},
                                           {.per_second = 900,
                                            .per_second_p10 = 700,
                                            .per_second_p90 = 1000,
                                            .latency_ms = 9,
                                            .probability = 0.99,
                                            .cost = 1,
                                            .cost_mean = 1}};
  };
  call.explain = [](std::size_t) { return std::vector<tier::FeatureShare>{{"tflops", 0.8}, {"mean", -0.1}}; };
  return answer_of(std::move(call));
}

TEST(TierReport, BeginsWithWhatToTake) {
  const std::string page = render_tier_report(small_answer(), {});
  EXPECT_THAT(page, HasSubstr("<h1 id=\"headline\">Take a30: $4.00 per hour for 2 slices"));
  EXPECT_THAT(page, HasSubstr("<dd>450 requests per second within 100 ms</dd>"));
  EXPECT_THAT(page, HasSubstr("<dd>w&amp;x</dd>"));
  EXPECT_THAT(page, HasSubstr("t&lt;4"));
  EXPECT_THAT(page, Not(HasSubstr("t<4")));
  EXPECT_FALSE(testing::has_bad_number(page));
}

TEST(TierReport, SaysWhyATierIsExcludedAndWhatWasMeasured) {
  const std::string page = render_tier_report(small_answer(), {});
  EXPECT_THAT(page, HasSubstr("<b>excluded</b>: rule not it"));
  EXPECT_THAT(page, HasSubstr("<b>taken</b>; predicted"));
  EXPECT_EQ(count_of(page, R"(<td data-label="Verdict">measured</td>)"), 1U);
  EXPECT_THAT(page, HasSubstr("300 <small>250 to 390</small>"));
}

TEST(TierReport, DrawsWhatIsKnown) {
  tier::TierAnswer answer = small_answer();
  EXPECT_EQ(count_of(cost_probability_figure(answer), "<title>"), 3U);
  EXPECT_EQ(calibration_figure(answer), "");
  answer.coverage = {{.stated = 0.5, .found = 0.48}, {.stated = 0.8, .found = 0.83}};
  EXPECT_THAT(calibration_figure(answer), HasSubstr("stated 80 %: found 83.0 %"));
  answer.checks = {{.tier = 0, .predicted = {.median = 110, .p10 = 80, .p90 = 150}, .measured = 100}};
  EXPECT_THAT(throughput_figure(answer), HasSubstr("110 (80.0 to 150); 100 measured"));
  EXPECT_FALSE(testing::has_bad_number(render_tier_report(answer, {})));
}

TEST(TierReport, WithoutAForestOrAChoiceItHasNoEmptyParts) {
  tier::ChooseCall call = small_answer().call;
  call.estimate_at = {};
  call.explain = {};
  call.target.latency_ms = Decimal(10);  // no point is usable
  const std::string page = render_tier_report(answer_of(call), {});
  EXPECT_THAT(page, Not(HasSubstr("What the features add")));
  EXPECT_THAT(page, Not(HasSubstr("Calibration")));
  EXPECT_FALSE(testing::has_bad_number(page));
  for (const tier::Tier& tier : call.tiers) {
    call.rules->rules.push_back(
        {.name = "no " + tier.name, .bounds = call.rules->rules[0].bounds, .tier = tier.name, .is_exclusion = true});
  }
  EXPECT_THAT(render_tier_report(answer_of(call), {}), HasSubstr("Take none of these tiers."));
}

TEST(TierReport, NamesTheInstancesOfThePrices) {
  const std::vector<tier::PriceSource> offers = {{.tier = "a30",
                                                  .provider = "cloud",
                                                  .instance_type = "big.8x",
                                                  .region = "here",
                                                  .usd_per_gpu_hour = Decimal(2),
                                                  .share = Decimal(1, 4)}};
  EXPECT_THAT(render_tier_report(small_answer(), offers),
              HasSubstr("a30: big.8x of cloud in here, $2 per GPU and hour, share 0.25"));
}

}  // namespace
}  // namespace berth::report
