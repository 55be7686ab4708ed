#include "tier/estimate/estimator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tier/estimate/testing/synthetic_table.h"
#include "tier/values/attained.h"

namespace berth::tier {
namespace {

using testing::known_on;
using testing::synthetic_jobs;
using testing::synthetic_services;

constexpr std::size_t kTiers = 4;

Estimator trained(const TierTable& table) {
  const Result<Estimator> estimator = Estimator::train(table, {}, {.trees = 30});
  if (!estimator) ADD_FAILURE() << estimator.error().message;
  return *estimator;
}

/// Of 25 groups.
const Estimator& well_trained() {
  static const Estimator kEstimator = trained(synthetic_jobs(25, 3));
  return kEstimator;
}

TierTarget rate(double per_second) { return {.per_second = Decimal(std::llround(per_second * 1000), 1000)}; }

double attained_of(const TierWorkload& workload, std::size_t tier) {
  return workload.points[tier].front().samples_per_second.to_double();
}

TEST(Estimator, TheSameTableGivesTheSameBytes) {
  const TierTable table = synthetic_jobs(6, 1);
  EXPECT_EQ(trained(table).write(), trained(table).write());
  const Result<Estimator> other = Estimator::train(table, {}, {.seed = 2, .trees = 30});
  ASSERT_TRUE(other);
  EXPECT_NE(other->write(), trained(table).write());
}

TEST(Estimator, GroupsThatAreLeftOutTeachNothing) {
  const TierTable table = synthetic_jobs(6, 1);
  TierTable without = table;
  std::erase_if(without.workloads, [](const TierWorkload& workload) { return workload.group == "g2"; });
  const Result<Estimator> left_out = Estimator::train(table, std::vector<std::string>{"g2"}, {.trees = 30});
  ASSERT_TRUE(left_out);
  EXPECT_EQ(left_out->write(), trained(without).write());
  EXPECT_EQ(left_out->trained_on().groups.size(), 5U);
  EXPECT_EQ(left_out->trained_on().workload_count, 10U);
  EXPECT_EQ(left_out->trained_on().row_count, 10U * kTiers * (kTiers - 1));
}

TEST(Estimator, AMeasuredTierIsNotPredicted) {
  const Estimator estimator = trained(synthetic_jobs(6, 1));
  const TierWorkload workload = synthetic_jobs(1, 9).workloads.front();
  const TierTarget target{.per_second = workload.points[1].front().samples_per_second};
  const std::vector<TierEstimate> estimates = estimator.estimate(known_on(workload, {0, 1}), target);
  ASSERT_EQ(estimates.size(), kTiers);
  for (const std::size_t tier : {0U, 1U}) {
    EXPECT_TRUE(estimates[tier].is_measured);
    EXPECT_EQ(estimates[tier].per_second, attained_of(workload, tier));
    EXPECT_EQ(estimates[tier].per_second_p10, estimates[tier].per_second_p90);
    EXPECT_EQ(estimates[tier].probability, tier == 0 ? 0 : 1) << "exactly the target is enough";
    EXPECT_NEAR(estimates[tier].cost, static_cast<double>(tier + 1) / attained_of(workload, tier), 1e-12);
  }
  for (const std::size_t tier : {2U, 3U}) {
    EXPECT_FALSE(estimates[tier].is_measured);
    EXPECT_LT(estimates[tier].per_second_p10, estimates[tier].per_second);
    EXPECT_LT(estimates[tier].per_second, estimates[tier].per_second_p90);
    EXPECT_GT(estimates[tier].probability, 0.5);
    EXPECT_LT(estimates[tier].probability, 1);
    EXPECT_TRUE(std::is_sorted(estimates[tier].costs.rbegin(), estimates[tier].costs.rend())) << "cheapest last";
  }
}

/// How often fresh workloads are within [p10, p90], and the mean of |log(median / truth)| on the last tier.
struct Quality {
  double within = 0;
  double error = 0;
};

Quality quality(const Estimator& estimator, std::initializer_list<std::size_t> known) {
  const TierTable fresh = synthetic_jobs(60, 77, "fresh");
  Quality quality;
  double count = 0;
  for (const TierWorkload& workload : fresh.workloads) {
    const std::vector<TierEstimate> estimates = estimator.estimate(known_on(workload, known), rate(1));
    const double truth = attained_of(workload, 3);
    quality.within += truth >= estimates[3].per_second_p10 && truth <= estimates[3].per_second_p90 ? 1 : 0;
    quality.error += std::fabs(std::log(estimates[3].per_second / truth));
    count += 1;
  }
  return {.within = quality.within / count, .error = quality.error / count};
}

TEST(Estimator, IntervalsHoldWhatTheyState) {
  const Estimator& estimator = well_trained();
  // 80 % are stated; 120 fresh workloads of 60 groups differ from that by 5 points (one deviation) by chance.
  EXPECT_GE(quality(estimator, {0}).within, 0.68);
  EXPECT_LE(quality(estimator, {0}).within, 0.97);
  EXPECT_GE(quality(estimator, {0, 1}).within, 0.68);
  for (const Coverage& coverage : estimator.trained_on().coverage) {
    EXPECT_NEAR(coverage.found, coverage.stated, 0.15) << coverage.stated;
  }
}

TEST(Estimator, OneMeasurementCorrectsTheOtherTiers) {
  const Estimator& estimator = well_trained();
  const double before = quality(estimator, {0}).error;
  const double one = quality(estimator, {0, 1}).error;
  const double two = quality(estimator, {0, 2}).error;
  EXPECT_GT(before, 0.13) << "the gain of a group cannot be known from its anchor";
  EXPECT_LT(one, 0.6 * before);
  EXPECT_LT(two, 0.6 * before);
}

TEST(Estimator, StatedProbabilitiesComeTrue) {
  const Estimator& estimator = well_trained();
  const TierTable fresh = synthetic_jobs(100, 78, "fresh");
  double stated = 0;
  double kept = 0;
  for (const TierWorkload& workload : fresh.workloads) {
    const double target = attained_of(workload, 0) * 1.8;
    const TierEstimate estimate = estimator.estimate(known_on(workload, {0}), rate(target))[2];
    stated += estimate.probability / 200;
    kept += attained_of(workload, 2) >= target ? 1.0 / 200 : 0;
  }
  EXPECT_NEAR(stated, kept, 0.1);
}

TEST(Estimator, AMoreExpensiveAnchorPredictsCheaperTiersToo) {
  const Estimator& estimator = well_trained();
  double error = 0;
  const TierTable fresh = synthetic_jobs(20, 79, "fresh");
  for (const TierWorkload& workload : fresh.workloads) {
    const TierEstimate estimate = estimator.estimate(known_on(workload, {2}), rate(1))[0];
    EXPECT_FALSE(estimate.is_measured);
    error += std::fabs(std::log(estimate.per_second / attained_of(workload, 0))) / 40;
  }
  EXPECT_LT(error, 0.2) << "a gain that cannot be known is 0.12 in the mean over this distance";
}

TEST(Estimator, ALongerTargetIsLessProbable) {
  const Estimator estimator = trained(synthetic_jobs(8, 3));
  const TierWorkload workload = known_on(synthetic_jobs(1, 9).workloads.front(), {0});
  double before = 1;
  for (const double factor : {0.0, 1.0, 2.0, 3.0, 5.0, 9.0, 50.0}) {
    const TierEstimate estimate = estimator.estimate(workload, rate(factor * attained_of(workload, 0)))[2];
    EXPECT_LE(estimate.probability, before);
    before = estimate.probability;
  }
  EXPECT_LT(before, 0.1);
}

TEST(Estimator, ServicesNeedAUsablePoint) {
  const Estimator estimator = trained(synthetic_services(8, 5));
  const TierWorkload workload = known_on(synthetic_services(1, 6).workloads.front(), {0});
  const auto at_latency = [&](std::int64_t latency_ms) {
    return estimator.estimate(workload, {.per_second = Decimal(500), .latency_ms = Decimal(latency_ms)})[3];
  };
  const TierEstimate hopeless = at_latency(1);
  EXPECT_LT(hopeless.probability, 0.01);
  EXPECT_EQ(hopeless.per_second, 0);
  EXPECT_EQ(hopeless.latency_ms, 0);
  EXPECT_TRUE(std::isinf(hopeless.cost));
  const TierEstimate easy = at_latency(1000);
  EXPECT_GT(easy.probability, 0.99);
  EXPECT_GT(easy.latency_ms, 0);
  EXPECT_LT(easy.latency_ms, 450);
  EXPECT_EQ(std::fmod(easy.cost, 6), 0) << "a whole number of slices";
  EXPECT_GE(easy.per_second, at_latency(20).per_second);
}

TEST(Estimator, MeasuredServicesAreExact) {
  const Estimator estimator = trained(synthetic_services(8, 5));
  const TierWorkload workload = synthetic_services(1, 6).workloads.front();
  const TierTarget target{.per_second = Decimal(500), .latency_ms = Decimal(60)};
  const std::vector<TierEstimate> estimates = estimator.estimate(workload, target);
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    const Decimal most = *attained(TierKind::kServices, workload.points[tier], target);
    EXPECT_EQ(estimates[tier].per_second, most.to_double());
    EXPECT_EQ(estimates[tier].probability, most.sign() > 0 ? 1 : 0);
    if (most.sign() > 0) {
      EXPECT_EQ(estimates[tier].cost, cost_of(TierKind::kServices, estimator.tiers()[tier], most, target).to_double());
    }
  }
}

TEST(Estimator, ReasonsAddUpToTheLogarithmOfTheRatio) {
  const Estimator estimator = trained(synthetic_jobs(8, 3));
  const TierWorkload workload = synthetic_jobs(1, 9).workloads.front();
  for (const TierWorkload& known : {known_on(workload, {0}), known_on(workload, {0, 1})}) {
    const std::vector<FeatureShare> shares = estimator.explain(known, 3);
    double sum = 0;
    for (const FeatureShare& share : shares) sum += share.share;
    const double predicted = estimator.estimate(known, rate(1))[3].per_second;
    EXPECT_NEAR(sum, std::log(predicted / attained_of(workload, 0)), 1e-9);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end(), [](const FeatureShare& a, const FeatureShare& b) {
      return std::fabs(a.share) > std::fabs(b.share);
    }));
  }
  EXPECT_TRUE(estimator.explain(known_on(workload, {0, 3}), 3).empty());
}

