#include "surface/cli/replay/replay_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "surface/cli/replay/sample_result.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(ReplayTable, IsAlignedAndSaysWhatIsMissing) {
  EXPECT_EQ(replay_table(sample::result(), {}),
            R"(dir/scenario.yaml: 1,200 s simulated, 1,234,567 requests, seed 7; the fleet costs $2.4487

              goodput    worst    share   requests   p50  p99   GPU-     cost   cost /      SM-time, %
policy         (mean)  service  in time    in time    ms   ms  hours           million  alloc>busy>eff  changes
shared         0.7000   0.1000   90.00%  1,111,111  12.3  180  0.667  $2.4487  $2.2038   100 > 62 > 50        4
static-best*        -        -        -          0     -    -      0        -        -       0 > 0 > 0        0
whole*              -        -        -          -     -    -      -        -        -               -        -

bound: no policy can exceed 0.9600; none that keeps services apart can exceed 0.9000
* works in hindsight: it knows the whole trace beforehand
whole cannot run: wanted 4 GPUs, one for each service; the fleet has 2
shared: MPS
not obeyed by shared, static-best: s.pins, s.floor
static-best: SM counts of 3g.40gb are estimated
More: --report DIR (a page with charts), --format json (every figure), --journal FILE (every event)
No verdict on berth, which was not replayed: --policies static-even,berth compares it with the even layout.
)");
}

TEST(ReplayTable, ShowsTheFleetOfEachRowAndWhatAddedGpusChange) {
  study::ReplayResult result = sample::result();
  result.recorded_fleet = {.policy = "recorded", .gpus = 4, .cost_micro_usd = 4'000'000};
  const auto row = [](std::string name, double in_time) {
    measure::PolicyResult policy;
    policy.name = std::move(name);
    policy.figures = sample::figures();
    policy.figures.slo_attainment = in_time;
    return policy;
  };
  result.policies = {row("recorded", 0.8), row("berth", 0.99), row("berth (recorded fleet)", 0.85)};
  result.policies[1].fleet = {.policy = "berth", .gpus = 6, .cost_micro_usd = 6'000'000};
  result.policies[2].fleet = {.policy = "berth", .gpus = 4, .cost_micro_usd = 4'000'000};
  const std::string table = replay_table(result, {});
  EXPECT_EQ(
      table.substr(table.find("\n\n") + 2, table.find("\n\nbound") - table.find("\n\n") - 2),
      R"(                  fleet  goodput    worst    share   requests   p50  p99     cost   cost /      SM-time, %
policy    GPUs    costs   (mean)  service  in time    in time    ms   ms           million  alloc>busy>eff  changes
recorded     4  $4.0000   0.7000   0.1000   80.00%  1,111,111  12.3  180  $2.4487  $2.2038   100 > 62 > 50        4
berth        6  $6.0000   0.7000   0.1000   99.00%  1,111,111  12.3  180  $2.4487  $2.2038   100 > 62 > 50        4
berth        4  $4.0000   0.7000   0.1000   85.00%  1,111,111  12.3  180  $2.4487  $2.2038   100 > 62 > 50        4)");
  EXPECT_NE(table.find("\nberth with 2 more GPUs: 99.00% in time instead of 85.00%, goodput 0.7000 instead of 0.7000, "
                       "for $2.0000 more\n"),
            std::string::npos)
      << table;
  EXPECT_LE(widest_line(table), kLineWidthMax);
}

TEST(ReplayTable, SaysHowLongPoliciesTookOnlyWhenAsked) {
  const study::ReplayResult result = sample::result();
  EXPECT_EQ(replay_table(result, {}).find("took"), std::string::npos);
  EXPECT_NE(replay_table(result, {.has_timings = true}).find("took: shared 0.25 s, static-best 0.00 s"),
            std::string::npos);
}

TEST(ReplayTable, HasColoursOnATerminalOnly) {
  const study::ReplayResult result = sample::result();
  EXPECT_EQ(replay_table(result, {}).find('\033'), std::string::npos);
  EXPECT_NE(replay_table(result, {.has_colour = true}).find("\033[1mshared "), std::string::npos);
}

TEST(ReplayTable, StressesNoPolicyWithHindsight) {
  study::ReplayResult result = sample::result();
  result.policies[1].figures.goodput_mean_of_services = 0.95;  // static-best
  const std::string text = replay_table(result, {.has_colour = true});
  EXPECT_NE(text.find("\033[1mshared "), std::string::npos) << text;
  EXPECT_EQ(text.find("\033[1mstatic-best"), std::string::npos) << text;
}

TEST(ReplayTable, EndsWithTheVerdict) {
  study::ReplayResult result = sample::result();
  result.policies[0].name = "berth";
  result.policies[1] = result.policies[0];
  result.policies[1].name = "static-even";
  const std::string text = replay_table(result, {});
  const std::size_t last = text.rfind("\nVerdict: a static layout is enough here: static-even has");
  ASSERT_NE(last, std::string::npos) << text;
  EXPECT_EQ(text.find("More:", last), std::string::npos) << text;
}

TEST(ReplayTable, FitsALineWithLargeFigures) {
  study::ReplayResult result = sample::result();
  for (measure::PolicyResult& policy : result.policies) {
    policy.infeasible.reset();
    policy.figures = sample::figures();
    policy.figures.requests = policy.figures.in_time = 999'999'999;
    policy.figures.gpu_seconds = 1000 * 86400.0;
    policy.figures.cost_micro_usd = 88'152'000'000;
    policy.figures.latency_p99_ms = 12'345.6;
    policy.figures.changes = 123'456;
    policy.notes = {std::string(100, 'a') + " " + std::string(100, 'b')};
  }
  EXPECT_LE(widest_line(replay_table(result, {})), kLineWidthMax);
}

TEST(ReplayTable, NamesCannotSteerTheTerminal) {
  study::ReplayResult result = sample::result();
  result.scenario = "a\033[2Jb";
  EXPECT_EQ(replay_table(result, {}).substr(0, 9), "a?[2Jb: 1");
}

}  // namespace
}  // namespace berth::cli
