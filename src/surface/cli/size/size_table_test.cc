#include "surface/cli/size/size_table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "surface/cli/shared/text_table.h"
#include "surface/cli/size/sample_sizes.h"

namespace berth::cli {
namespace {

TEST(SizeTable, ComparesAndSaysWhatIsMissing) {
  study::SizeResult result = sample::sizes();
  result.scenario = "s.yaml";
  EXPECT_EQ(size_table(result, false),
            "s.yaml: how many A100-80GB answer 99% of each service's requests in time; 1,200 s simulated, seeds 1, 2, "
            "at most 4 GPUs\n"
            R"(
                               cost vs  cost vs      SM-time, %  effective  effective  worst share  goodput
policy  GPUs  stable     cost   shared    whole  alloc>busy>eff  vs shared   vs whole      in time   (mean)
shared   <=4       -  $9.7947        -     +33%   100 > 62 > 50          -      0.67x       99.50%   0.7000
whole*     3      no        -     -25%        -   100 > 80 > 75      1.50x          -            -   0.7000
paris      -       -        -        -        -               -          -          -            -        -

shared needs 4 GPUs (smallest of those tried; 2 counts below not tried), the fewest without hindsight: 33% more cost
  than whole (3 GPUs) at 0.67 times its effective utilisation. whole, which knows the whole trace beforehand, needs 3
  GPUs (does not keep s.floor).

* works in hindsight: it knows the whole trace beforehand
shared: smallest of those tried; 2 counts below not tried
whole: not stable: with each of the seeds 1, 2 alone, 2, 3 GPUs would suffice
paris: no count up to 4 GPUs reaches the target for every service; best: 50.00% of s in time, with 4 GPUs
shared: MPS
not obeyed by whole: s.floor
whole: SM counts of 3g.40gb are estimated
counts tried, with the share in time of the worst service (ok: the target is reached with every seed):
shared  3: 98.99%, 4: 99.00% ok
whole  1: cannot run, 2: 50.00%, 3: 100.00% ok
paris  4: 50.00%
Figures are of the first seed. More: --format json, --report DIR (a page)
)");
}

TEST(SizeTable, IdeasStandOneBelowTheOther) {
  study::SizeResult result = sample::sizes();
  result.usd_per_gpu_hour = Decimal(3673, 1000);
  result.ideas = {{.adds = "whole GPUs", .without = {}, .size = result.policies[0]},
                  {.adds = "slices", .without = {}, .size = result.policies[1]},
                  {.adds = "forecasts", .without = {}, .size = result.policies[0]},
                  {.adds = "none", .without = {}, .size = result.policies[2]}};
  const std::string text = size_table(result, false);
  EXPECT_NE(text.find(R"(
                                                change  worst share
ideas, added one by one  GPUs  cost an hour    of GPUs      in time
whole GPUs                <=4      $14.6920          -       99.50%
+ slices*                   3      $11.0190  -1 (-25%)            -
+ forecasts               <=4      $14.6920  +1 (+25%)       99.50%
+ none                      -             -          -            -
none: no count up to 4 GPUs reaches the target for every service; best: 50.00% of s in time, with 4 GPUs
)"),
            std::string::npos)
      << text;
}

TEST(SizeTable, ManyCountsAreShortened) {
  study::SizeResult result = sample::sizes();
  study::PolicySize& paris = result.policies[2];
  paris.tried.clear();
  for (std::int64_t gpus = 1; gpus <= 60; ++gpus) {
    study::SeedTrial trial = sample::trial(1, 2, false);
    if (gpus <= 3 || gpus == 5) trial = {.holds = false, .infeasible = "needs more", .worst = std::nullopt};
    paris.tried.push_back({.gpus = gpus, .holds = false, .seeds = {trial}});
  }
  const std::string text = size_table(result, false);
  EXPECT_NE(text.find("paris  1 to 3: cannot run, 4: 50.00%, 5: cannot run, 6: 50.00%, ... 38 more ..., 45: 50.00%"),
            std::string::npos)
      << text;
}

TEST(SizeTable, HasColoursOnATerminalOnly) {
  EXPECT_EQ(size_table(sample::sizes(), false).find('\033'), std::string::npos);
  EXPECT_NE(size_table(sample::sizes(), true).find("\033[2mFigures are"), std::string::npos);
}

TEST(SizeTable, FitsALineAndNamesCannotSteerTheTerminal) {
  study::SizeResult result = sample::sizes();
  result.scenario = "a\033[2Jb" + std::string(60, 'c');
  for (study::PolicySize& policy : result.policies) {
    for (int i = 0; i < 20; ++i) policy.tried.push_back(policy.tried.back());
    if (policy.gpus) policy.cost_micro_usd = 88'152'000'000;
  }
  result.policies[0].gpus = 99'999;
  result.policies[0].tried.back().gpus = 99'999;
  const std::string text = size_table(result, false);
  EXPECT_EQ(text.substr(0, 6), "a?[2Jb");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kLineWidthMax) << line;
}

}  // namespace
}  // namespace berth::cli
