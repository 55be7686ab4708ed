#include "surface/pages/figure_html.h"

#include <gtest/gtest.h>

namespace berth::report {
namespace {

TEST(FigureHtml, ShowsTheColumnsWithALabel) {
  const figures::FigureTable table{
      .columns = {{.key = "only_json"},
                  {.heading = "policy", .label = "Policy"},
                  {.label = "Cost, $", .head = "Cost<br>$"}},
      .rows = {{.cells = {{}, {.text = "<a>"}, {.text = "3", .share = 0.5}}, .is_ours = true},
               {.cells = {{}, {.text = "b", .markup = "<i>b</i>"}, {}}},
               {.cells = {{}, {.text = "c"}, figures::empty_cell()}, .is_only_for_people = true}}};
  EXPECT_EQ(figure_heads(table), R"(<th scope="col">Policy</th><th scope="col">Cost<br>$</th>)");
  EXPECT_EQ(figure_rows(table),
            "<tr class=\"ours\"><th scope=\"row\">&lt;a&gt;</th><td data-label=\"Cost, $\"><span class=\"cell\">"
            "<i style=\"width:50.0%\"></i><b>3</b></span></td></tr>\n"
            "<tr><th scope=\"row\"><i>b</i></th><td data-label=\"Cost, $\"><span class=\"absent\">–</span></td></tr>\n"
            "<tr><th scope=\"row\">c</th><td data-label=\"Cost, $\"><span class=\"absent\">–</span></td></tr>\n");
}

}  // namespace
}  // namespace berth::report
