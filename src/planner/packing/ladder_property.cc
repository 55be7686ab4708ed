// The ladder: on thousands of random small problems an exhaustive search, a simple one, an integer model and `pack`
// agree, and the verifier accepts each plan.

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/test_cases.h"
#include "planner/packing/find_fault.h"
#include "planner/packing/pack.h"
#include "planner/packing/testing/first_fit.h"
#include "planner/packing/testing/integer_model.h"
#include "planner/packing/testing/problems.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing {
namespace {

using reference::FreeSize;
using reference::Optimum;

constexpr std::uint64_t kLadderCases = testing::by_build(2500, 400);
constexpr std::uint64_t kTiesEvery = 10;  ///< the integer model of ties is large

/// A demand with a rate that no row can serve.
bool has_hopeless_demand(const PackingProblem& problem) {
  return std::ranges::any_of(problem.demands, [&](const Demand& demand) {
    const auto serves = [&](const GpuOffer& offer) {
      return std::ranges::any_of(reference::all_profiles(offer.model), [&](ProfileId profile) {
        return reference::best_row(problem, demand, offer.model, profile) != nullptr;
      });
    };
    return demand.requests_per_second.sign() > 0 && std::ranges::none_of(problem.offers, serves);
  });
}

bool has_prices(const PackingProblem& problem) { return problem.offers.front().micro_usd_per_hour.has_value(); }

/// The exhaustive search's answer; `is_known` is false when the problem is too large for it.
struct Truth {
  bool is_known = true;
  std::optional<Optimum> optimum;
};

Truth truth_of(const PackingProblem& problem) {
  reference::Exhaustive exhaustive(problem);
  Truth truth{.is_known = true, .optimum = exhaustive.solve()};
  truth.is_known = !exhaustive.has_given_up();
  return truth;
}

void expect_first_fit_agrees(const PackingProblem& problem, const std::optional<Optimum>& optimum) {
  const std::optional<Packing> simple = reference::FirstFit(problem).solve();
  if (!simple) return;
  EXPECT_EQ(find_fault(problem, *simple), std::nullopt);
  ASSERT_TRUE(optimum.has_value()) << "first fit found a plan";
  EXPECT_LE(optimum->cost, reference::cost_of(problem, *simple));
}

void expect_integer_model_agrees(const PackingProblem& problem, const std::optional<Optimum>& optimum) {
  const solver::MipAnswer answer = reference::IntegerModel(problem, {}).solve();
  if (!optimum) {
    EXPECT_EQ(answer.status, solver::Status::kInfeasible);
    return;
  }
  ASSERT_EQ(answer.status, solver::Status::kOptimal);
  EXPECT_EQ(std::llround(answer.objective), optimum->cost);
}

/// The integer model finds equally few slices with an equally large free one, and no larger free one.
void expect_integer_model_agrees_on_ties(const PackingProblem& problem, const Optimum& optimum) {
  const reference::IntegerGoal same{.cost_max = optimum.cost, .free_min = optimum.largest_free};
  const solver::MipAnswer fewest = reference::IntegerModel(problem, same).solve();
  ASSERT_EQ(fewest.status, solver::Status::kOptimal);
  EXPECT_EQ(std::llround(fewest.objective), optimum.slices);
  reference::IntegerGoal larger = same;
  ++larger.free_min.length;
  EXPECT_EQ(reference::IntegerModel(problem, larger).solve().status, solver::Status::kInfeasible);
}

FreeSize size_of(const PackingProblem& problem, const Packing& packing, const std::optional<Slice>& slice) {
  if (!slice) return {};
  const GpuModel& model = problem.offers[packing.gpu_offers[slice->gpu.index]].model;
  return {profile_sms(model, slice->profile), model.profiles[slice->profile.index].length};
}

/// The score agrees with the plan.
void expect_score_is_of_the_plan(const PackingProblem& problem, const PackResult& result) {
  const std::int64_t cost = reference::cost_of(problem, result.packing);
  EXPECT_EQ(result.score.gpus, std::ssize(result.packing.gpu_offers));
  EXPECT_EQ(result.score.slices, std::ssize(result.packing.slices));
  EXPECT_EQ(result.score.micro_usd_per_hour, has_prices(problem) ? std::optional(cost) : std::nullopt);
  EXPECT_EQ(size_of(problem, result.packing, result.score.largest_free),
            reference::largest_free_of(problem, result.packing));
  EXPECT_EQ(result.is_proven, result.bound == cost);
}

/// The empty places can be created in addition to the plan, and then no plain slice fits any more.
void expect_unused_fills_the_gpus(const PackingProblem& problem, const PackResult& result) {
  std::vector<mig::State> states = reference::states_on(result.packing);
  for (const Slice& slice : result.unused) {
    ASSERT_LT(slice.gpu.index, states.size());
    const GpuModel& model = problem.offers[result.packing.gpu_offers[slice.gpu.index]].model;
    mig::State& state = states[slice.gpu.index];
    EXPECT_EQ(size_of(problem, result.packing, slice), reference::largest_free(model, state));
    state.push_back({slice.start, slice.profile});
    EXPECT_EQ(mig::find_clash(model, state), std::nullopt);
  }
  for (std::size_t gpu = 0; gpu < states.size(); ++gpu) {
    const GpuModel& model = problem.offers[result.packing.gpu_offers[gpu]].model;
    EXPECT_EQ(reference::largest_free(model, states[gpu]), FreeSize{});
  }
}

/// How often `pack` proved each objective.
struct Proofs {
  int plans = 0;
  int gpus = 0;
  int largest_free = 0;
  int slices = 0;
};

void expect_pack_agrees(const PackingProblem& problem, const Optimum& optimum, const PackResult& result,
                        Proofs& proofs) {
  const std::int64_t cost = reference::cost_of(problem, result.packing);
  EXPECT_EQ(find_fault(problem, result.packing), std::nullopt);
  expect_score_is_of_the_plan(problem, result);
  expect_unused_fills_the_gpus(problem, result);
  EXPECT_LE(result.bound, optimum.cost);
  EXPECT_GE(cost, optimum.cost);
  EXPECT_EQ(result.is_proven, cost == optimum.cost) << "cost " << cost << ", least " << optimum.cost;
  const FreeSize free = reference::largest_free_of(problem, result.packing);
  ++proofs.plans;
  proofs.gpus += result.is_proven ? 1 : 0;
  if (result.is_largest_free_proven) {
    ++proofs.largest_free;
    EXPECT_EQ(free, optimum.largest_free) << free.sms << " SMs, possible are " << optimum.largest_free.sms;
  }
  if (result.is_slice_count_proven) {
    ++proofs.slices;
    EXPECT_TRUE(result.is_largest_free_proven);
    EXPECT_EQ(result.score.slices, optimum.slices);
  }
}

void expect_points_agree(const PackingProblem& problem) {
  for (const Demand& demand : problem.demands) {
    for (const GpuOffer& offer : problem.offers) {
      for (const ProfileId profile : reference::all_profiles(offer.model)) {
        const PerformancePoint* row = reference::best_row(problem, demand, offer.model, profile);
        EXPECT_EQ(best_point(problem, demand, offer.model, profile),
                  row == nullptr ? std::nullopt : std::optional(*row));
      }
    }
  }
}

TEST(Ladder, TheReferencesAgreeWithEachOther) {
  int known = 0;
  int infeasible = 0;
  const auto seeds = testing::case_seeds(kLadderCases);
  for (const std::uint64_t seed : seeds) {
    if (HasFailure()) break;
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + reference::to_text(problem));
    const Truth truth = truth_of(problem);
    if (!truth.is_known) continue;
    ++known;
    infeasible += truth.optimum ? 0 : 1;
    expect_first_fit_agrees(problem, truth.optimum);
    expect_integer_model_agrees(problem, truth.optimum);
    if (truth.optimum && seed % kTiesEvery == 0) expect_integer_model_agrees_on_ties(problem, *truth.optimum);
  }
  const auto count = static_cast<double>(seeds.size());
  EXPECT_GT(known, 0.95 * count);
  EXPECT_GT(infeasible, 0.02 * count);
  EXPECT_LT(infeasible, 0.5 * count);
}

TEST(Ladder, PackAgreesWithTheReferences) {
  Proofs proofs;
  for (const std::uint64_t seed : testing::case_seeds(kLadderCases)) {
    if (HasFailure()) break;
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + reference::to_text(problem));
    expect_points_agree(problem);
    const Truth truth = truth_of(problem);
    if (!truth.is_known) continue;
    const Result<PackResult> result = pack(problem, {});
    ASSERT_EQ(result.has_value(), truth.optimum.has_value()) << (result ? "" : result.error().message);
    if (result) expect_pack_agrees(problem, *truth.optimum, *result, proofs);
    EXPECT_FALSE(has_hopeless_demand(problem) && result.has_value());
  }
  EXPECT_EQ(proofs.gpus, proofs.plans);
  EXPECT_GT(proofs.largest_free, 0.95 * proofs.plans);
  EXPECT_GT(proofs.slices, 0.95 * proofs.plans);
}

}  // namespace
}  // namespace berth::packing
