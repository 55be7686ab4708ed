#include "planner/goodput_bound/detail/demand.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/core/test_cases.h"
#include "planner/goodput_bound/testing/cases.h"

namespace berth::bound::detail {
namespace {

using testing::drawn;
using testing::happens;
using testing::kError;
using testing::kGridMicros;

/// A demand and the definition of its runs: written from docs/explanation/simulation.md (times to the microsecond),
/// independent of demand.cc.
struct DemandCase {
  Blocks blocks;
  ServiceSpec service;
  std::vector<std::int64_t> at_us;
  std::int64_t retraining_us = 0;  ///< on the fastest slice
  bool is_patient = false;

  [[nodiscard]] std::uint32_t retraining_good() const {
    return static_cast<std::uint32_t>(service.variants.size()) + 1;
  }
  [[nodiscard]] std::size_t goods() const { return retraining_good() + std::size_t{1}; }

  /// Requires: the case outlives it.
  [[nodiscard]] Demand demand(bool knows_offsets = true) const {
    DemandInput input = testing::input_of(service, blocks, at_us);
    if (!knows_offsets) input.offsets = {};
    input.is_patient = is_patient;
    if (service.retraining) {
      input.retraining_good = retraining_good();
      input.progress_per_second_max =
          retraining_us > 0 ? 1e6 / static_cast<double>(retraining_us) : kUnlimitedPerSecond;
    }
    return Demand(input);
  }
};

DemandCase draw_demand_case(std::uint64_t seed, bool retrains) {
  Rng rng(seed);
  DemandCase drawn_case;
  drawn_case.blocks = testing::draw_blocks(rng, 4);
  drawn_case.service = testing::draw_service(rng, drawn_case.blocks, static_cast<int>(drawn(rng, 0, 3)));
  drawn_case.at_us = testing::draw_requests(rng, drawn_case.blocks, 8);
  if (!retrains) return drawn_case;
  drawn_case.retraining_us = drawn(rng, 0, 7) * kGridMicros;
  const std::int64_t every = drawn(rng, 3, 14);
  drawn_case.service.retraining = Retraining{.every = Micros(every * kGridMicros),
                                             .offset = Micros(drawn(rng, 0, every) * kGridMicros),
                                             .swap = Micros(drawn(rng, 0, 5) * kGridMicros),
                                             .keeps_unfinished = happens(rng, 50),
                                             .time_on = {}};
  return drawn_case;
}

/// The states of the model over a run: from each instant on, whether it is fresh.
using Freshness = std::vector<std::pair<std::int64_t, bool>>;

/// The gain of one service in a run at given prices: the maximum over all times at which its retrainings may be done.
class Runs {
 public:
  /// `early_us`: retrainings take effect that much earlier, but not before they are due, and may be completed anywhere
  /// in their last block; answers take no time. 0: as in a real run.
  Runs(const DemandCase& input, const Rows& prices, std::int64_t early_us = 0)
      : case_(input), prices_(prices), early_us_(early_us) {
    if (!case_.service.retraining) return;
    const Retraining& retraining = *case_.service.retraining;
    for (std::int64_t due = retraining.offset.count(); due <= case_.blocks.end_us; due += retraining.every.count()) {
      dues_.push_back(due);
    }
  }

  [[nodiscard]] double best() {
    best_ = 0;
    Freshness freshness{{std::numeric_limits<std::int64_t>::min(), true}};
    retrain(0, 0, 0, freshness);
    return best_;
  }

 private:
  /// Tries every completion in the periods from `period` on, with work since the due time of `begun`.
  void retrain(std::size_t period, std::size_t begun, double cost, Freshness& freshness) {
    if (period == dues_.size()) {
      best_ = std::max(best_, value(freshness) - cost);
      return;
    }
    const std::int64_t due = dues_[period];
    const std::int64_t next = period + 1 < dues_.size() ? dues_[period + 1] : case_.blocks.end_us + 1;
    const Retraining& retraining = *case_.service.retraining;
    freshness.emplace_back(due, false);
    retrain(period + 1, retraining.keeps_unfinished ? begun : period + 1, cost, freshness);
    const std::int64_t block_us = early_us_ > 0 ? case_.blocks.block_us : 0;
    for (std::int64_t done = due; done < next + block_us; done += kGridMicros) {
      if (done - dues_[begun] < case_.retraining_us) continue;
      // A swap that has not ended when the next retraining is due is void.
      const std::int64_t fresh = done + retraining.swap.count();
      if (fresh - block_us >= next) break;
      freshness.emplace_back(std::max(due, fresh - early_us_), true);
      retrain(period + 1, period + 1, cost + cheapest(dues_[begun], done), freshness);
      freshness.pop_back();
    }
    freshness.pop_back();
  }