TEST(Estimator, GainsAddUpToOne) {
  double sum = 0;
  for (const FeatureShare& gain : trained(synthetic_jobs(8, 3)).gains()) sum += gain.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  const Result<Estimator> linear = Estimator::train(synthetic_jobs(8, 3), {}, {.forest_share = 0});
  ASSERT_TRUE(linear);
  EXPECT_TRUE(linear->gains().empty());
}

TEST(Estimator, OneGroupIsEnoughButSaysLittle) {
  const Estimator one = trained(synthetic_jobs(1, 3));
  const Estimator& many = well_trained();
  const TierWorkload workload = known_on(synthetic_jobs(1, 9).workloads.front(), {0});
  const auto width = [&](const Estimator& estimator) {
    const TierEstimate estimate = estimator.estimate(workload, rate(1))[3];
    return std::log(estimate.per_second_p90 / estimate.per_second_p10);
  };
  EXPECT_GT(width(one), 2 * width(many));
}

TEST(Estimator, NothingToLearnFromIsAnError) {
  const TierTable table = synthetic_jobs(2, 3);
  EXPECT_FALSE(Estimator::train(table, std::vector<std::string>{"g0", "g1"}, {}));
  TierTable lonely = table;
  for (TierWorkload& workload : lonely.workloads) workload = known_on(workload, {1});
  const Result<Estimator> estimator = Estimator::train(lonely, {}, {});
  ASSERT_FALSE(estimator);
  EXPECT_EQ(estimator.error().message, "wanted workloads with rows on at least two tiers to learn from, found none");
}

