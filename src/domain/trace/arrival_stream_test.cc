#include "domain/trace/arrival_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "domain/trace/readers.h"

namespace berth {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSeed = 11;

std::vector<std::int64_t> counts_of(const Arrivals& arrivals, std::uint64_t seed = kSeed) {
  const ArrivalStream stream(arrivals, Rng(seed));
  std::vector<std::int64_t> counts;
  for (std::int64_t second = -arrivals.from_second; second < arrivals.seconds; ++second) {
    counts.push_back(stream.count(second));
  }
  return counts;
}

std::vector<std::uint32_t> offsets_of(const ArrivalStream& stream, std::int64_t second) {
  std::vector<std::uint32_t> offsets;
  stream.offsets(second, offsets);
  return offsets;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(const std::vector<std::int64_t>& counts) {
  const auto size = static_cast<double>(counts.size());
  double sum = 0;
  for (const std::int64_t count : counts) sum += static_cast<double>(count);
  const double mean = sum / size;
  double squares = 0;
  for (const std::int64_t count : counts)
    squares += (static_cast<double>(count) - mean) * (static_cast<double>(count) - mean);
  return {.mean = mean, .variance = squares / (size - 1)};
}

Decimal decimal(std::string_view text) { return Decimal::parse(text).value(); }

Arrivals generated(Generator::Kind kind, std::string_view rate, std::int64_t seconds) {
  return {.source = Generator{.kind = kind, .requests_per_second = decimal(rate)}, .seconds = seconds};
}

TEST(ArrivalStream, GivesCountsAsTheyAreAtScaleOne) {
  const Arrivals arrivals{.source = CountTrace{{1, 0, 3, 4, 5}}, .from_second = 2, .seconds = 2};
  EXPECT_THAT(counts_of(arrivals), ElementsAre(1, 0, 3, 4));
  EXPECT_EQ(counts_of(arrivals), counts_of(arrivals, 12));
}

TEST(ArrivalStream, KnowsWhereTraceAndWindowEnd) {
  const Arrivals arrivals{.source = CountTrace{{1, 0, 3, 4, 5}}, .from_second = 2, .seconds = 10};
  const ArrivalStream stream(arrivals, Rng(kSeed));
  struct Case {
    std::int64_t second = 0;
    std::int64_t count = 0;
    bool has_history = false;
  };
  for (const Case& wanted :
       {Case{INT64_MIN, 0, false}, Case{-3, 0, false}, Case{-2, 1, true}, Case{-1, 0, true}, Case{0, 3, true},
        Case{2, 5, true}, Case{3, 0, false}, Case{10, 0, false}, Case{INT64_MAX, 0, false}}) {
    EXPECT_EQ(stream.count(wanted.second), wanted.count) << wanted.second;
    EXPECT_EQ(stream.has_history(wanted.second), wanted.has_history) << wanted.second;
    EXPECT_EQ(std::ssize(offsets_of(stream, wanted.second)), wanted.count) << wanted.second;
  }
  const Arrivals narrow{.source = CountTrace{{1, 0, 3, 4, 5}}, .from_second = 2, .seconds = 2};
  EXPECT_EQ(ArrivalStream(narrow, Rng(kSeed)).count(2), 0);
}

TEST(ArrivalStream, KeepsRecordedTimesAtScaleOne) {
  const Arrivals arrivals{.source = TimedTrace{.requests = {{.at_us = 680'590},
                                                            {.at_us = 999'999},
                                                            {.at_us = 3'000'000},
                                                            {.at_us = 3'000'000},
                                                            {.at_us = 3'000'001},
                                                            {.at_us = 5'999'999}},
                                               .seconds = 6},
                          .from_second = 1,
                          .seconds = 20};
  const ArrivalStream stream(arrivals, Rng(kSeed));
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_THAT(offsets_of(stream, 2), ElementsAre(0, 0, 1));
    EXPECT_THAT(offsets_of(stream, -1), ElementsAre(680'590, 999'999));
    EXPECT_THAT(offsets_of(stream, 0), IsEmpty());
    EXPECT_THAT(offsets_of(stream, 4), ElementsAre(999'999));
    EXPECT_THAT(offsets_of(stream, 5), IsEmpty());
  }
  EXPECT_THAT(counts_of(arrivals), ElementsAre(2, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(ArrivalStream, SpreadsTheCallsOfEachMinuteOverIt) {
  const Arrivals arrivals{.source = MinuteTrace{{60'000, 0, 7}}, .from_second = 60, .seconds = 120};
  const std::vector<std::int64_t> counts = counts_of(arrivals);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.begin() + 60, 0L), 60'000);
  EXPECT_EQ(std::accumulate(counts.begin() + 60, counts.begin() + 120, 0L), 0);
  EXPECT_EQ(std::accumulate(counts.begin() + 120, counts.end(), 0L), 7);
  // Chi square with 59 degrees of freedom: 99.9 % lie below 98.3, 0.1 % below 31.7.
  double chi_square = 0;
  for (int second = 0; second < 60; ++second) {
    const double difference = static_cast<double>(counts[static_cast<std::size_t>(second)]) - 1000;
    chi_square += difference * difference / 1000;
  }
  EXPECT_LT(chi_square, 98.3);
  EXPECT_GT(chi_square, 31.7);
}

TEST(ArrivalStream, DrawsAScaledTraceAroundItsSmoothedMean) {
  // Steps of 10 and 30: far from the step the mean is scale x the level, on it the average of both.
  CountTrace trace;
  trace.counts.assign(40'000, 10);
  trace.counts.resize(80'000, 30);
  const Arrivals arrivals{.source = trace, .seconds = 80'000, .scale = decimal("2.5"), .smooth_seconds = 20'000};
  const std::vector<std::int64_t> counts = counts_of(arrivals);
  const auto moments = [&](std::int64_t begin) {
    return moments_of({counts.begin() + begin, counts.begin() + begin + 20'000});
  };
  // Standard error of the mean: sqrt(25 / 20000) = 0.035; of the variance: 25 x sqrt(2 / 20000) = 0.25.
  EXPECT_NEAR(moments(0).mean, 25, 0.14);
  EXPECT_NEAR(moments(0).variance, 25, 1);
  EXPECT_NEAR(moments(30'000).mean, 50, 0.2);
  EXPECT_NEAR(moments(60'000).mean, 75, 0.25);
  EXPECT_NEAR(moments(60'000).variance, 75, 3);
}

TEST(ArrivalStream, DrawsNothingBeyondAScaledTrace) {
  const Arrivals arrivals{.source = CountTrace{{1000, 1000}}, .seconds = 4, .scale = Decimal(2), .smooth_seconds = 60};
  const ArrivalStream stream(arrivals, Rng(kSeed));
  EXPECT_GT(stream.count(1), 0);
  EXPECT_EQ(stream.count(2), 0);
  EXPECT_FALSE(stream.has_history(2));
}

TEST(ArrivalStream, ScalesMinutesAndTimesLikeCounts) {
  TimedTrace timed{.requests = {}, .seconds = 20'000};
  for (std::int64_t second = 0; second < 20'000; ++second)
    timed.requests.resize(timed.requests.size() + 4, {second * 1'000'000});
  MinuteTrace minutes;
  minutes.counts.assign(334, 240);
  for (const auto& source : {decltype(Arrivals::source)(timed), decltype(Arrivals::source)(minutes)}) {
    const Arrivals arrivals{.source = source, .seconds = 20'000, .scale = decimal("0.5")};
    const Moments moments = moments_of(counts_of(arrivals));
    EXPECT_NEAR(moments.mean, 2, 0.04);
    EXPECT_NEAR(moments.variance, 2, 0.08);
  }
}

TEST(ArrivalStream, SpacesConstantArrivalsEvenly) {
  Arrivals arrivals = generated(Generator::Kind::kConstant, "2", 3);
  arrivals.scale = decimal("1.5");
  EXPECT_THAT(counts_of(arrivals), ElementsAre(3, 3, 3));
  const ArrivalStream stream(arrivals, Rng(kSeed));
  EXPECT_THAT(offsets_of(stream, 1), ElementsAre(0, 333'333, 666'666));
  EXPECT_THAT(counts_of(generated(Generator::Kind::kConstant, "0", 2)), ElementsAre(0, 0));
}

TEST(ArrivalStream, DrawsPoissonArrivals) {
  for (const auto& [rate, mean] : {std::pair{"0.25", 0.25}, std::pair{"7.5", 7.5}, std::pair{"400", 400.0}}) {
    const Moments moments = moments_of(counts_of(generated(Generator::Kind::kPoisson, rate, 50'000)));
    // Four standard errors; the fourth central moment of the distribution is mean (1 + 3 mean).
    EXPECT_NEAR(moments.mean, mean, 4 * std::sqrt(mean / 50'000));
    EXPECT_NEAR(moments.variance, mean, 4 * std::sqrt((mean + 2 * mean * mean) / 50'000));
  }
}

TEST(ArrivalStream, DrawsBurstyArrivalsWithTheMeanAndMoreNoise) {
  const Moments moments = moments_of(counts_of(generated(Generator::Kind::kBursty, "10", 400'000)));
  // The rate has variance 100 and a correlation time of 12 s: standard error of the mean 10 x sqrt(24 / 400000) = 0.08.
  EXPECT_NEAR(moments.mean, 10, 0.31);
  // 10 from the Poisson distribution, and 100 from the rate less the effect of averaging over each second (about 3 %).
  EXPECT_NEAR(moments.variance, 107, 6);
}

TEST(ArrivalStream, DrawsDiurnalArrivalsWithTheMean) {
  const std::vector<std::int64_t> counts = counts_of(generated(Generator::Kind::kDiurnal, "20", 100'000));
  EXPECT_NEAR(moments_of(counts).mean, 20, 0.06);
  EXPECT_LT(moments_of({counts.begin(), counts.begin() + 5'000}).mean, 6);
  EXPECT_GT(moments_of({counts.begin() + 40'000, counts.begin() + 45'000}).mean, 30);
}

TEST(ArrivalStream, PutsRequestsUniformlyIntoTheirSecond) {
  const Arrivals arrivals = generated(Generator::Kind::kPoisson, "1000", 200);
  const ArrivalStream stream(arrivals, Rng(kSeed));
  std::array<int, 100> tally{};
  int request_count = 0;
  for (std::int64_t second = 0; second < 200; ++second) {
    for (const std::uint32_t offset : offsets_of(stream, second)) {
      ++tally[offset / 10'000];
      ++request_count;
    }
  }
  // Chi square with 99 degrees of freedom: 99.9 % lie below 148.2, 0.1 % below 61.1.
  double chi_square = 0;
  const double wanted = request_count / 100.0;
  for (const int found : tally) chi_square += (found - wanted) * (found - wanted) / wanted;
  EXPECT_LT(chi_square, 148.2);
  EXPECT_GT(chi_square, 61.1);
}

TEST(ArrivalStream, SeesTheSameRequestsThroughAnotherWindow) {
  const Arrivals early = generated(Generator::Kind::kPoisson, "50", 100);
  Arrivals late = early;
  late.from_second = 40;
  const ArrivalStream early_stream(early, Rng(kSeed));
  const ArrivalStream late_stream(late, Rng(kSeed));
  EXPECT_EQ(offsets_of(early_stream, 60), offsets_of(late_stream, 20));
  EXPECT_EQ(offsets_of(early_stream, 0), offsets_of(late_stream, -40));
  EXPECT_NE(offsets_of(early_stream, 60), offsets_of(ArrivalStream(early, Rng(kSeed + 1)), 60));
}

TEST(ArrivalStream, NeverChangesWhatASeedGives) {
  EXPECT_THAT(counts_of(generated(Generator::Kind::kPoisson, "5", 8)), ElementsAre(3, 5, 8, 6, 4, 4, 1, 1));
  EXPECT_THAT(counts_of(generated(Generator::Kind::kBursty, "5", 8)), ElementsAre(1, 3, 2, 3, 1, 0, 1, 1));
  EXPECT_THAT(counts_of(generated(Generator::Kind::kDiurnal, "5", 8)), ElementsAre(1, 4, 10, 8, 6, 5, 1, 0));
  const Arrivals minutes{.source = MinuteTrace{{20}}, .seconds = 4};
  EXPECT_THAT(counts_of(minutes), ElementsAre(0, 0, 1, 1));
  const Arrivals counts{.source = CountTrace{{4}}, .seconds = 1};
  EXPECT_THAT(offsets_of(ArrivalStream(counts, Rng(kSeed)), 0), ElementsAre(186'767, 330'135, 521'407, 960'438));
}

TEST(FindOverload, AcceptsWhatStaysWithinTheLimit) {
  EXPECT_EQ(find_overload(generated(Generator::Kind::kConstant, "10000000", 1)), std::nullopt);
  EXPECT_EQ(find_overload(generated(Generator::Kind::kBursty, "3333333", 1)), std::nullopt);
  const Arrivals unscaled{.source = CountTrace{{10'000'000}}, .seconds = 1};
  EXPECT_EQ(find_overload(unscaled), std::nullopt);
  // The mean over three seconds is what counts, not the highest second.
  const Arrivals smoothed{
      .source = CountTrace{{0, 3, 0, 0}}, .seconds = 1, .scale = Decimal(6'666'666), .smooth_seconds = 3};
  EXPECT_EQ(find_overload(smoothed), std::nullopt);
}

TEST(FindOverload, SaysWhatIsTooMuch) {
  struct Case {
    Arrivals arrivals;
    std::string message;
  };
  Arrivals scaled = generated(Generator::Kind::kConstant, "10000000", 1);
  scaled.scale = decimal("1.0000000001");
  const std::string wanted = "wanted at most 10000000 requests in a second, found ";
  const std::vector<Case> cases = {
      {generated(Generator::Kind::kPoisson, "10000001", 1), wanted + "up to 10000001 after scaling by 1"},
      {generated(Generator::Kind::kDiurnal, "4e6", 1), wanted + "up to 12000000 after scaling by 1"},
      {scaled, wanted + "up to 10000000.001 after scaling by 1.0000000001"},
      {{.source = CountTrace{{0, 3, 3, 0}}, .seconds = 1, .scale = Decimal(6'666'667), .smooth_seconds = 3},
       wanted + "a mean of 13333334 around second 1 after scaling by 6666667"},
      {{.source = MinuteTrace{{0, 60}}, .seconds = 1, .scale = decimal("1e30"), .smooth_seconds = 1},
       wanted + "a mean of 1e+30 around second 60 after scaling by 1e+30"},
      {{.source = TimedTrace{.requests = {{.at_us = 5'000'000}}, .seconds = 6},
        .seconds = 1,
        .scale = Decimal(20'000'000),
        .smooth_seconds = 1},
       wanted + "a mean of 20000000 around second 5 after scaling by 20000000"},
  };
  for (const Case& bad : cases) EXPECT_EQ(find_overload(bad.arrivals), bad.message);
}

}  // namespace
}  // namespace berth
