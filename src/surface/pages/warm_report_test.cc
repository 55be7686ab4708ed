#include "surface/pages/warm_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// An app with a period of half an hour, and one of a single invocation.
AppTrace half_hours() {
  AppTrace trace{.minutes = 600,
                 .apps = {{.app = "half<hour>"}, {.app = "once", .invoked = {{7, 1}}, .invocations = 1}}};
  for (std::int64_t minute = 10; minute < 600; minute += 30) trace.apps[0].invoked.push_back({minute, 2});
  trace.apps[0].invocations = 2 * std::ssize(trace.apps[0].invoked);
  return trace;
}

std::string page_of(const AppTrace& trace, std::optional<warm::Memory> memory = std::nullopt) {
  const bool has_memory = memory.has_value();
  const warm::Problem problem{.trace = &trace, .memory = std::move(memory)};
  return render_warm_report("t<r>.csv", problem,
                            warm::run_policies(problem, warm::policies_named("all", has_memory).value()));
}

TEST(WarmReport, HasTheAnswerTheCurveAndAnApp) {
  const std::string page = page_of(half_hours());
  EXPECT_THAT(page, HasSubstr(R"(<h1 id="headline">At 30 idle minutes a cold start, berth costs )"));
  EXPECT_THAT(page, HasSubstr("t&lt;r&gt;.csv"));
  EXPECT_THAT(page, HasSubstr(R"(<th scope="row">optimal *</th>)"));
  EXPECT_THAT(page, HasSubstr(R"(class="curve")"));
  EXPECT_THAT(page, HasSubstr("half&lt;hour&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("half<hour>")));
  EXPECT_EQ(page, page_of(half_hours()));
}

TEST(WarmReport, LeavesOutWhatDoesNotApply) {
  const std::string page = page_of(half_hours(), warm::Memory{.mib = 10, .app_mib = {5, 5}});
  EXPECT_THAT(page, HasSubstr("In 10 MiB, berth has "));
  EXPECT_THAT(page, Not(HasSubstr(R"(class="curve")")));
  EXPECT_THAT(page_of({.minutes = 5, .apps = {}}), HasSubstr("The trace has no invocations."));
}

}  // namespace
}  // namespace berth::report