TEST(Estimator, ComesBackFromItsBytes) {
  const Estimator estimator = trained(synthetic_services(4, 5));
  const std::string bytes = estimator.write();
  const Result<Estimator> read = Estimator::read(bytes, "f.forest");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->write(), bytes);
  EXPECT_EQ(read->tiers(), estimator.tiers());
  EXPECT_EQ(read->kind(), TierKind::kServices);
  EXPECT_EQ(read->trained_on(), estimator.trained_on());
  const TierWorkload workload = known_on(synthetic_services(1, 6).workloads.front(), {0});
  const TierTarget target{.per_second = Decimal(500), .latency_ms = Decimal(60)};
  EXPECT_EQ(read->estimate(workload, target)[2].per_second, estimator.estimate(workload, target)[2].per_second);
}

TEST(Estimator, DamagedFilesAreNamed) {
  const std::string bytes = trained(synthetic_jobs(3, 5)).write();
  const auto message = [](const std::string& content) {
    const Result<Estimator> read = Estimator::read(content, "f.forest");
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(message(""), "f.forest: wanted a forest that `berth tier train` wrote, found another file");
  EXPECT_EQ(message("berth tier forest 2 x"), "f.forest: wanted a forest of format 1, found another format");
  EXPECT_NE(message(bytes.substr(0, 25)).find("damaged"), std::string::npos);
  EXPECT_NE(message(bytes.substr(0, bytes.size() - 1)).find("damaged"), std::string::npos);
  std::string flipped = bytes;
  flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 1);
  EXPECT_NE(message(flipped).find("wanted content of checksum"), std::string::npos);
}

}  // namespace
}  // namespace berth::tier
