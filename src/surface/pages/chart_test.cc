#include "surface/pages/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

TEST(Chart, PositionsHaveADecimalWhereItIsNeeded) {
  EXPECT_EQ(position(12), "12");
  EXPECT_EQ(position(12.34), "12.3");
  EXPECT_EQ(position(-0.01), "0");
}

TEST(Chart, RoundValuesAreMultiplesOfOneTwoOrFive) {
  EXPECT_THAT(round_values(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(round_values(47, 147, 9), ElementsAre(60, 80, 100, 120, 140));
  EXPECT_THAT(round_values(-3, 7, 4), ElementsAre(0, 5));
  EXPECT_THAT(round_values(0, 0.3, 4), Pointwise(::testing::DoubleNear(1e-12), {0.0, 0.1, 0.2, 0.3}));
}

TEST(Chart, AValueScaleEndsWithARoundValue) {
  const ChartFrame frame;
  const ChartScale y = value_scale(frame, 35);
  EXPECT_EQ(y.last, 40);
  EXPECT_EQ(y.at(0), frame.bottom);
  EXPECT_EQ(y.at(40), frame.top);
  EXPECT_EQ(value_scale(frame, 0).last, 1);  // nothing to draw, but still a valid scale
  const ChartScale point{.first = 3, .last = 3, .at_first = 10, .at_last = 20};
  EXPECT_EQ(point.at(3), 10);
}

TEST(Chart, AxisTextsAreShort) {
  EXPECT_EQ(axis_text(0, "$"), "$0");
  EXPECT_EQ(axis_text(2.5, ""), "2.5");
  EXPECT_EQ(axis_text(-43'591, "$"), "−$43,591");
}

TEST(Chart, TimesAreInTheUnitOfTheirDistance) {
  const ChartFrame frame;
  const auto axis = [&](double from, double to) {
    return time_axis(frame, {.first = from, .last = to, .at_first = frame.left, .at_last = frame.right});
  };
  EXPECT_THAT(axis(0, 60), HasSubstr(">10 s<"));
  EXPECT_THAT(axis(0, 3'600), HasSubstr(">10 min<"));
  EXPECT_THAT(axis(19'800, 23'400), HasSubstr(">5:40 h<"));
  EXPECT_THAT(axis(0, 52 * 3'600), HasSubstr(">48 h<"));
  EXPECT_THAT(axis(0, 70 * 86'400), HasSubstr(">50 d<"));
  EXPECT_THAT(axis(0, 40'000 * 86'400.0), HasSubstr(">5000 d<"));
}

TEST(Chart, ColumnsStayFewAndCoverEachItemOnce) {
  EXPECT_EQ(columns_for(5).columns(), 5U);
  EXPECT_EQ(columns_for(0).columns(), 0U);
  const ColumnPlan plan = columns_for(2'001);
  EXPECT_EQ(plan.per_column, 3);
  EXPECT_EQ(plan.columns(), 667U);
  EXPECT_EQ(plan.first(667), 2'001);
  EXPECT_EQ(columns_for(1'000'000'000).columns(), 1'000U);
}

TEST(Chart, AColumnIsTheMeanOfItsItems) {
  const std::vector<std::int64_t> items = {1, 2, 3, 4, 9};
  EXPECT_THAT(column_means({.items = 5, .per_column = 2}, items), ElementsAre(1.5, 3.5, 9));
}

constexpr ColumnPlan kFour = {.items = 4, .per_column = 1};
constexpr StepChart kSteps = {.plan = kFour,
                              .x = {.first = 0, .last = 4, .at_first = 0, .at_last = 40},
                              .y = {.first = 0, .last = 10, .at_first = 10, .at_last = 0}};

TEST(Chart, LinesChangeInSteps) {
  EXPECT_EQ(step_line(kSteps, "s", std::vector<double>{1, 1, 4, 2}), R"(<path class="s" d="M0 9H20V6H30V8H40"/>)");
}

TEST(Chart, AreasLeaveOutWhereThereIsNothing) {
  const std::vector<double> zero(4, 0);
  EXPECT_EQ(step_area(kSteps, "s", zero, std::vector<double>{2, 3, 0, 1}),
            R"(<path class="s" d="M0 10V8H10V7H20V10ZM30 10V9H40V10Z"/>)");
  EXPECT_EQ(step_area(kSteps, "s", std::vector<double>{1, 2, 2, 5}, std::vector<double>{5, 5, 6, 5}),
            R"(<path class="s" d="M0 9V5H20V4H30V8H10V9Z"/>)");
}

TEST(Chart, LabelsMoveApartWithinTheFrame) {
  EXPECT_THAT(spread_labels({50, 51, 10}, 14, 0, 100), ElementsAre(50, 64, 10));
  EXPECT_THAT(spread_labels({99, 100, 98}, 14, 0, 100), ElementsAre(86, 100, 72));
  EXPECT_THAT(spread_labels({}, 14, 0, 100), ElementsAre());
}

TEST(Chart, TextOfAFigureIsEscaped) {
  EXPECT_THAT(key_item("<i/>", "a<b"), HasSubstr("<i/></svg>a&lt;b</li>"));
  EXPECT_THAT(chart_figure({.title = "", .remark = "", .label = "\"x\"", .height = 9, .svg = ""}),
              HasSubstr("aria-label=\"&quot;x&quot;\""));
}

}  // namespace
}  // namespace berth::report
