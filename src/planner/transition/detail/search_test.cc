#include "planner/transition/detail/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
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

constexpr std::uint64_t kSearchCases = berth::testing::by_build(300, 40);
constexpr std::int64_t kNodesMax = 20'000'000;

/// A demand that runs on some profiles of a GPU model.
PackingProblem runs_on(const char* gpu, const std::vector<ProfileId>& profiles) {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model(gpu)});
  problem.demands.push_back(
      {.model = "a", .tenant = "a", .requests_per_second = Decimal(100), .latency_ms = Decimal(100)});
  problem.tables.push_back({.model = "a", .points = {}});
  for (const ProfileId profile : profiles) {
    problem.tables[0].points.push_back(
        {problem.offers[0].model.name, profile_name(problem.offers[0].model, profile), 1, 1, Decimal(1), Decimal(10)});
  }
  return problem;
}

SiteSet mask_of(const OfferView& offer, const mig::State& state) {
  SiteSet sites = 0;
  for (const mig::Placement& placement : state) sites |= SiteSet{1} << offer.site_of(placement);
  return sites;
}

/// The sizes of the slices of `larger` that the other state does not have.
GpuRoom::Extra size_beyond(const OfferView& offer, const mig::State& larger, SiteSet standing) {
  GpuRoom::Extra extra;
  for (const mig::Placement& placement : larger) {
    const int site = offer.site_of(placement);
    if (((standing >> site) & 1U) != 0) continue;
    extra.weight += offer.weights[ix(offer.map.sites[ix(site)].kind)];
    extra.length += offer.lengths[ix(offer.map.sites[ix(site)].kind)];
  }
  return extra;
}

TEST(GpuRoom, IsTheMostThatAnyLegalStateAdds) {
  struct Row {
    const char* gpu;
    std::vector<const char*> profiles;
  };
  for (const Row& row :
       {Row{"A30-24GB", {"1g.6gb", "2g.12gb", "4g.24gb"}}, Row{"A30-24GB", {"2g.12gb"}},
        Row{"A100-80GB", {"1g.10gb", "3g.40gb", "4g.40gb"}}, Row{"A100-80GB", {"2g.20gb", "3g.40gb"}}}) {
    mig::Rules rules;
    for (const char* name : row.profiles) {
      rules.profiles.push_back(*mig::find_profile(*mig::find_gpu_model(row.gpu), name));
    }
    std::ranges::sort(rules.profiles);
    const PackingProblem problem = runs_on(row.gpu, rules.profiles);
    const TransitionView view = *view_of(problem, {}, {});
    const OfferView& offer = view.offers[0];
    std::vector<mig::State> states;
    mig::for_each_state(*offer.model, rules, [&](const mig::State& state) { states.push_back(state); });
    GpuRoom room(view);
    for (const mig::State& state : states) {
      const SiteSet standing = mask_of(offer, state);
      GpuRoom::Extra most;
      for (const mig::State& larger : states) {
        if ((mask_of(offer, larger) & standing) != standing) continue;
        const GpuRoom::Extra extra = size_beyond(offer, larger, standing);
        most = {std::max(most.weight, extra.weight), std::max(most.length, extra.length)};
      }
      const GpuRoom::Extra found = room.extra(0, standing);
      ASSERT_EQ(found.weight, most.weight) << mig::to_string(*offer.model, state);
      ASSERT_EQ(found.length, most.length) << mig::to_string(*offer.model, state);
    }
  }
}

TEST(GpuRoom, UsefulSitesAreThoseOfTheDemandsTheSmallestFirst) {
  const GpuModel a30 = *mig::find_gpu_model("A30-24GB");
  const PackingProblem problem =
      runs_on("A30-24GB", {*mig::find_profile(a30, "1g.6gb"), *mig::find_profile(a30, "2g.12gb"), ProfileId::full()});
  const TransitionView view = *view_of(problem, {}, {});
  std::vector<int> weights;
  const GpuRoom room(view);
  for (const int site : room.useful(0))
    weights.push_back(view.offers[0].weights[ix(view.offers[0].map.sites[ix(site)].kind)]);
  EXPECT_EQ(weights, (std::vector<int>{1, 1, 1, 1, 2, 2, 4}));
}

std::vector<int> all_gpus(const TransitionView& view) {
  std::vector<int> gpus(view.gpus.size());
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

TEST(GpuSearch, FindsTheFewestChangesOfAllPlans) {
  int judged = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kSearchCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto fewest = EveryPlan(view).fewest();
    if (!fewest) continue;
    ++judged;
    GpuRoom room(view);
    GpuSearch search(view, room, SlicesByGpu(view.gpus.size()), all_gpus(view));
    ASSERT_LE(search.bound(), *fewest);
    std::int64_t nodes = kNodesMax;
    ASSERT_EQ(search.run(*fewest - 1, nodes), std::nullopt);
    ASSERT_GT(nodes, 0);
    const auto plan = search.run(*fewest, nodes);
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(find_plan_fault(view, *plan), std::nullopt);
    ASSERT_EQ(changes_of(view, *plan), *fewest);
  }
  EXPECT_GT(judged * 10, static_cast<int>(kSearchCases) * 7);
}

