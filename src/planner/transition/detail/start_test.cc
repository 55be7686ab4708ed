#include "planner/transition/detail/start.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/pack.h"
#include "planner/transition/detail/test_cases.h"

namespace berth::transition::detail {
namespace {

constexpr std::uint64_t kStartCases = berth::testing::by_build(400, 60);

std::optional<Packing> refuses(const PackingProblem&) { return std::nullopt; }

/// Demands on an A30 with one row per plain profile: a rate of 1 per compute slice.
PackingProblem plain_problem_of(const std::vector<std::pair<const char*, int>>& demands) {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model("A30-24GB")});
  const GpuModel& model = problem.offers[0].model;
  for (const auto& [name, rate] : demands) {
    problem.demands.push_back(
        {.model = name, .tenant = name, .requests_per_second = Decimal(rate), .latency_ms = Decimal(100)});
    problem.tables.push_back({.model = name, .points = {}});
    for (const ProfileId profile : mig::plain_rules(model).profiles) {
      const MigProfile& mig = model.profiles[profile.index];
      problem.tables.back().points.push_back({model.name, mig.name, 1, 1, Decimal(mig.compute_slices), Decimal(10)});
    }
  }
  return problem;
}

PackedSlice small_slice(std::uint32_t gpu, int start, std::uint32_t demand) {
  return {.slice = {{gpu}, start, *mig::find_profile(*mig::find_gpu_model("A30-24GB"), "1g.6gb")},
          .demand = demand,
          .batch = 1,
          .processes = 1,
          .requests_per_second = Decimal(1)};
}

TEST(PlanLists, HoldEverySliceOnce) {
  for (const auto& [seed, drawn, view] : drawn_cases(kStartCases / 4)) {
    Rng rng = Rng(seed).split("lists");
    const auto plan = any_plan(view, rng);
    if (!plan) continue;
    const auto slices = by_demand(view, *plan);
    ASSERT_EQ(slices.size(), view.demands.size());
    std::size_t count = 0;
    for (std::size_t d = 0; d < slices.size(); ++d) {
      const std::vector<SliceRates> items = rates_of(view, slices[d]);
      ASSERT_EQ(items.size(), slices[d].size());
      count += items.size();
      for (std::size_t i = 0; i < items.size(); ++i) {
        const HeldAt& own = slices[d][i];
        ASSERT_EQ(own.held.demand, static_cast<int>(d));
        ASSERT_EQ(std::ranges::count((*plan)[ix(own.gpu)], own.held), 1);
        ASSERT_EQ(items[i], item_on(view, own.gpu, own.held)) << "seed " << seed;
      }
    }
    for (const std::vector<Held>& gpu : *plan) {
      count -= gpu.size();
      SiteSet sites = 0;
      for (const Held& held : gpu) sites += SiteSet{1} << held.site;
      ASSERT_EQ(sites_of(gpu), sites);
    }
    ASSERT_EQ(count, 0U);
  }
}

/// A slice at a legal site of a GPU in use, for a demand that can run there.
bool add_any(const TransitionView& view, SlicesByGpu& plan, Rng& rng) {
  for (int tries = 0; tries < 50; ++tries) {
    const std::size_t gpu = rng.below(plan.size());
    const OfferView& offer = view.offers[ix(view.gpus[gpu].offer)];
    const Held held{static_cast<int>(rng.below(offer.map.sites.size())),
                    static_cast<int>(rng.below(view.demands.size())), kNone};
    const int tenant = view.demands[ix(held.demand)].tenant;
    if (plan[gpu].empty() || !offer.fits(sites_of(plan[gpu]), held.site)) continue;
    if (view.keeps_tenants_apart && view.demands[ix(plan[gpu].front().demand)].tenant != tenant) continue;
    if (item_on(view, static_cast<int>(gpu), held).best == 0) continue;
    plan[gpu].push_back(held);
    return true;
  }
  return false;
}

