#include "sim/study/size_comparison.h"

#include <gtest/gtest.h>

namespace berth::study {
namespace {

PolicySize needing(std::string name, std::optional<std::int64_t> gpus, double effective, bool is_hindsight = false) {
  PolicySize size;
  size.name = std::move(name);
  size.is_hindsight = is_hindsight;
  size.gpus = gpus;
  size.is_smallest_proven = true;
  if (!gpus) size.infeasible = "no count";
  if (!gpus) return size;
  size.at_answer.emplace();
  size.at_answer->figures.utilisation.effective = effective;
  return size;
}

SizeResult result_of(std::vector<PolicySize> policies) {
  SizeResult result;
  result.policies = std::move(policies);
  return result;
}

TEST(SizeComparison, ReportsCostAndUse) {
  const SizeResult result =
      result_of({needing("shared", 4, 0.2), needing("paris", 3, 0.3), needing("whole", std::nullopt, 0)});
  const auto compared = compare_sizes(result, result.policies[1], "shared");
  ASSERT_TRUE(compared);
  EXPECT_DOUBLE_EQ(compared->cost_change, -0.25);
  EXPECT_DOUBLE_EQ(*compared->effective_ratio, 1.5);
}

TEST(SizeComparison, IsAbsentWithoutTwoCounts) {
  const SizeResult result = result_of({needing("shared", 4, 0), needing("paris", std::nullopt, 0)});
  EXPECT_FALSE(compare_sizes(result, result.policies[0], "shared"));
  EXPECT_FALSE(compare_sizes(result, result.policies[1], "shared"));
  EXPECT_FALSE(compare_sizes(result, result.policies[0], "whole"));
  const SizeResult unused = result_of({needing("shared", 4, 0), needing("paris", 2, 0)});
  EXPECT_FALSE(compare_sizes(unused, unused.policies[1], "shared")->effective_ratio);
}

TEST(SizeComparison, WordsAreHonestBothWays) {
  EXPECT_EQ(cost_words(-0.25), "25% less cost than");
  EXPECT_EQ(cost_words(0.5), "50% more cost than");
  EXPECT_EQ(cost_words(0), "the same cost as");
}

TEST(SizeComparison, TheHeadlineNamesTheBestThatCanRun) {
  EXPECT_EQ(size_headline(result_of({needing("shared", 4, 0.2), needing("whole", 6, 0.15, true),
                                     needing("static-best", 2, 0.4, true), needing("paris", 3, 0.3)})),
            "paris needs 3 GPUs, the fewest without hindsight: 25% less cost than shared (4 GPUs) at 1.50 times its "
            "effective utilisation, 50% less cost than whole (6 GPUs) at 2.00 times its effective utilisation. "
            "static-best, which knows the whole trace beforehand, needs 2 GPUs.");
}

TEST(SizeComparison, TheHeadlineReportsWhatIsWorseOrMissing) {
  EXPECT_EQ(size_headline(result_of({needing("whole", 2, 0.3, true), needing("paris", 3, 0.2)})),
            "paris needs 3 GPUs, the fewest without hindsight: 50% more cost than whole (2 GPUs) at 0.67 times its "
            "effective utilisation. whole, which knows the whole trace beforehand, needs 2 GPUs.");
  EXPECT_EQ(
      size_headline(result_of({needing("shared", std::nullopt, 0), needing("static-even", 1, 0.3)})),
      "static-even needs 1 GPU, the fewest without hindsight: shared does not reach the target with up to 64 GPUs.");
  EXPECT_EQ(size_headline(result_of({needing("shared", 3, 0.3)})),
            "shared needs 3 GPUs, the fewest without hindsight.");
  EXPECT_EQ(size_headline(result_of({needing("shared", std::nullopt, 0)})),
            "No policy reaches the target for every service with up to 64 GPUs.");
  EXPECT_EQ(size_headline(result_of({needing("shared", std::nullopt, 0), needing("whole", 4, 0.2, true)})),
            "No policy without hindsight reaches the target for every service with up to 64 GPUs. whole, which knows "
            "the whole trace "
            "beforehand, needs 4 GPUs.");
}

TEST(SizeComparison, TheHeadlineSpeaksOfThoseWhoWereAsked) {
  EXPECT_EQ(size_headline(result_of({needing("whole", 4, 0.2, true)})),
            "whole needs 4 GPUs, the fewest with hindsight.");
  SizeResult none = result_of({needing("whole", std::nullopt, 0, true)});
  none.options.gpus_max = 1;
  EXPECT_EQ(size_headline(none), "No policy reaches the target for every service with up to 1 GPU.");
  none.policies.front().is_smallest_proven = false;
  EXPECT_EQ(size_headline(none), "No policy reaches the target for every service with the counts tried up to 1 GPU.");
}

TEST(SizeComparison, TheHeadlineSaysWhatIsNotProven) {
  SizeResult result = result_of({needing("shared", 23, 0.3)});
  result.policies[0].is_smallest_proven = false;
  for (std::int64_t gpus = 1; gpus <= 15; ++gpus)
    result.policies[0].tried.push_back({.gpus = gpus, .holds = false, .seeds = {}});
  EXPECT_EQ(size_headline(result),
            "shared needs 23 GPUs (smallest of those tried; 7 counts below not tried), the fewest without hindsight.");
}

TEST(SizeComparison, APolicyThatBreaksTheIsolationIsNamedSecond) {
  SizeResult result = result_of({needing("shared", 2, 0.3), needing("static-even", 5, 0.2), needing("paris", 3, 0.3)});
  result.policies[0].at_answer->ignores = {{"a", ConstraintKind::kIsolation}};
  result.policies[1].at_answer->ignores = {{"a", ConstraintKind::kFloor}};
  result.policies[2].at_answer->ignores = {{"a", ConstraintKind::kTrustDomain}};
  EXPECT_EQ(size_headline(result),
            "static-even needs 5 GPUs (does not keep a.floor), the fewest without hindsight of those that keep the "
            "isolation: 150% more cost than shared (2 GPUs, does not keep a.isolation) at 0.67 times its effective "
            "utilisation. shared needs 2 GPUs (does not keep a.isolation).");
}

TEST(SizeComparison, ASavingByBreakingTheIsolationIsNone) {
  SizeResult result = result_of({needing("shared", 2, 0.3), needing("paris", 1, 0.3), needing("whole", 4, 0.1, true)});
  result.policies[0].at_answer->ignores = {{"a", ConstraintKind::kIsolation}};
  result.policies[1].at_answer->ignores = {{"a", ConstraintKind::kIsolation}};
  EXPECT_EQ(size_headline(result),
            "paris needs 1 GPU (does not keep a.isolation), the fewest without hindsight. whole, which knows the whole "
            "trace beforehand, needs 4 GPUs and keeps the isolation.");
}

TEST(SizeComparison, WhereNobodyKeepsTheIsolationTheHeadlineSaysSo) {
  SizeResult result = result_of({needing("paris", 3, 0.3), needing("static-best", 2, 0.3, true)});
  result.policies[0].at_answer->ignores = {{"a", ConstraintKind::kIsolation},
                                           {"b", ConstraintKind::kIsolation},
                                           {"c", ConstraintKind::kIsolation},
                                           {"d", ConstraintKind::kIsolation}};
  result.policies[1].at_answer->ignores = {{"a", ConstraintKind::kIsolation}};
  EXPECT_EQ(size_headline(result),
            "paris needs 3 GPUs (does not keep a.isolation, b.isolation and 2 more), the fewest without hindsight. "
            "static-best, which knows the whole trace beforehand, needs 2 GPUs (does not keep a.isolation).");
}

TEST(SizeComparison, OfEqualCountsMoreGoodputWins) {
  SizeResult result = result_of({needing("shared", 3, 0.3), needing("paris", 3, 0.3)});
  result.policies[1].at_answer->figures.goodput_mean_of_services = 0.5;
  EXPECT_TRUE(size_headline(result).starts_with("paris needs 3 GPUs"));
}

}  // namespace
}  // namespace berth::study