  /// The price of a whole retraining on one slice at a time between two instants.
  [[nodiscard]] double cheapest(std::int64_t from_us, std::int64_t until_us) const {
    std::vector<std::pair<double, std::int64_t>> offers;
    for (int block = 0; block < case_.blocks.count(); ++block) {
      const std::int64_t time_us =
          std::min(until_us, case_.blocks.end_of_us(block)) - std::max(from_us, case_.blocks.begin_us(block));
      if (time_us > 0) {
        offers.emplace_back(prices_[case_.retraining_good()][static_cast<std::size_t>(block)], time_us);
      }
    }
    std::ranges::sort(offers);
    double cost = 0;
    std::int64_t rest_us = case_.retraining_us;
    for (const auto& [price, time_us] : offers) {
      const std::int64_t used_us = std::min(rest_us, time_us);
      if (used_us > 0) cost += price * static_cast<double>(used_us) / static_cast<double>(case_.retraining_us);
      rest_us -= used_us;
    }
    return cost;
  }

  [[nodiscard]] double value(const Freshness& freshness) const {
    double sum = 0;
    for (const std::int64_t at : case_.at_us) sum += value_of_request(at, freshness);
    return sum;
  }

  /// The request is worked on in any block until which it can wait, and answered in time and within the run, or not at
  /// all.
  [[nodiscard]] double value_of_request(std::int64_t at_us, const Freshness& freshness) const {
    const std::int64_t target_us = case_.service.target.count();
    double best = 0;
    for (int block = case_.blocks.of(at_us); block < case_.blocks.count(); ++block) {
      const std::int64_t first_us = std::max(at_us, case_.blocks.begin_us(block));
      const std::int64_t last_work_us = case_.blocks.end_of_us(block) - 1;
      const std::int64_t late_us = (case_.is_patient ? last_work_us : at_us) + target_us;
      const std::int64_t last_us = std::min(late_us, case_.blocks.end_us);
      if (first_us >= last_us) continue;
      for (std::size_t good = 0; good < case_.retraining_good(); ++good) {
        const double price = prices_[good][static_cast<std::size_t>(block)];
        best = std::max(best, most_accurate(good, first_us + (early_us_ > 0 ? 0 : 1), last_us, freshness) - price);
      }
    }
    return best;
  }

  /// The greatest accuracy in force at an instant from `first_us` to `last_us`.
  [[nodiscard]] double most_accurate(std::size_t variant, std::int64_t first_us, std::int64_t last_us,
                                     const Freshness& freshness) const {
    const Accuracy& accuracy = variant == 0 ? case_.service.accuracy : case_.service.variants[variant - 1].accuracy;
    std::int64_t most = 0;
    for (std::size_t i = 0; i < freshness.size(); ++i) {
      const bool is_over = i + 1 < freshness.size() && freshness[i + 1].first <= first_us;
      if (is_over || freshness[i].first > last_us) continue;
      most = std::max(most, freshness[i].second ? accuracy.after_micro : accuracy.before_micro);
    }
    return static_cast<double>(most) / 1e6;
  }

  const DemandCase& case_;
  const Rows& prices_;
  std::int64_t early_us_ = 0;
  std::vector<std::int64_t> dues_;
  double best_ = 0;
};

double gain_of(Demand& demand, const Rows& prices) {
  Rows use = testing::zeros_like(prices);
  return demand.gain(prices, 1, use);
}

Rows draw_prices(const DemandCase& input, Rng rng) {
  Rows prices = testing::draw_prices(rng, input.goods(), input.blocks, 0.8);
  for (double& price : prices.back()) price *= 3;
  return prices;
}

std::string shown(const DemandCase& input, std::uint64_t seed) {
  std::string text = "seed " + std::to_string(seed) + ": run " + std::to_string(input.blocks.end_us) + ", blocks " +
                     std::to_string(input.blocks.block_us) + ", target " + std::to_string(input.service.target.count());
  if (!input.service.retraining) return text;
  const Retraining& retraining = *input.service.retraining;
  return text + ", every " + std::to_string(retraining.every.count()) + " from " +
         std::to_string(retraining.offset.count()) + ", takes " + std::to_string(input.retraining_us) + " + swap " +
         std::to_string(retraining.swap.count()) + (retraining.keeps_unfinished ? ", kept" : "");
}

TEST(Demand, IsTheBestPurchaseOfEachRequest) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 60))) {
    DemandCase input = draw_demand_case(seed, false);
    input.is_patient = seed % 4 == 0;
    const Rows prices = draw_prices(input, Rng(seed).split("prices"));
    // Patient requests are counted by second: they may wait from its beginning on.
    if (input.is_patient) {
      for (std::int64_t& at : input.at_us) at -= at % kMicrosPerSecond;
    }
    Demand demand = input.demand();
    EXPECT_EQ(demand.requests(), static_cast<double>(input.at_us.size()));
    EXPECT_NEAR(gain_of(demand, prices), Runs(input, prices).best(), kError) << shown(input, seed);
  }
}

