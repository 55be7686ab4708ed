#include "sim/study/case_words.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::study {
namespace {

CaseStep step_of(std::string name, std::int64_t cost_micro_usd, std::optional<double> saves_of_first,
                 std::optional<double> saves_of_second) {
  CaseStep step{.name = std::move(name)};
  step.holds = true;
  step.cost_micro_usd = cost_micro_usd;
  step.saves_of_first = saves_of_first;
  step.saves_of_second = saves_of_second;
  return step;
}

CaseResult scaled_case() {
  return {.scenario = "s.yaml",
          .gpu_model = "A100-80GB",
          .simulated_seconds = 3600,
          .provision_seconds = 60,
          .usd_per_gpu_hour = Decimal(3673, 1000),
          .options = {},
          .steps = {step_of("whole-peak", 10'000'000, 0, -1), step_of("whole-tracking", 5'000'000, 0.5, 0),
                    step_of("scaling", 2'000'000, 0.8, 0.6)}};
}

TEST(CaseWords, SayWhatToDoAndWhatItSavesAgainstWhat) {
  EXPECT_EQ(
      case_verdict(scaled_case()),
      "Cut, rearrange and scale the GPUs by berth: $2.0000 instead of $10.0000 for whole GPUs at the peak (80.0% "
      "less) and $5.0000 for whole GPUs that follow the load (60.0% less). Every service keeps its share in time.");
  EXPECT_EQ(case_assumption(scaled_case()),
            "Assumed: the recorded arrivals; a price of $3.673 per GPU-hour, as given, of unknown age. Steps with "
            "hindsight were sized or tuned on this very run. Utilisation is over the GPU-time paid for.");
}

TEST(CaseWords, ACommitmentIsMarkedAsHindsight) {
  CaseResult result = scaled_case();
  result.options.committed_micro_usd_per_gpu_hour = 2'314'000;
  result.steps.push_back(step_of("commitments", 1'500'000, 0.85, 0.7));
  result.steps.back().how = "3 GPUs committed";
  EXPECT_NE(case_verdict(result).find(
                "(60.0% less); with 3 GPUs committed, a number found in hindsight, 85.0% less and 70.0% less. Every"),
            std::string::npos)
      << case_verdict(result);
  EXPECT_NE(case_assumption(result).find("$3.673 per GPU-hour, $2.3140 for one that is committed, as given"),
            std::string::npos)
      << case_assumption(result);
}

TEST(CaseWords, NothingIsPassedOver) {
  CaseResult result = scaled_case();
  result.steps[1].holds = false;
  result.steps[2].holds = false;
  result.steps[2].saves_of_second = -0.1;
  EXPECT_EQ(
      case_verdict(result),
      "Cut, rearrange and scale the GPUs by berth: $2.0000 instead of $10.0000 for whole GPUs at the peak (80.0% "
      "less) and $5.0000 for whole GPUs that follow the load (10.0% more, though those do not keep the share). But "
      "a service does not keep its share in time.");
  result.steps[0].infeasible = "no point";
  result.steps[2].saves_of_first = std::nullopt;
  EXPECT_EQ(case_verdict(result).find("Cut, rearrange and scale the GPUs by berth: $2.0000 instead of $5.0000 for"),
            0U);
  result.steps[2].infeasible = "no layout has a place for a";
  EXPECT_EQ(case_verdict(result), "No verdict: no layout has a place for a.");
  EXPECT_EQ(case_small_words(result), "");
  result.is_small = true;
  EXPECT_EQ(case_small_words(result).find("Small: "), 0U);
}

TEST(CaseWords, SharesAreRoundedDown) {
  EXPECT_EQ(floored_share(0.98999), "98.99%");
  EXPECT_EQ(floored_share(0.99), "99.00%");
  EXPECT_EQ(floored_share(0.9993), "99.93%");
  EXPECT_EQ(floored_share(1), "100.00%");
}

}  // namespace
}  // namespace berth::study
