#include "models/probing/latency.h"

#include <gtest/gtest.h>

#include "base/core/rng.h"
#include "models/probing/testing/fake_probed_model.h"

namespace berth::models {
namespace {

using berth::testing::FakeTimedModel;

/// Two models and a clock that only they move.
struct Bench {
  double clock_us = 0;
  FakeTimedModel original;
  FakeTimedModel variant;

  Bench(std::function<Result<double>()> original_us, std::function<Result<double>()> variant_us)
      : original(clock_us, std::move(original_us)), variant(clock_us, std::move(variant_us)) {}

  Result<LatencyMeasured> measure(const LatencyOptions& options) {
    return measure_latency(original, variant, {}, options,
                           [this] { return Instant(static_cast<std::int64_t>(clock_us)); });
  }
};

std::function<Result<double>()> always(double us) {
  return [us]() -> Result<double> { return us; };
}

TEST(Latency, EndsWhenEnoughIsKnown) {
  Bench bench(always(10), always(5));
  const LatencyMeasured measured = bench.measure({.budget = Micros::seconds(10)}).value();
  EXPECT_EQ(measured.ratio, (LatencyRatio{.ratio = 0.5, .low = 0.5, .high = 0.5}));
  EXPECT_EQ(measured.original_us, 10);
  EXPECT_EQ(measured.variant_us, 5);
  EXPECT_EQ(measured.rounds, 5);
  EXPECT_TRUE(measured.is_settled);
}

TEST(Latency, ATurnIsLongEnoughForTheClock) {
  Bench bench(always(10), always(0.001));
  ASSERT_TRUE(bench.measure({}));
  EXPECT_EQ(bench.original.calls().back(), 64);
  EXPECT_EQ(bench.variant.calls().back(), 1 << 19);
  Bench slow(always(2000), always(1e-9));
  ASSERT_TRUE(slow.measure({}));
  EXPECT_EQ(slow.original.calls(), std::vector<int>(12, 1)) << "two to warm up, and two in each of five rounds";
  EXPECT_EQ(slow.variant.calls().back(), 1 << 20) << "there is a limit";
}

TEST(Latency, NoiseTakesRoundsUpToTheMost) {
  Rng rng(1);
  const auto noisy = [&rng](double us) { return [&rng, us]() -> Result<double> { return us * (1 + rng.unit()); }; };
  Bench bench(noisy(1000), noisy(900));
  const LatencyMeasured measured = bench.measure({.rounds_max = 40, .budget = Micros::seconds(1000)}).value();
  EXPECT_EQ(measured.rounds, 40);
  EXPECT_TRUE(measured.is_settled);
  EXPECT_LT(measured.ratio.low, 0.9);
  EXPECT_GT(measured.ratio.high, 0.9);
  EXPECT_GT(measured.ratio.high - measured.ratio.low, 0.02);
}

TEST(Latency, TheBudgetEndsItAfterTheFewestRounds) {
  Rng rng(1);
  const auto noisy = [&rng]() -> Result<double> { return 1000 * (1 + rng.unit()); };
  Bench none(noisy, noisy);
  const LatencyMeasured few = none.measure({}).value();
  EXPECT_EQ(few.rounds, 5);
  EXPECT_FALSE(few.is_settled);
  Bench some(noisy, noisy);
  const LatencyMeasured more = some.measure({.budget = Micros(100'000)}).value();
  EXPECT_GT(more.rounds, 12);
  EXPECT_LT(more.rounds, 22);
  EXPECT_FALSE(more.is_settled);
}

TEST(Latency, ADriftOfTheMachineDoesNotMatter) {
  double factor = 1;
  const auto drifting = [&factor](double us) {
    return [&factor, us]() -> Result<double> { return us * (factor *= 1.001); };
  };
  Bench bench(drifting(1000), drifting(800));
  const LatencyMeasured measured = bench.measure({.budget = Micros::seconds(100)}).value();
  EXPECT_NEAR(measured.ratio.ratio, 0.8, 0.001);
}

TEST(Latency, PassesErrorsOn) {
  int left = 9;
  const auto failing = [&left]() -> Result<double> {
    if (left-- > 0) return 1000;
    return fail(ErrorCode::kInterrupted, "the run was stopped");
  };
  Bench bench(failing, failing);
  EXPECT_EQ(bench.measure({}).error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace berth::models