TEST(Demand, NoRunWithRetrainingsGainsMore) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(3000, 100))) {
    DemandCase input = draw_demand_case(seed, true);
    input.is_patient = seed % 4 == 0;
    const Rows prices = draw_prices(input, Rng(seed).split("prices"));
    Demand demand = input.demand();
    EXPECT_GE(gain_of(demand, prices), Runs(input, prices).best() - kError) << shown(input, seed);
  }
}

TEST(Demand, NoRunGainsMoreWhereOnlyCountsAreKnown) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(400, 60))) {
    const DemandCase input = draw_demand_case(seed, seed % 4 != 0);
    const Rows prices = draw_prices(input, Rng(seed).split("prices"));
    Demand demand = input.demand(false);
    EXPECT_GE(gain_of(demand, prices), Runs(input, prices).best() - kError) << shown(input, seed);
  }
}

/// Where due times begin blocks and retrainings take so long that no request can wait for the next period's fresh
/// model, the only relaxation left is when a completed retraining takes effect.
DemandCase draw_tight_case(std::uint64_t seed) {
  DemandCase input = draw_demand_case(seed, true);
  Rng rng = Rng(seed).split("tight");
  input.blocks = {.end_us = 4 * kMicrosPerSecond, .block_us = drawn(rng, 1, 3) * kGridMicros};
  input.service.arrivals.seconds = 4;
  input.service.target = Micros(drawn(rng, 1, kGridMicros + 1));
  input.at_us = testing::draw_requests(rng, input.blocks, 8);
  input.service.accuracy = {.before_micro = drawn(rng, 1, 6) * 100'000, .after_micro = drawn(rng, 6, 11) * 100'000};
  for (Variant& variant : input.service.variants) variant.accuracy = input.service.accuracy;
  const std::int64_t least_us = 2 * (kGridMicros + input.blocks.block_us);
  input.retraining_us = drawn(rng, 1, least_us / kGridMicros + 1) * kGridMicros;
  Retraining& retraining = *input.service.retraining;
  retraining.swap = Micros(least_us - input.retraining_us);
  retraining.every = Micros(drawn(rng, 2, 9) * 2 * kGridMicros);
  retraining.offset = Micros(drawn(rng, 0, 4) * 2 * kGridMicros);
  retraining.keeps_unfinished = false;
  return input;
}

TEST(Demand, RetrainingsTakeEffectAtMostATargetAndTwoBlocksEarly) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(600, 60))) {
    const DemandCase input = draw_tight_case(seed);
    const Rows prices = draw_prices(input, Rng(seed).split("prices"));
    Demand demand = input.demand();
    const double gain = gain_of(demand, prices);
    const std::int64_t early_us = input.service.target.count() + 2 * input.blocks.block_us;
    // The last microsecond of a retraining, which the simulator may round away, costs nothing.
    EXPECT_LE(gain, Runs(input, prices, early_us).best() + 1e-4) << shown(input, seed);
    EXPECT_GE(gain, Runs(input, prices).best() - kError) << shown(input, seed);
  }
}

TEST(Demand, WhatItUsesIsASubgradient) {
  // The gain is a maximum of functions whose slope is minus the amount used: at any other prices the gain is at least
  // the linear continuation.
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(300, 60))) {
    DemandCase input = draw_demand_case(seed, true);
    input.is_patient = seed % 4 == 0;
    const Rows here = draw_prices(input, Rng(seed).split("here"));
    const Rows there = draw_prices(input, Rng(seed).split("there"));
    Demand demand = input.demand();
    Rows use = testing::zeros_like(here);
    const double gain = demand.gain(here, 1, use);
    EXPECT_GE(gain_of(demand, there), gain - testing::product(use, testing::difference(there, here)) - kError)
        << shown(input, seed);
    Rows weighted = testing::zeros_like(here);
    EXPECT_EQ(demand.gain(here, -2, weighted), gain) << "a weight changes what is added, not the gain";
    EXPECT_NEAR(testing::product(weighted, here), -2 * testing::product(use, here), kError) << shown(input, seed);
  }
}

