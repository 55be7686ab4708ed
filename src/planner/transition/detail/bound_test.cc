#include "planner/transition/detail/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/pack.h"
#include "planner/transition/detail/test_cases.h"

namespace berth::transition::detail {
namespace {

constexpr std::uint64_t kBoundCases = berth::testing::by_build(400, 60);
constexpr std::int64_t kChangesMax = 5;

Curve drawn_curve(Rng& rng) {
  Curve curve;
  for (std::uint64_t i = rng.below(3); i > 0; --i) curve.push_back(kNoSize);
  auto size = static_cast<Size>(20 + rng.below(10));
  for (std::uint64_t i = 1 + rng.below(5); i > 0; --i) {
    curve.push_back(size);
    size -= static_cast<Size>(rng.below(4));
  }
  return curve;
}

TEST(Curve, TheLastEntryHoldsForMoreChanges) {
  const Curve curve = {kNoSize, 7, 4};
  EXPECT_EQ(size_at(curve, -1), kNoSize);
  EXPECT_EQ(size_at(curve, 0), kNoSize);
  EXPECT_EQ(size_at(curve, 2), 4);
  EXPECT_EQ(size_at(curve, 100), 4);
}

TEST(Curve, TwoPartsShareTheChanges) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const Curve a = drawn_curve(rng);
    const Curve b = drawn_curve(rng);
    const Curve sum = joined(a, b);
    for (std::int64_t changes = 0; changes < 20; ++changes) {
      Size least = kNoSize;
      for (std::int64_t own = 0; own <= changes; ++own) {
        if (size_at(a, own) == kNoSize || size_at(b, changes - own) == kNoSize) continue;
        least = std::min(least, size_at(a, own) + size_at(b, changes - own));
      }
      ASSERT_EQ(size_at(sum, changes), least) << "seed " << seed << ", " << changes << " changes";
    }
  }
}

/// The most compute slices (or units) of whole GPUs for a price, by trying all numbers of each.
Size most_for(const TransitionView& view, const Measure& measure, std::int64_t price, std::size_t offer = 0) {
  if (offer == view.offers.size()) return 0;
  Size most = 0;
  const OfferView& own = view.offers[offer];
  const std::int64_t gpus_max = own.count_max == 0 ? 0 : price / own.price;
  for (std::int64_t gpus = 0; gpus <= gpus_max; ++gpus) {
    most = std::max(most, gpus * (own.*measure.of_gpu) + most_for(view, measure, price - gpus * own.price, offer + 1));
  }
  return most;
}

TransitionView bare_view(const PackingProblem& problem) { return *view_of(problem, {}, {}); }

TEST(Capacity, HoldsForEveryMixOfGpus) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    PackingProblem problem;
    for (const char* name : {"A30-24GB", "A100-80GB", "L4-24GB"}) {
      problem.offers.push_back({*mig::find_gpu_model(name), std::nullopt, static_cast<std::int64_t>(1 + rng.below(9))});
      if (rng.below(4) == 0) problem.offers.back().count_max = 0;
    }
    const TransitionView view = bare_view(problem);
    const auto price = static_cast<std::int64_t>(rng.below(30));
    for (const Measure& measure : {kComputeSlices, kUnits}) {
      const auto capacity = capacity_of(view, measure, price);
      ASSERT_TRUE(capacity.has_value());
      ASSERT_GE(*capacity, most_for(view, measure, price)) << "seed " << seed;
    }
  }
}

TEST(Capacity, OfOneModelIsThatOfItsWholeGpus) {
  PackingProblem problem;
  problem.offers.push_back({*mig::find_gpu_model("A100-80GB"), std::nullopt, 3});
  EXPECT_EQ(capacity_of(bare_view(problem), kComputeSlices, 6), 14);
  EXPECT_EQ(capacity_of(bare_view(problem), kUnits, 6), 16);
  problem.offers[0].count_max = 0;
  EXPECT_EQ(capacity_of(bare_view(problem), kUnits, 6), 0);
}

TEST(Capacity, FreeGpusHaveNone) {
  PackingProblem problem;
  problem.offers.push_back({*mig::find_gpu_model("A100-80GB"), std::nullopt, 0});
  EXPECT_EQ(capacity_of(bare_view(problem), kUnits, 6), std::nullopt);
  problem.offers[0].count_max = 0;
  EXPECT_EQ(capacity_of(bare_view(problem), kUnits, 6), 0);
}

struct Sized {
  Size size = 0;
  Rate rate = 0;
};

/// A question about a demand of a drawn view, and the demand's data.
struct Asked {
  SizeQuestion question;
  std::vector<Sized> standing;
  std::vector<Sized> fresh;
  Rate need = 0;  ///< minus the fixed slices' rate
};