TEST(IsComplete, AsAPlanWithoutFault) {
  int incomplete = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kStartCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("complete");
    auto plan = any_plan(view, rng);
    if (!plan || plan->empty()) continue;
    ASSERT_TRUE(is_complete(view, *plan));
    for (int round = 0; round < 4; ++round) {
      std::vector<Held>& gpu = (*plan)[rng.below(plan->size())];
      if (rng.below(2) == 0) {
        add_any(view, *plan, rng);
      } else if (!gpu.empty()) {
        gpu.erase(gpu.begin() + static_cast<std::ptrdiff_t>(rng.below(gpu.size())));
      }
      ASSERT_EQ(is_complete(view, *plan), find_plan_fault(view, *plan) == std::nullopt);
      if (!is_complete(view, *plan)) ++incomplete;
    }
  }
  EXPECT_GT(incomplete, static_cast<int>(kStartCases));
}

TEST(IsComplete, KeepsTheLimits) {
  const PackingProblem problem = plain_problem_of({{"a", 8}});
  packing::PackResult fewest;
  fewest.packing.gpu_offers = {0, 0};
  TransitionView view = *view_of(problem, {}, fewest);
  const int whole = view.offers[0].site_of({0, *mig::find_profile(problem.offers[0].model, "4g.24gb")});
  const SlicesByGpu plan = {{{whole, 0, kNone}}, {{whole, 0, kNone}}};
  EXPECT_TRUE(is_complete(view, plan));
  EXPECT_FALSE(is_complete(view, {{{whole, 0, kNone}}, {}}));
  view.offers[0].count_max = 1;
  EXPECT_FALSE(is_complete(view, plan));
  view.offers[0].count_max = 2;
  view.budget = 1;
  EXPECT_FALSE(is_complete(view, plan));
}

TEST(Starter, TheFallbackIsAlwaysFound) {
  for (const auto& [seed, drawn, view] : drawn_cases(kStartCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GpuRoom room(view);
    const auto plan = Starter(view, drawn.problem, drawn.fewest.packing, room).keep_gpus(0, false, refuses);
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(find_plan_fault(view, *plan), std::nullopt);
  }
}

// The GPUs have other numbers in the existing plan; the packing is placed onto its existing slices.
TEST(Starter, APackingThatExistsStaysAsItIs) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kStartCases)) {
    auto drawn = TransitionGenerator(seed).draw();
    if (!drawn) continue;
    ++judged;
    Packing& existing = drawn->standing.packing;
    drawn->standing.demands = drawn->problem.demands;
    existing = drawn->fewest.packing;
    std::ranges::reverse(existing.gpu_offers);
    for (PackedSlice& packed : existing.slices) {
      packed.slice.gpu.index = static_cast<std::uint32_t>(existing.gpu_offers.size() - 1) - packed.slice.gpu.index;
    }
    std::ranges::sort(existing.slices, {}, &PackedSlice::slice);
    const TransitionView view = *view_of(drawn->problem, drawn->standing, drawn->fewest);
    GpuRoom room(view);
    const auto plan = Starter(view, drawn->problem, drawn->fewest.packing, room).keep_gpus(0, false, refuses);
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(changes_of(view, *plan), 0) << "seed " << seed;
  }
  EXPECT_GT(judged, 0);
}

TEST(Starter, PlansThatKeepGpusAreComplete) {
  int found = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kStartCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GpuRoom room(view);
    Starter starter(view, drawn.problem, drawn.fewest.packing, room);
    for (std::size_t count = 1; count <= starter.keepers().size() + 1; ++count) {
      for (const bool fills_room : {false, true}) {
        const auto plan = starter.keep_gpus(count, fills_room, first_fit);
        if (!plan) continue;
        ++found;
        ASSERT_EQ(find_plan_fault(view, *plan), std::nullopt) << count << " sites";
      }
    }
  }
  EXPECT_GT(found, static_cast<int>(kStartCases));
}