/// A service of accuracy 0.2, 1 when fresh, with a request that may be answered as the run of 4 s ends.
DemandCase last_moment(const Retraining& retraining, std::int64_t retraining_us) {
  DemandCase input;
  input.blocks = {.end_us = 4'000'000, .block_us = 500'000};
  input.service.target = Micros(kGridMicros);
  input.service.arrivals.seconds = 4;
  input.service.accuracy = {.before_micro = 200'000, .after_micro = 1'000'000};
  input.service.retraining = retraining;
  input.at_us = {3'900'000};
  input.retraining_us = retraining_us;
  return input;
}

double gain_for_nothing(const DemandCase& input) {
  Demand demand = input.demand();
  return gain_of(demand, Rows(input.goods(), std::vector<double>(static_cast<std::size_t>(input.blocks.count()))));
}

TEST(Demand, PaysForWorkThatIsKeptFromThePeriodBefore) {
  // 3 s of work, due at 0 s and at 2.5 s: done at 3 s at the earliest, for the last request.
  DemandCase input = last_moment(
      {.every = Micros(2'500'000), .offset = Micros(0), .swap = Micros(0), .keeps_unfinished = true, .time_on = {}},
      3'000'000);
  EXPECT_DOUBLE_EQ(gain_for_nothing(input), 1);
  Demand demand = input.demand();
  Rows prices(input.goods(), std::vector<double>(static_cast<std::size_t>(input.blocks.count())));
  std::ranges::fill(prices.back(), 0.5);
  Rows use = testing::zeros_like(prices);
  EXPECT_NEAR(demand.gain(prices, 2, use), 1 - 0.5, 1e-6);
  double progress = 0;
  for (const double amount : use.back()) progress += amount;
  EXPECT_NEAR(progress, 2, 1e-6) << "one retraining at a weight of 2";
  std::ranges::fill(prices.back(), 1);
  EXPECT_NEAR(gain_of(demand, prices), 0.2, 1e-6) << "not worth its price";
}

TEST(Demand, PatientRequestsWaitForTheFreshModel) {
  DemandCase input = last_moment(
      {.every = Micros::seconds(100), .offset = Micros(0), .swap = Micros(0), .keeps_unfinished = false, .time_on = {}},
      3'900'000);
  input.at_us = {0};
  EXPECT_DOUBLE_EQ(gain_for_nothing(input), 0.2);
  input.is_patient = true;
  EXPECT_DOUBLE_EQ(gain_for_nothing(input), 1);
}

TEST(Demand, SeesAModelThatBecomesFreshAsTheRunEnds) {
  // A swap that ends at 4 s ends before the answers of that microsecond.
  const Retraining kept{.every = Micros::seconds(2),
                        .offset = Micros(0),
                        .swap = Micros::seconds(2),
                        .keeps_unfinished = true,
                        .time_on = {}};
  Retraining once = kept;
  once.every = Micros::seconds(100);
  once.offset = Micros::seconds(2);
  // A retraining that takes no time is done when it is due.
  EXPECT_DOUBLE_EQ(gain_for_nothing(last_moment(once, 0)), 1);
  // And with the shortest time above 0.
  once.swap = Micros(1'999'999);
  EXPECT_DOUBLE_EQ(gain_for_nothing(last_moment(once, 1)), 1);
  // A microsecond later there is nothing left to answer.
  once.swap = Micros(2'000'001);
  EXPECT_DOUBLE_EQ(gain_for_nothing(last_moment(once, 0)), 0.2);
  // Due again at 4 s: the swap is void at that instant, before it ends.
  EXPECT_DOUBLE_EQ(gain_for_nothing(last_moment(kept, 2'000'000)), 0.2);
  // Work of the first period that is completed when the next one begins, at 2.2 s, counts for the next one.
  Retraining twice = kept;
  twice.every = Micros(1'900'000);
  twice.offset = Micros(300'000);
  twice.swap = Micros(1'800'000);
  EXPECT_DOUBLE_EQ(gain_for_nothing(last_moment(twice, 1'900'000)), 1);
}

}  // namespace
}  // namespace berth::bound::detail