Asked drawn_bound_question(const TransitionView& view, int demand, const Measure& measure, Rng& rng) {
  Asked asked;
  const DemandView& own = view.demands[ix(demand)];
  asked.question.demand = demand;
  asked.question.cover.need = asked.need = own.need;
  for (std::size_t o = 0; o < view.offers.size(); ++o) {
    const OfferView& offer = view.offers[o];
    asked.question.is_offered.push_back(rng.below(5) > 0);
    for (std::size_t kind = 0; asked.question.is_offered[o] && kind < offer.map.kinds.size(); ++kind) {
      if (own.rates[o][kind] == 0) continue;
      asked.fresh.push_back({(offer.*measure.of_kinds)[kind], own.rates[o][kind]});
      asked.question.cover.rate_max = std::max(asked.question.cover.rate_max, own.rates[o][kind]);
    }
  }
  for (const int i : own.standing) {
    const StandingView& stood = view.standing[ix(i)];
    const OfferView& offer = view.offers[ix(view.gpus[ix(stood.gpu)].offer)];
    if (rng.below(4) == 0) {
      asked.question.cover.fixed.push_back({stood.low, stood.best});
      asked.need -= stood.best;
      continue;
    }
    asked.question.standing.push_back(i);
    asked.question.cover.standing.push_back({stood.low, stood.best});
    asked.standing.push_back({(offer.*measure.of_kinds)[ix(offer.map.sites[ix(stood.site)].kind)], stood.best});
  }
  return asked;
}

/// The least size of at most that many new slices that carry a rate.
Size least_of_new(const std::vector<Sized>& fresh, Rate rate, std::int64_t count) {
  if (rate <= 0) return 0;
  Size least = kNoSize;
  for (const Sized& one : fresh) {
    if (count == 0) break;
    const Size rest = least_of_new(fresh, rate - one.rate, count - 1);
    if (rest != kNoSize) least = std::min(least, one.size + rest);
  }
  return least;
}

/// The least size of kept and new slices that carry the need with at most that many changes.
Size least_by_trial(const Asked& asked, std::int64_t changes) {
  Size least = kNoSize;
  for (std::uint32_t kept = 0; kept < (1U << asked.standing.size()); ++kept) {
    const std::int64_t dropped = std::ssize(asked.standing) - std::popcount(kept);
    if (dropped > changes) continue;
    Rate rate = asked.need;
    Size size = 0;
    for (std::size_t i = 0; i < asked.standing.size(); ++i) {
      if (((kept >> i) & 1U) == 0) continue;
      rate -= asked.standing[i].rate;
      size += asked.standing[i].size;
    }
    const Size rest = least_of_new(asked.fresh, rate, changes - dropped);
    if (rest != kNoSize) least = std::min(least, size + rest);
  }
  return least;
}

TEST(SizeCurve, IsTheLeastSizeOfSlicesThatMeetTheNeed) {
  int judged = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kBoundCases)) {
    Rng rng = Rng(seed).split("curve");
    for (int d = 0; d < static_cast<int>(view.demands.size()); ++d) {
      if (view.demands[ix(d)].need == 0) continue;
      for (const Measure& measure : {kComputeSlices, kUnits}) {
        const Asked asked = drawn_bound_question(view, d, measure, rng);
        const std::int64_t fewest = fewest_changes(asked.question.cover);
        if (fewest > kChangesMax || asked.standing.size() > 6) continue;
        const Curve curve = size_curve(view, asked.question, measure);
        for (std::int64_t changes = 0; changes <= kChangesMax; ++changes) {
          const Size least = changes < fewest ? kNoSize : least_by_trial(asked, changes);
          if (asked.need > 0) {
            ++judged;
            ASSERT_EQ(size_at(curve, changes), least) << "seed " << seed << ", demand " << d;
          } else if (changes >= fewest) {
            ASSERT_LE(size_at(curve, changes), least) << "seed " << seed << ", demand " << d;
          }
        }
      }
    }
  }
  EXPECT_GT(judged, static_cast<int>(kBoundCases));
}

/// A row of a profile as given.
struct GivenRow {
  const char* model;
  const char* profile;
  std::int64_t rate;
};

PackingProblem given_problem_of(const std::vector<GivenRow>& rows,
                                const std::vector<std::pair<const char*, int>>& demands, const char* gpu = "A30-24GB") {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model(gpu)});
  for (const auto& [model, rate] : demands) {
    problem.demands.push_back(
        {.model = model, .tenant = model, .requests_per_second = Decimal(rate), .latency_ms = Decimal(100)});
    problem.tables.push_back({.model = model, .points = {}});
    for (const GivenRow& row : rows) {
      if (row.model != problem.tables.back().model) continue;
      problem.tables.back().points.push_back({gpu, row.profile, 1, 1, Decimal(row.rate), Decimal(10)});
    }
  }
  return problem;
}