/// The rest of a problem has no more demand than the problem, and no more GPUs.
TEST(Starter, TheRestIsASmallerProblem) {
  int asked = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kStartCases)) {
    const auto drawn = TransitionGenerator(seed).draw();
    if (!drawn) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const PackingProblem& whole = drawn->problem;
    const TransitionView view = *view_of(whole, drawn->standing, drawn->fewest);
    const Packer checks = [&](const PackingProblem& rest) -> std::optional<Packing> {
      ++asked;
      EXPECT_EQ(rest.demands.size(), whole.demands.size());
      Decimal total;
      for (std::size_t d = 0; d < rest.demands.size(); ++d) {
        const Decimal rate = packing::reference::rate_wanted(rest, rest.demands[d]);
        EXPECT_GE(rate, Decimal(0));
        EXPECT_LE(rate, packing::reference::rate_wanted(whole, whole.demands[d]));
        total += rate;
      }
      EXPECT_GT(total, Decimal(0)) << "nothing is left to pack";
      for (std::size_t o = 0; o < rest.offers.size(); ++o) {
        EXPECT_GE(rest.offers[o].count_max.value_or(-1), 0);
        EXPECT_LE(*rest.offers[o].count_max, view.offers[o].count_max);
        EXPECT_LT(*rest.offers[o].count_max, std::ssize(view.gpus) + 1);
      }
      return std::nullopt;
    };
    GpuRoom room(view);
    Starter starter(view, whole, drawn->fewest.packing, room);
    for (std::size_t count = 1; count <= starter.keepers().size(); ++count) {
      const int before = asked;
      const auto plan = starter.keep_gpus(count, true, checks);
      ASSERT_EQ(plan.has_value() && asked > before, false) << "a plan of a packer that refused";
    }
  }
  EXPECT_GT(asked, 0);
}

/// A hand-made transition as a start. Keeps a reference to the problem.
struct ByHand {
  ByHand(const PackingProblem& problem, const Packing& stands, const Packing& of_fewest)
      : fewest{.packing = of_fewest, .score = {}, .unused = {}},
        view(*view_of(problem, {problem.demands, stands}, fewest)),
        room(view),
        starter(view, problem, fewest.packing, room) {}
  packing::PackResult fewest;
  TransitionView view;
  GpuRoom room;
  Starter starter;
};

// "a" needs one slice more: in the free room of its GPU if that is filled, otherwise on another GPU, which is too much.
TEST(Starter, FillsTheRoomBesideWhatStays) {
  const PackingProblem problem = plain_problem_of({{"a", 3}});
  ByHand of(problem, {{0}, {small_slice(0, 0, 0), small_slice(0, 1, 0)}},
            {{0}, {small_slice(0, 0, 0), small_slice(0, 1, 0), small_slice(0, 2, 0)}});
  const auto filled = of.starter.keep_gpus(1, true, refuses);
  ASSERT_TRUE(filled.has_value());
  EXPECT_EQ(changes_of(of.view, *filled), 1);
  EXPECT_EQ(of.starter.keep_gpus(1, false, first_fit), std::nullopt);
}

// One slice of 2 is fewer than two of 1.
TEST(Starter, FillsWithTheSmallestSliceThatCoversTheShortage) {
  const PackingProblem problem = plain_problem_of({{"a", 3}});
  ByHand of(problem, {{0}, {small_slice(0, 0, 0)}},
            {{0}, {small_slice(0, 0, 0), small_slice(0, 1, 0), small_slice(0, 2, 0)}});
  const auto filled = of.starter.keep_gpus(1, true, refuses);
  ASSERT_TRUE(filled.has_value());
  EXPECT_EQ(changes_of(of.view, *filled), 1);
}

