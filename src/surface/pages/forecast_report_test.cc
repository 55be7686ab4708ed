#include "surface/pages/forecast_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

forecast::BacktestResult five_models() {
  forecast::BacktestResult result{.plan = {.from_second = 10, .seconds = 1'000, .horizon = 200, .every = 50},
                                  .origins = 20,
                                  .judged_seconds = 3'500,
                                  .models = {},
                                  .picture = {}};
  double pinball = 3;
  for (const forecast::Model model : forecast::kModels) {
    pinball -= 0.25;
    result.models.push_back(
        {.model = model, .wape = 0.125, .pinball = pinball, .coverage_80 = 0.79, .coverage_95 = 0.944});
  }
  for (std::int64_t second = 10; second < 710; ++second) {
    result.picture.push_back(
        {.second = second, .lead = 1, .arrived = 7, .quantiles = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}});
  }
  return result;
}

TEST(ForecastReport, ShowsModelsBandsAndTheHeadline) {
  const std::string page = render_forecast_report("t.txt", five_models());
  EXPECT_THAT(page, HasSubstr("79 % of the arrivals were in the combination's 80 % band"));
  EXPECT_THAT(page, HasSubstr("0.875 times that of the best single model, bursty"));
  for (const forecast::Model model : forecast::kModels) {
    EXPECT_THAT(page, HasSubstr("data-model=\"" + std::string(forecast::name_of(model)) + "\""));
  }
  EXPECT_THAT(page, HasSubstr("12.5 %"));
  EXPECT_THAT(page, HasSubstr("class=\"band80\""));
  // 700 seconds are drawn in two pictures.
  std::size_t figures = 0;
  for (std::size_t at = page.find("<figure>"); at != std::string::npos; at = page.find("<figure>", at + 1)) ++figures;
  EXPECT_EQ(figures, 2U);
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_EQ(page, render_forecast_report("t.txt", five_models()));
}

TEST(ForecastReport, AbsentFiguresAreADashAndNamesAreText) {
  forecast::BacktestResult result = five_models();
  for (forecast::ModelScore& score : result.models) {
    score.wape = std::nullopt;
    score.pinball = 0;
  }
  const std::string page = render_forecast_report("<b>&\"", result);
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&amp;&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>&\"")));
  EXPECT_THAT(page, HasSubstr(R"(<span class="absent">–</span>)"));
  EXPECT_EQ(page.find(">nan"), std::string::npos);
}

}  // namespace
}  // namespace berth::report