/// Demands that the unchanged GPUs serve on their own: they get nothing on the others.
std::vector<bool> settled_by(const TransitionView& view, const SlicesByGpu& plan, const std::vector<bool>& free) {
  std::vector<bool> is_settled(view.demands.size(), true);
  std::vector<std::vector<SliceRates>> items(view.demands.size());
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    for (const Held& held : plan[gpu]) {
      if (free[gpu]) is_settled[ix(held.demand)] = false;
      items[ix(held.demand)].push_back(item_on(view, static_cast<int>(gpu), held));
    }
  }
  for (std::size_t d = 0; d < items.size(); ++d) {
    if (!is_tight_somehow(view.demands[d].need, items[d])) is_settled[d] = false;
  }
  return is_settled;
}

TEST(GpuSearch, LeavesTheOtherGpusAsTheyAre) {
  int judged = 0;
  int better = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kSearchCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("search");
    const auto before = any_plan(view, rng);
    if (!before) continue;
    std::vector<int> gpus;
    std::vector<bool> free(view.gpus.size(), false);
    for (std::size_t gpu = 0; gpu < view.gpus.size(); ++gpu) {
      if (rng.below(2) == 0) continue;
      free[gpu] = true;
      gpus.push_back(static_cast<int>(gpu));
    }
    const std::vector<bool> is_settled = settled_by(view, *before, free);
    std::int64_t fewest = INT64_MAX;
    const bool are_all = EveryPlan(view, free, *before).visit([&](const SlicesByGpu& plan, std::int64_t changes) {
      for (const int gpu : gpus) {
        for (const Held& held : plan[ix(gpu)]) {
          if (is_settled[ix(held.demand)]) return;
        }
      }
      fewest = std::min(fewest, changes);
    });
    if (!are_all) continue;
    ++judged;
    GpuRoom room(view);
    GpuSearch search(view, room, *before, gpus);
    ASSERT_LE(search.bound(), fewest);
    std::int64_t nodes = kNodesMax;
    ASSERT_EQ(search.run(fewest - 1, nodes), std::nullopt);
    const auto plan = search.run(fewest, nodes);
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(find_plan_fault(view, *plan), std::nullopt);
    ASSERT_EQ(changes_of(view, *plan), fewest);
    for (std::size_t gpu = 0; gpu < plan->size(); ++gpu) {
      if (free[gpu]) continue;
      ASSERT_TRUE(std::ranges::is_permutation((*plan)[gpu], (*before)[gpu]));
    }
    if (fewest < changes_of(view, *before)) ++better;
  }
  EXPECT_GT(judged * 10, static_cast<int>(kSearchCases) * 7);
  EXPECT_GT(better, 0);
}

TEST(GpuSearch, FillsAPlanInWhichSlicesAreMissing) {
  for (const auto& [seed, drawn, view] : drawn_cases(kSearchCases / 3)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("missing");
    auto before = any_plan(view, rng);
    if (!before || view.gpus.empty()) continue;
    const std::int64_t changes = changes_of(view, *before);
    const auto gpu = static_cast<int>(rng.below(view.gpus.size()));
    (*before)[ix(gpu)].clear();
    GpuRoom room(view);
    GpuSearch search(view, room, *before, {gpu});
    std::int64_t nodes = kNodesMax;
    const auto plan = search.run(changes, nodes);
    ASSERT_TRUE(plan.has_value());
    ASSERT_EQ(find_plan_fault(view, *plan), std::nullopt);
    ASSERT_LE(changes_of(view, *plan), changes);
  }
}

TEST(GpuSearch, EndsWithItsBudget) {
  PackingProblem problem = runs_on("A30-24GB", mig::plain_rules(*mig::find_gpu_model("A30-24GB")).profiles);
  problem.demands[0].requests_per_second = Decimal(4);
  packing::PackResult fewest;
  fewest.packing.gpu_offers = {0};
  const TransitionView view = *view_of(problem, {}, fewest);
  GpuRoom room(view);
  for (const std::int64_t budget : {1, 2, 5}) {
    std::int64_t nodes = budget;
    EXPECT_EQ(GpuSearch(view, room, SlicesByGpu(1), {0}).run(4, nodes), std::nullopt) << budget;
    EXPECT_LE(nodes, 0) << budget;
  }
  std::int64_t nodes = 1000;
  EXPECT_TRUE(GpuSearch(view, room, SlicesByGpu(1), {0}).run(4, nodes).has_value());
  EXPECT_GT(nodes, 0);
}

}  // namespace
}  // namespace berth::transition::detail