TEST(Starter, WhatStaysCountsWithItsBestPoint) {
  PackingProblem problem = plain_problem_of({{"a", 2}});
  std::vector<PerformancePoint>& points = problem.tables[0].points;
  points.insert(points.begin() + 1, {points[0].gpu, points[0].profile, 8, 1, Decimal(2), Decimal(20)});
  ByHand of(problem, {{0}, {small_slice(0, 0, 0)}}, {{0}, {small_slice(0, 3, 0)}});
  const auto plan = of.starter.keep_gpus(1, true, refuses);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(changes_of(of.view, *plan), 0);
}

// The slices that fill the room cover the whole need, so the slice that stayed becomes surplus.
TEST(Starter, DropsWhatNewSlicesMakeSurplus) {
  PackingProblem problem = plain_problem_of({{"a", 4}});
  problem.tables[0].points = {problem.tables[0].points[0], problem.tables[0].points[1]};
  problem.tables[0].points[1].requests_per_second = Decimal(4);
  ByHand of(problem, {{0}, {small_slice(0, 0, 0)}},
            {{0}, {small_slice(0, 0, 0), small_slice(0, 1, 0), small_slice(0, 2, 0), small_slice(0, 3, 0)}});
  const auto plan = of.starter.keep_gpus(1, true, refuses);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ((*plan)[0].size(), 1U);
  EXPECT_EQ(changes_of(of.view, *plan), 2);
}

TEST(Starter, KeepsNoMoreThanTheNeedTakes) {
  const PackingProblem problem = plain_problem_of({{"a", 2}});
  Packing stands = {{0, 0}, {}};
  for (int start = 0; start < 4; ++start) stands.slices.push_back(small_slice(0, start, 0));
  stands.slices.push_back(small_slice(1, 0, 0));
  ByHand of(problem, stands, {{0}, {small_slice(0, 0, 0), small_slice(0, 1, 0)}});
  const auto plan = of.starter.keep_gpus(1, true, refuses);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ((*plan)[0].size(), 2U);
  EXPECT_TRUE((*plan)[1].empty());
}

TEST(Starter, GpusThatKeepMostComeFirst) {
  for (const auto& [seed, drawn, view] : drawn_cases(kStartCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GpuRoom room(view);
    Starter starter(view, drawn.problem, drawn.fewest.packing, room);
    const auto kept_at = [&](int gpu) {
      return std::ranges::count_if(view.standing,
                                   [&](const StandingView& stood) { return stood.gpu == gpu && stood.best > 0; });
    };
    std::set<int> keepers;
    for (int gpu = 0; gpu < static_cast<int>(view.gpus.size()); ++gpu) {
      if (kept_at(gpu) > 0) keepers.insert(gpu);
    }
    const std::vector<int> ranked = starter.keepers();
    ASSERT_EQ(std::set<int>(ranked.begin(), ranked.end()), keepers);
    ASSERT_EQ(ranked.size(), keepers.size());
    ASSERT_TRUE(std::ranges::is_sorted(
        ranked, [&](int a, int b) { return std::pair(-kept_at(a), a) < std::pair(-kept_at(b), b); }));
    starter.rank_gpus(true);
    ASSERT_TRUE(std::ranges::is_permutation(starter.keepers(), ranked));
  }
}

// Both GPUs keep one slice; on the first it is as large as the GPU, on the second three quarters are wasted.
TEST(Starter, GpusThatWasteLittleComeFirst) {
  const PackingProblem problem = plain_problem_of({{"a", 4}, {"b", 1}});
  StandingPlan standing = {problem.demands, {{0, 0}, {small_slice(0, 0, 1), small_slice(1, 0, 0)}}};
  standing.packing.slices[1].slice.profile = *mig::find_profile(problem.offers[0].model, "4g.24gb");
  const TransitionView view = *view_of(problem, standing, {});
  GpuRoom room(view);
  const Packing none;
  Starter starter(view, problem, none, room);
  EXPECT_EQ(starter.keepers(), (std::vector<int>{0, 1}));
  starter.rank_gpus(true);
  EXPECT_EQ(starter.keepers(), (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace berth::transition::detail
