#include "planner/packing/detail/assemble.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "planner/packing/find_fault.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

constexpr std::uint64_t kAssembleCases = berth::testing::by_build(400, 60);

/// A problem without limits on GPUs, so that any covers form a plan.
std::optional<PackingProblem> draw_unlimited(std::uint64_t seed) {
  PackingProblem problem = reference::ProblemGenerator(seed).draw();
  for (GpuOffer& offer : problem.offers) offer.count_max.reset();
  const auto instance = make_instance(problem);
  if (!instance || instance->demands.empty()) return std::nullopt;
  return problem;
}

/// Covers by random weights: they use all kinds of slices.
FoundPlan any_plan(const Instance& instance, Rng& rng) {
  FoundPlan plan;
  for (const InstanceDemand& demand : instance.demands) {
    Weights weights{{}, 1};
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      weights.by_kind.push_back(static_cast<std::int64_t>(rng.below(20)));
    }
    plan.covers.push_back(lightest_cover(demand, weights).cover);
  }
  return plan;
}

TEST(Assemble, AnyCoversBecomeALegalPlan) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kAssembleCases)) {
    const auto problem = draw_unlimited(seed);
    if (!problem) continue;
    const Instance instance = *make_instance(*problem);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("assemble");
    const FoundPlan plan = any_plan(instance, rng);
    if (reference::find_cover_fault(instance, plan.covers)) continue;
    ++judged;
    Budget budget{.nodes_max = 1'000'000};
    PlanSearch search(instance, budget);
    const Packing packing = assemble(*problem, instance, search, plan, budget);
    ASSERT_EQ(find_fault(*problem, packing), std::nullopt);
    ASSERT_EQ(reference::covers_of(instance, packing), plan.covers);
    ASSERT_TRUE(std::ranges::is_sorted(packing.gpu_offers));
    for (std::uint32_t o = 0; o < instance.offers.size(); ++o) {
      std::int64_t gpus = 0;
      for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
        Counts counts(instance.kinds.size(), 0);
        for (std::size_t d = 0; d < plan.covers.size(); ++d) {
          for (std::size_t k = 0; k < counts.size() && instance.demands[d].pool == pool; ++k) {
            counts[k] += plan.covers[d][k];
          }
        }
        gpus += search.fillers()[o].gpus_for(counts, budget).gpus;
      }
      ASSERT_EQ(std::ranges::count(packing.gpu_offers, o), gpus);
    }
  }
  EXPECT_GT(judged * 2, static_cast<int>(kAssembleCases));
}

/// The tenant of a GPU of a packing.
const std::string& tenant_on(const PackingProblem& problem, const Packing& packing, std::uint32_t gpu) {
  const auto first =
      std::ranges::find(packing.slices, gpu, [](const PackedSlice& packed) { return packed.slice.gpu.index; });
  return problem.demands[first->demand].tenant;
}

/// Whether a GPU of that offer and tenant has room for one more slice.
bool has_room(const PackingProblem& problem, const Packing& packing, const OfferedKind& kind,
              const std::string& tenant) {
  const std::vector<mig::State> states = reference::states_on(packing);
  for (std::uint32_t gpu = 0; gpu < states.size(); ++gpu) {
    if (packing.gpu_offers[gpu] != kind.offer) continue;
    if (problem.rules.keeps_tenants_apart && tenant_on(problem, packing, gpu) != tenant) continue;
    const GpuModel& model = problem.offers[kind.offer].model;
    const auto places = mig::placements_that_fit(model, states[gpu], mig::plain_rules(model));
    if (std::ranges::find(places, kind.profile, &mig::Placement::profile) != places.end()) return true;
  }
  return false;
}

// A kind that fits next to the others: with it the plan needs no more GPUs than without.
TEST(Assemble, AFreeSliceKeepsItsPlace) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kAssembleCases)) {
    const auto problem = draw_unlimited(seed);
    if (!problem) continue;
    const Instance instance = *make_instance(*problem);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("free");
    FoundPlan plan = any_plan(instance, rng);
    if (reference::find_cover_fault(instance, plan.covers)) continue;
    Budget budget{.nodes_max = 1'000'000};
    PlanSearch search(instance, budget);
    for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
      if (!instance.kinds[k].is_plain) continue;
      for (plan.free_pool = 0; plan.free_pool < instance.pool_count; ++plan.free_pool) {
        Counts counts(instance.kinds.size(), 0);
        std::string tenant;
        for (std::size_t d = 0; d < plan.covers.size(); ++d) {
          if (instance.demands[d].pool != plan.free_pool) continue;
          tenant = problem->demands[instance.demands[d].demand].tenant;
          for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += plan.covers[d][i];
        }
        GpuFiller& filler = search.fillers()[instance.kinds[k].offer];
        const std::int64_t without = filler.gpus_for(counts, budget).gpus;
        ++counts[k];
        if (without == 0 || filler.gpus_for(counts, budget).gpus > without) continue;
        ++judged;
        plan.free.reset();
        const std::size_t gpus = assemble(*problem, instance, search, plan, budget).gpu_offers.size();
        plan.free = k;
        const Packing packing = assemble(*problem, instance, search, plan, budget);
        ASSERT_EQ(find_fault(*problem, packing), std::nullopt);
        ASSERT_EQ(reference::covers_of(instance, packing), plan.covers);
        ASSERT_EQ(packing.gpu_offers.size(), gpus);
        ASSERT_TRUE(has_room(*problem, packing, instance.kinds[k], tenant)) << "kind " << k;
      }
    }
  }
  EXPECT_GT(judged, static_cast<int>(kAssembleCases) / 10);
}

TEST(AppendPacking, NumbersTheGpusOn) {
  const auto slice_on = [](std::uint32_t gpu, std::uint32_t demand) {
    return PackedSlice{.slice = {{gpu}, 0, ProfileId::full()},
                       .demand = demand,
                       .batch = 1,
                       .processes = 1,
                       .requests_per_second = Decimal(1)};
  };
  Packing packing{{0, 1}, {slice_on(0, 3), slice_on(1, 2)}};
  append_packing(packing, {{2, 0}, {slice_on(0, 0), slice_on(1, 1)}});
  EXPECT_EQ(packing, (Packing{{0, 1, 2, 0}, {slice_on(0, 3), slice_on(1, 2), slice_on(2, 0), slice_on(3, 1)}}));
  append_packing(packing, {});
  EXPECT_EQ(packing.gpu_offers.size(), 4U);
}

}  // namespace
}  // namespace berth::packing::detail