PackedSlice given_slice_of(const PackingProblem& problem, std::uint32_t demand, int start, const char* profile) {
  PackedSlice packed{.slice = {{0}, start, *mig::find_profile(problem.offers[0].model, profile)},
                     .demand = demand,
                     .batch = 1,
                     .processes = 1,
                     .requests_per_second = {}};
  for (const PerformancePoint& point : problem.tables[demand].points) {
    if (point.profile == profile) packed.requests_per_second = point.requests_per_second;
  }
  return packed;
}

// A table too large for its limit still has the least size of all slices for any number of changes.
TEST(SizeCurve, OfALargeDemandIsFlat) {
  const PackingProblem problem = given_problem_of({{"a", "1g.6gb", 1}, {"a", "2g.12gb", 3}}, {{"a", 30'000}});
  const TransitionView view = bare_view(problem);
  const SizeQuestion question = {0, {}, {true}, {.need = 30'000, .rate_max = 3, .fixed = {}, .standing = {}}};
  const Curve curve = size_curve(view, question, kComputeSlices);
  EXPECT_EQ(size_at(curve, 9'999), kNoSize);
  EXPECT_EQ(size_at(curve, 10'000), 20'000);
  EXPECT_EQ(size_at(curve, 40'000), 20'000);
}

TEST(ChangesBound, IsAtMostTheFewestChangesOfAllPlans) {
  int judged = 0;
  int tight = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kBoundCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto fewest = EveryPlan(view).fewest();
    if (!fewest) continue;
    ASSERT_LT(*fewest, INT64_MAX) << "the fewest GPUs are a plan";
    ++judged;
    ASSERT_LE(changes_bound(view), *fewest);
    if (changes_bound(view) == *fewest) ++tight;
  }
  EXPECT_GT(judged * 10, static_cast<int>(kBoundCases) * 7);
  EXPECT_GT(tight * 10, judged * 7);
}

// On its own "a" needs no change and "b" one; but four slices of "a" leave no room on the one GPU, so "a" has to move
// into a larger one.
TEST(ChangesBound, CountsThatSlicesMustFitTogether) {
  const PackingProblem problem =
      given_problem_of({{"a", "1g.6gb", 1}, {"a", "2g.12gb", 4}, {"b", "2g.12gb", 4}}, {{"a", 4}, {"b", 4}});
  StandingPlan standing = {problem.demands, {{0}, {}}};
  for (int start = 0; start < 4; ++start) {
    standing.packing.slices.push_back(given_slice_of(problem, 0, start, "1g.6gb"));
  }
  packing::PackResult fewest;
  fewest.packing.gpu_offers = {0};
  EXPECT_EQ(changes_bound(*view_of(problem, standing, fewest)), 6);
  EXPECT_EQ(EveryPlan(*view_of(problem, standing, fewest)).fewest(), 6);
  fewest.packing.gpu_offers = {0, 0};
  EXPECT_EQ(changes_bound(*view_of(problem, standing, fewest)), 1);
}

// Two 3g and a 1g have the compute slices of an A100 and a unit more: one of the 3g has to shrink.
TEST(ChangesBound, CountsUnitsWhereComputeSlicesSuffice) {
  const PackingProblem problem =
      given_problem_of({{"a", "3g.40gb", 3}, {"a", "2g.20gb", 3}, {"b", "3g.40gb", 3}, {"c", "1g.10gb", 1}},
                       {{"a", 3}, {"b", 3}, {"c", 1}}, "A100-80GB");
  const StandingPlan standing = {
      problem.demands, {{0}, {given_slice_of(problem, 0, 0, "3g.40gb"), given_slice_of(problem, 2, 6, "1g.10gb")}}};
  packing::PackResult fewest;
  fewest.packing.gpu_offers = {0};
  EXPECT_EQ(changes_bound(*view_of(problem, standing, fewest)), 3);
  EXPECT_EQ(EveryPlan(*view_of(problem, standing, fewest)).fewest(), 3);
}

TEST(ChangesBound, CountsSlicesThatNoDemandNeeds) {
  const PackingProblem before = given_problem_of({{"a", "1g.6gb", 1}}, {{"a", 2}});
  const StandingPlan standing = {
      before.demands, {{0}, {given_slice_of(before, 0, 0, "1g.6gb"), given_slice_of(before, 0, 1, "1g.6gb")}}};
  const PackingProblem after = given_problem_of({}, {});
  EXPECT_EQ(changes_bound(*view_of(after, standing, {})), 2);
}

}  // namespace
}  // namespace berth::transition::detail
