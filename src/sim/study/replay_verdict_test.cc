#include "sim/study/replay_verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::study {
namespace {

measure::PolicyResult judged(std::string name, double goodput, std::int64_t changes = 0) {
  measure::PolicyResult result;
  result.name = std::move(name);
  result.figures.goodput_mean_of_services = goodput;
  result.figures.goodput = goodput / 2;
  result.figures.changes = changes;
  return result;
}

std::string verdict_on(std::vector<measure::PolicyResult> policies) {
  ReplayResult result;
  result.bound.any.goodput_mean_of_services = 1.0;
  result.bound.without_sharing.goodput_mean_of_services = 0.9;
  result.policies = std::move(policies);
  return replay_verdict(result);
}

TEST(ReplayVerdict, ComparesBerthWithTheEvenLayoutAndTheBound) {
  EXPECT_EQ(verdict_on({judged("static-even", 0.7), judged("berth", 0.81, 34)}),
            "Verdict: berth has a goodput of 0.8100, 11.0 points above the even layout (static-even, 0.7000) and 90.0 "
            "% of the bound (0.9000), with 34 changes.");
}

TEST(ReplayVerdict, SaysWhenAStaticLayoutIsEnough) {
  EXPECT_EQ(verdict_on({judged("static-even", 0.8999), judged("berth", 0.8995, 1)}),
            "Verdict: a static layout is enough here: static-even has a goodput of 0.8999, 100.0 % of the bound "
            "(0.9000); berth has 0.8995, with 1 change.");
  // Also one that is a little below berth, and one other than the even layout.
  EXPECT_NE(verdict_on({judged("static-even", 0.5), judged("fixed", 0.8), judged("berth", 0.8009)})
                .find("a static layout is enough here: fixed has"),
            std::string::npos);
  EXPECT_EQ(verdict_on({judged("static-even", 0.5), judged("fixed", 0.8), judged("berth", 0.8011)}).find("enough"),
            std::string::npos);
}

TEST(ReplayVerdict, IsNoPraiseWhereBerthIsWorse) {
  EXPECT_NE(verdict_on({judged("static-even", 0.85), judged("berth", 0.8, 20)}).find("a static layout is enough"),
            std::string::npos);
}

TEST(ReplayVerdict, NamesTheColumnsInWhichBerthIsWorse) {
  measure::PolicyResult even = judged("static-even", 0.7);
  measure::PolicyResult ours = judged("berth", 0.8, 2);
  even.figures.latency_p50_ms = ours.figures.latency_p50_ms = 12.3;
  even.figures.latency_p99_ms = 150;
  ours.figures.latency_p99_ms = 180;
  even.figures.slo_attainment = 0.95;
  ours.figures.slo_attainment = 0.9;
  even.figures.goodput_worst_service = 0.4;
  ours.figures.goodput_worst_service = 0.6;
  even.figures.cost_micro_usd = 2'000'000;
  ours.figures.cost_micro_usd = 3'000'000;
  EXPECT_NE(verdict_on({even, ours})
                .find("Worse than static-even (in brackets): share in time 90.00% (95.00%), p99 "
                      "180 ms (150 ms), cost $3.0000 ($2.0000)."),
            std::string::npos)
      << verdict_on({even, ours});
}

TEST(ReplayVerdict, NamesHigherPoliciesButNoneWithHindsight) {
  measure::PolicyResult known = judged("clairvoyant", 0.89);
  known.is_hindsight = true;
  measure::PolicyResult whole = judged("whole", 0.85);
  whole.is_hindsight = true;
  const std::string verdict =
      verdict_on({whole, judged("static-even", 0.7), judged("ekya", 0.82), judged("berth", 0.8), known});
  EXPECT_NE(verdict.find("More in this run: ekya (0.8200)."), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("clairvoyant"), std::string::npos) << verdict;
  EXPECT_EQ(verdict.find("whole"), std::string::npos) << verdict;
}

TEST(ReplayVerdict, SaysWhatIsMissing) {
  EXPECT_EQ(verdict_on({judged("static-even", 0.7)}).substr(0, 20), "No verdict on berth,");
  measure::PolicyResult even = judged("static-even", 0.7);
  even.infeasible = "no room";
  EXPECT_NE(verdict_on({even, judged("berth", 0.8)}).find("static-even cannot run here."), std::string::npos);
  EXPECT_NE(verdict_on({judged("berth", 0.8)}).find("static-even was not replayed."), std::string::npos);
  measure::PolicyResult ours = judged("berth", 0.8);
  ours.infeasible = "no room";
  EXPECT_EQ(verdict_on({judged("static-even", 0.7), ours}), "No verdict: berth cannot run here.");
  ours.infeasible.reset();
  ours.figures.goodput_mean_of_services.reset();
  EXPECT_EQ(verdict_on({judged("static-even", 0.7), ours}), "No verdict: no request arrived.");
}

TEST(ReplayVerdict, FollowsTheObjective) {
  ReplayResult result;
  result.objective = Objective::kRequests;
  result.policies = {judged("static-even", 0.6), judged("berth", 0.8)};
  EXPECT_NE(replay_verdict(result).find("berth has a goodput of 0.4000, 10.0 points above"), std::string::npos);
}

}  // namespace
}  // namespace berth::study
