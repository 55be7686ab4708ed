#include "planner/packing/detail/beam.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

using reference::SolvedProblem;

constexpr std::uint64_t kBeamCases = berth::testing::by_build(400, 50);
constexpr std::size_t kWide = 20'000;

/// A beam with everything that it needs.
class Search {
 public:
  explicit Search(const Instance& instance) : instance_(instance) {
    for (std::uint32_t o = 0; o < instance.offers.size(); ++o) fillers_.emplace_back(instance, o);
  }

  BeamAnswer run(PlanLimits limits, std::size_t width, std::vector<LimitedRow> rows = {}) {
    if (limits.extra.empty()) limits.extra.assign(instance_.kinds.size(), 0);
    return Beam(instance_, fillers_, limits, std::move(rows), budget_).run(width);
  }

  /// Why an answer violates its limits, or nothing.
  std::optional<std::string> find_fault(const CoverChoice& covers, const PlanLimits& limits) {
    if (auto fault = reference::find_cover_fault(instance_, covers)) return fault;
    std::vector<Counts> pools(instance_.pool_count, Counts(instance_.kinds.size(), 0));
    if (!limits.extra.empty()) pools[limits.extra_pool] = limits.extra;
    std::int64_t slices = 0;
    for (std::size_t d = 0; d < covers.size(); ++d) {
      for (std::size_t k = 0; k < covers[d].size(); ++k) {
        pools[instance_.demands[d].pool][k] += covers[d][k];
        slices += covers[d][k];
      }
    }
    std::int64_t price = 0;
    std::int64_t all = 0;
    for (std::size_t o = 0; o < fillers_.size(); ++o) {
      std::int64_t gpus = 0;
      for (const Counts& pool : pools) gpus += fillers_[o].gpus_for(pool, budget_).gpus;
      if (gpus > instance_.offers[o].count_max.value_or(gpus)) return "more GPUs than the offer has";
      if (limits.offer_gpus_max && gpus > (*limits.offer_gpus_max)[o]) return "more GPUs of an offer than allowed";
      price += gpus * instance_.offers[o].price;
      all += gpus;
    }
    if (price > limits.price_max) return "too expensive";
    if (all > limits.gpus_max) return "too many GPUs";
    return slices > limits.slices_max ? std::optional<std::string>("too many slices") : std::nullopt;
  }

  [[nodiscard]] Budget& budget() { return budget_; }

 private:
  const Instance& instance_;
  std::vector<GpuFiller> fillers_;
  Budget budget_{.nodes_max = 2'000'000};
};

PlanLimits at_price(std::int64_t price_max) {
  PlanLimits limits;
  limits.price_max = price_max;
  return limits;
}

/// The rows of the price relaxation, limited to a price.
std::vector<LimitedRow> rows_for(const Instance& instance, std::int64_t price) {
  const RelaxedProblem problem{
      .counts_slices = false, .limits = count_limits(instance), .extra = Counts(instance.kinds.size(), 0)};
  std::vector<LimitedRow> rows;
  for (const PlanRow& row : relax(instance, problem).rows) rows.push_back({row, row.limit(price)});
  return rows;
}

TEST(Beam, FindsTheLeastPriceAndProvesThatNoneIsLower) {
  int judged = 0;
  int proven = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ++judged;
    const Instance& instance = solved.instance;
    Search search(instance);
    const PlanLimits at = at_price(solved.price());
    const BeamAnswer found = search.run(at, kWide, rows_for(instance, at.price_max));
    ASSERT_FALSE(found.is_proven_none);
    ASSERT_TRUE(found.plan.has_value());
    ASSERT_EQ(search.find_fault(*found.plan, at), std::nullopt);
    const BeamAnswer none = search.run(at_price(at.price_max - 1), kWide, rows_for(instance, at.price_max - 1));
    ASSERT_FALSE(none.plan.has_value());
    if (none.is_proven_none) ++proven;
  }
  EXPECT_GT(judged * 2, static_cast<int>(kBeamCases));
  EXPECT_GT(proven * 10, judged * 9);
}

/// The fewest slices and GPUs of all plans of the least price are known; any of the limits may be too tight.
TEST(Beam, KeepsEveryLimitAndProvesOnlyWhatIsTrue) {
  int found = 0;
  int proven = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Instance& instance = solved.instance;
    Rng rng = Rng(seed).split("limits");
    for (const std::size_t width : {std::size_t{1}, std::size_t{4}, kWide}) {
      PlanLimits limits = at_price(solved.price() + static_cast<std::int64_t>(rng.below(3)) - 1);
      if (rng.below(2) == 0) limits.slices_max = solved.optimum->slices + static_cast<std::int64_t>(rng.below(5)) - 2;
      if (rng.below(3) == 0) limits.gpus_max = static_cast<std::int64_t>(rng.below(6));
      Search search(instance);
      const bool has_rows = rng.below(2) == 0;
      const BeamAnswer answer =
          search.run(limits, width, has_rows ? rows_for(instance, limits.price_max) : std::vector<LimitedRow>());
      if (answer.plan) {
        ++found;
        ASSERT_FALSE(answer.is_proven_none);
        ASSERT_EQ(search.find_fault(*answer.plan, limits), std::nullopt);
        ASSERT_GE(limits.price_max, solved.price());
      }
      // The optimum's slices are those of a plan of the least price, with its largest free slice.
      const bool is_possible = limits.price_max >= solved.price() && limits.slices_max >= solved.optimum->slices &&
                               limits.gpus_max == PlanLimits::kNone;
      if (answer.is_proven_none) {
        ++proven;
        ASSERT_FALSE(is_possible);
      }
    }
  }
  EXPECT_GT(found, static_cast<int>(kBeamCases) / 4);
  EXPECT_GT(proven, static_cast<int>(kBeamCases) / 4);
}

TEST(Beam, FindsRoomForExtraSlices) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases)) {
    if (solved.optimum->largest_free.sms == 0) continue;
    if (std::ranges::any_of(solved.instance.offers, [](const OfferedGpus& offer) { return offer.price == 0; }))
      continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Instance& instance = solved.instance;
    bool is_found = false;
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      const reference::FreeSize size{instance.kinds[k].sms, instance.kinds[k].length};
      if (!instance.kinds[k].is_plain || size < solved.optimum->largest_free) continue;
      for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
        Search search(instance);
        PlanLimits limits{.price_max = solved.price(), .extra = Counts(instance.kinds.size(), 0), .extra_pool = pool};
        ++limits.extra[k];
        const BeamAnswer answer = search.run(limits, kWide);
        if (!answer.plan) continue;
        ASSERT_EQ(size, solved.optimum->largest_free) << "kind " << k << " is larger than any that stays free";
        ASSERT_EQ(search.find_fault(*answer.plan, limits), std::nullopt);
        is_found = true;
      }
    }
    ++judged;
    ASSERT_TRUE(is_found);
  }
  EXPECT_GT(judged, static_cast<int>(kBeamCases) / 4);
}

TEST(Beam, LimitsTheGpusOfEachOffer) {
  int judged = 0;
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases)) {
    if (solved.instance.offers.size() < 2) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    PackingProblem limited = solved.problem;
    Rng rng = Rng(seed).split("offers");
    PlanLimits limits;
    limits.offer_gpus_max.emplace();
    for (GpuOffer& offer : limited.offers) {
      limits.offer_gpus_max->push_back(static_cast<std::int64_t>(rng.below(4)));
      offer.count_max = std::min(offer.count_max.value_or(INT64_MAX), limits.offer_gpus_max->back());
    }
    reference::Exhaustive exhaustive(limited);
    const auto truth = exhaustive.solve();
    if (exhaustive.has_given_up()) continue;
    ++judged;
    Search search(solved.instance);
    const BeamAnswer answer = search.run(limits, kWide);
    ASSERT_EQ(answer.plan.has_value(), truth.has_value());
    if (!answer.plan) continue;
    ASSERT_EQ(search.find_fault(*answer.plan, limits), std::nullopt);
  }
  EXPECT_GT(judged, 0);
}

TEST(Beam, WidensUntilItKnows) {
  constexpr std::array<std::size_t, 3> kWidths = {1, 8, kWide};
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases / 2)) {
    const Instance& instance = solved.instance;
    std::vector<GpuFiller> fillers;
    for (std::uint32_t o = 0; o < instance.offers.size(); ++o) fillers.emplace_back(instance, o);
    Budget budget{.nodes_max = 2'000'000};
    const PlanLimits limits{.price_max = solved.price(), .extra = Counts(instance.kinds.size(), 0)};
    const BeamAnswer answer = Beam(instance, fillers, limits, {}, budget).run_wider(kWidths);
    ASSERT_TRUE(answer.plan.has_value()) << "seed " << seed;
  }
}

TEST(Beam, ProvesNothingWithoutABudget) {
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases / 4)) {
    Search search(solved.instance);
    for (const std::int64_t nodes_max : {0, 1, 5, 50}) {
      search.budget() = {.nodes_max = nodes_max};
      ASSERT_FALSE(search.run(at_price(solved.price()), kWide).is_proven_none) << "seed " << seed;
    }
  }
}

TEST(Beam, GivesTheSameAnswerTwice) {
  for (const auto& [seed, solved] : reference::solved_cases(kBeamCases / 4)) {
    const PlanLimits limits = at_price(solved.price() + 1);
    ASSERT_EQ(Search(solved.instance).run(limits, 8).plan, Search(solved.instance).run(limits, 8).plan);
  }
}

}  // namespace
}  // namespace berth::packing::detail
