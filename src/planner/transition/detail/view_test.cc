#include "planner/transition/detail/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/pack.h"
#include "planner/transition/detail/test_cases.h"

namespace berth::transition::detail {
namespace {

constexpr std::uint64_t kViewCases = berth::testing::by_build(500, 60);

GpuModel gpu(const char* name) { return *mig::find_gpu_model(name); }

/// A view of some GPU models without demands.
struct BareView {
  explicit BareView(const std::vector<const char*>& names) {
    for (const char* name : names) problem.offers.push_back({.model = gpu(name)});
    view = *view_of(problem, {}, {});
  }
  PackingProblem problem;
  TransitionView view;
};

/// One demand "a" on an A30 with one row per profile and 10 requests per second per compute slice.
PackingProblem one_demand(Decimal rate) {
  PackingProblem problem;
  problem.offers.push_back({.model = gpu("A30-24GB")});
  problem.demands.push_back({.model = "a", .tenant = "a", .requests_per_second = rate, .latency_ms = Decimal(100)});
  problem.tables.push_back({.model = "a", .points = {}});
  for (const ProfileId profile : mig::plain_rules(problem.offers[0].model).profiles) {
    const MigProfile& mig = problem.offers[0].model.profiles[profile.index];
    problem.tables[0].points.push_back(
        {problem.offers[0].model.name, mig.name, 1, 1, Decimal(10 * mig.compute_slices), Decimal(10)});
  }
  return problem;
}

PackedSlice small_slice_at_ten(std::uint32_t gpu_number, int start, std::uint32_t demand = 0) {
  return {.slice = {{gpu_number}, start, *mig::find_profile(gpu("A30-24GB"), "1g.6gb")},
          .demand = demand,
          .batch = 1,
          .processes = 1,
          .requests_per_second = Decimal(10)};
}

TEST(OfferView, KindsAreAllProfilesAndTheWholeGpu) {
  const BareView bare({"A30-24GB", "L4-24GB"});
  const OfferView& a30 = bare.view.offers[0];
  EXPECT_EQ(a30.map.kinds.size(), packing::reference::all_profiles(bare.problem.offers[0].model).size());
  EXPECT_EQ(a30.weights.back(), 4);
  EXPECT_EQ(a30.lengths.back(), 4);
  const OfferView& l4 = bare.view.offers[1];
  ASSERT_EQ(l4.map.kinds.size(), 1U);
  EXPECT_TRUE(l4.map.kinds[0].profile.is_full());
  EXPECT_EQ(l4.weight, 1);
  EXPECT_EQ(l4.length, 1);
}

TEST(OfferViewDeathTest, ASiteThatTheModelDoesNotHave) {
  const BareView bare({"L4-24GB"});
  EXPECT_DEATH((void)bare.view.offers[0].site_of({1, ProfileId::full()}), "site.has_value");
}

Decimal limited(const Decimal& rate, const Decimal& need) { return std::min(rate, need); }

TEST(TransitionView, RatesAreTheBestRowsInWholeNumbers) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kViewCases)) {
    const auto drawn = TransitionGenerator(seed).draw();
    if (!drawn) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto view = view_of(drawn->problem, drawn->standing, drawn->fewest);
    ASSERT_TRUE(view.has_value());
    for (std::size_t d = 0; d < view->demands.size(); ++d) {
      const Demand& asked = drawn->problem.demands[d];
      const DemandView& demand = view->demands[d];
      const Decimal need = packing::reference::rate_wanted(drawn->problem, asked);
      ASSERT_EQ(Decimal(demand.need), need * demand.scale);
      Rate most = 0;
      for (std::size_t o = 0; o < view->offers.size(); ++o) {
        const OfferView& offer = view->offers[o];
        for (std::size_t kind = 0; kind < offer.map.kinds.size(); ++kind) {
          const auto* row =
              packing::reference::best_row(drawn->problem, asked, *offer.model, offer.map.kinds[kind].profile);
          const Decimal best = row == nullptr ? Decimal(0) : limited(row->requests_per_second, need);
          ASSERT_EQ(Decimal(demand.rates[o][kind]), best * demand.scale);
          if (offer.count_max > 0) most = std::max(most, demand.rates[o][kind]);
        }
      }
      ASSERT_EQ(demand.rate_max, most);
    }
  }
}

TEST(TransitionView, TheScaleIsTheLeastPowerOfTen) {
  struct Row {
    Decimal rate;
    std::int64_t scale;
  };
  for (const Row& row : {Row{Decimal(30), 1}, Row{Decimal(61, 2), 10}, Row{Decimal(121, 4), 100}}) {
    const auto view = view_of(one_demand(row.rate), {}, {});
    EXPECT_EQ(view->demands[0].scale, Decimal(row.scale)) << row.rate.to_string();
  }
}

TEST(TransitionView, HeadroomIsPartOfTheNeed) {
  PackingProblem problem = one_demand(Decimal(30));
  problem.rules.headroom = Decimal(3, 2);
  EXPECT_EQ(view_of(problem, {}, {})->demands[0].need, 45);
}

/// The rate of a slice's own point, if that is usable.
std::optional<Decimal> own_usable_rate(const PackingProblem& problem, const Demand& demand, const GpuModel& model,
                                       const PackedSlice& slice) {
  for (const PerformancePoint& point : problem.table_of(demand.model)->points) {
    if (point.gpu == model.name && point.profile == profile_name(model, slice.slice.profile) &&
        point.batch == slice.batch && point.processes == slice.processes &&
        packing::reference::is_usable(problem, demand, point)) {
      return point.requests_per_second;
    }
  }
  return std::nullopt;
}

void check_standing(const TransitionCase& drawn, const TransitionView& view, std::size_t i) {
  const PackedSlice& slice = drawn.standing.packing.slices[i];
  const StandingView& stood = view.standing[i];
  const Demand& old = drawn.standing.demands[slice.demand];
  const std::uint32_t offer = drawn.standing.packing.gpu_offers[slice.slice.gpu.index];
  const GpuModel& model = drawn.problem.offers[offer].model;
  ASSERT_EQ(stood.gpu, static_cast<int>(slice.slice.gpu.index));
  ASSERT_EQ(view.offers[offer].map.sites[static_cast<std::size_t>(stood.site)].placement(),
            (mig::Placement{slice.slice.start, slice.slice.profile}));
  const auto own = std::ranges::find_if(drawn.problem.demands, [&](const Demand& demand) {
    return demand.model == old.model && demand.tenant == old.tenant;
  });
  if (own == drawn.problem.demands.end()) {
    ASSERT_EQ(stood.demand, kNone);
    ASSERT_EQ(stood.best, 0);
    return;
  }
  ASSERT_EQ(stood.demand, own - drawn.problem.demands.begin());
  const DemandView& demand = view.demands[static_cast<std::size_t>(stood.demand)];
  const Decimal need = packing::reference::rate_wanted(drawn.problem, *own);
  const auto in_view = [&](const Decimal& rate) { return (limited(rate, need) * demand.scale).floor(); };
  ASSERT_EQ(stood.in_force, in_view(rate_in_force(drawn.problem, model, *own, slice)));
  const auto* best = packing::reference::best_row(drawn.problem, *own, model, slice.slice.profile);
  const bool is_free = best == nullptr || drawn.problem.offers[offer].count_max == 0;
  ASSERT_EQ(stood.best, is_free ? 0 : in_view(best->requests_per_second));
  const auto usable = own_usable_rate(drawn.problem, *own, model, slice);
  ASSERT_EQ(stood.low, usable && demand.need > 0 ? in_view(*usable) : stood.best);
  ASSERT_EQ(stood.must_retune, !usable || demand.need == 0);
  ASSERT_EQ(std::ranges::count(demand.standing, static_cast<int>(i)), stood.best > 0 ? 1 : 0);
}

TEST(TransitionView, ExistingSlicesHaveTheRatesOfTheirPoints) {
  std::size_t slices = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kViewCases)) {
    const auto drawn = TransitionGenerator(seed).draw();
    if (!drawn) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto view = view_of(drawn->problem, drawn->standing, drawn->fewest);
    ASSERT_EQ(view->standing.size(), drawn->standing.packing.slices.size());
    for (std::size_t i = 0; i < view->standing.size(); ++i) check_standing(*drawn, *view, i);
    slices += view->standing.size();
  }
  EXPECT_GT(slices, kViewCases);
}

TEST(TransitionView, APointThatNobodyMeasuredKeepsThePlansRate) {
  const PackingProblem problem = one_demand(Decimal(30));
  PackedSlice slice = small_slice_at_ten(0, 0);
  EXPECT_EQ(rate_in_force(problem, problem.offers[0].model, problem.demands[0], slice), Decimal(10));
  slice.requests_per_second = Decimal(9);
  EXPECT_EQ(rate_in_force(problem, problem.offers[0].model, problem.demands[0], slice), Decimal(10));
  slice.batch = 7;
  EXPECT_EQ(rate_in_force(problem, problem.offers[0].model, problem.demands[0], slice), Decimal(9));
  const Demand unknown{.model = "b", .tenant = "b", .requests_per_second = Decimal(1), .latency_ms = Decimal(1)};
  EXPECT_EQ(rate_in_force(problem, problem.offers[0].model, unknown, slice), Decimal(9));
}

/// GPUs of two models in the existing plan and in the packing.
struct NewGpuCase {
  const char* name;
  std::vector<std::uint32_t> standing;
  std::vector<std::uint32_t> packed;
  std::optional<std::int64_t> prices[2];
  std::optional<std::int64_t> counts[2];
  std::int64_t budget;
  std::vector<int> new_gpus;  ///< their offers
};

TEST(TransitionView, NewGpusAreWhatTheBudgetBuys) {
  const NewGpuCase rows[] = {
      {"by count", {}, {0, 0, 1}, {{}, {}}, {{}, {}}, 3, {0, 0, 0, 1, 1, 1}},
      {"existing ones are used first", {0, 0, 1}, {0, 0, 1}, {{}, {}}, {{}, {}}, 3, {0, 1, 1}},
      {"by price", {}, {0, 1}, {2, 5}, {{}, {}}, 7, {0, 0, 0, 1}},
      {"up to the offer's count", {0}, {0, 0, 0}, {{}, {}}, {2, 1}, 3, {0, 1}},
      {"an offer without GPUs", {0, 0}, {1}, {{}, {}}, {0, {}}, 1, {1}},
      {"free GPUs: as many as packed", {}, {0, 0, 1}, {0, 4}, {{}, {}}, 4, {0, 0, 1}},
      {"nothing is needed", {0, 1}, {}, {{}, {}}, {{}, {}}, 0, {}},
  };
  for (const NewGpuCase& row : rows) {
    SCOPED_TRACE(row.name);
    PackingProblem problem;
    problem.offers = {{gpu("A30-24GB"), row.counts[0], row.prices[0]}, {gpu("L4-24GB"), row.counts[1], row.prices[1]}};
    StandingPlan standing;
    standing.packing.gpu_offers = row.standing;
    packing::PackResult fewest;
    fewest.packing.gpu_offers = row.packed;
    const auto view = view_of(problem, standing, fewest);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->budget, row.budget);
    ASSERT_EQ(view->gpus.size(), row.standing.size() + row.new_gpus.size());
    std::vector<int> fresh;
    for (std::size_t i = 0; i < view->gpus.size(); ++i) {
      ASSERT_EQ(view->gpus[i].is_standing, i < row.standing.size());
      if (!view->gpus[i].is_standing) fresh.push_back(view->gpus[i].offer);
    }
    EXPECT_EQ(fresh, row.new_gpus);
  }
}

TEST(TransitionView, SlicesAreListedAtTheirGpus) {
  const PackingProblem problem = one_demand(Decimal(30));
  const StandingPlan standing = {
      problem.demands, {{0, 0}, {small_slice_at_ten(0, 1), small_slice_at_ten(0, 3), small_slice_at_ten(1, 0)}}};
  const auto view = view_of(problem, standing, {});
  EXPECT_EQ(view->gpus[0].standing, (std::vector<int>{0, 1}));
  EXPECT_EQ(view->gpus[1].standing, (std::vector<int>{2}));
}

TEST(TransitionView, TenantsAreTheSameInBothPlans) {
  PackingProblem problem = one_demand(Decimal(30));
  StandingPlan standing = {problem.demands, {{0}, {small_slice_at_ten(0, 1, 1), small_slice_at_ten(0, 3, 0)}}};
  standing.demands.push_back(standing.demands[0]);
  standing.demands[1].tenant = "b";
  const auto view = view_of(problem, standing, {});
  EXPECT_NE(view->standing[0].tenant, view->standing[1].tenant);
  EXPECT_EQ(view->standing[1].tenant, view->demands[0].tenant);
  EXPECT_EQ(view->standing[0].demand, kNone);
}

struct BadPlan {
  const char* name;
  void (*breaks)(PackingProblem&, StandingPlan&);
  const char* message;
};

class StandingFault : public ::testing::TestWithParam<BadPlan> {};

TEST_P(StandingFault, IsRefused) {
  PackingProblem problem = one_demand(Decimal(30));
  StandingPlan standing = {problem.demands, {{0}, {small_slice_at_ten(0, 1)}}};
  ASSERT_TRUE(view_of(problem, standing, {}).has_value());
  GetParam().breaks(problem, standing);
  const auto view = view_of(problem, standing, {});
  ASSERT_FALSE(view.has_value());
  EXPECT_EQ(view.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(view.error().message.find(GetParam().message), std::string::npos) << view.error().message;
}

const BadPlan bad_plans[] = {
    {"offer", [](PackingProblem&, StandingPlan& plan) { plan.packing.gpu_offers[0] = 1; }, "unknown model"},
    {"gpu", [](PackingProblem&, StandingPlan& plan) { plan.packing.slices[0].slice.gpu.index = 1; },
     "on a GPU that it does not have"},
    {"demand", [](PackingProblem&, StandingPlan& plan) { plan.packing.slices[0].demand = 1; }, "unknown model"},
    {"clash", [](PackingProblem&, StandingPlan& plan) { plan.packing.slices.push_back(plan.packing.slices[0]); },
     "gpu-0: "},
    {"start", [](PackingProblem&, StandingPlan& plan) { plan.packing.slices[0].slice.start = 4; }, "gpu-0: "},
    {"digits", [](PackingProblem& problem, StandingPlan&) { problem.demands[0].requests_per_second = Decimal(1, 3); },
     "model a: wanted rates that are exact with fewer digits"},
    {"large",
     [](PackingProblem& problem, StandingPlan&) {
       problem.demands[0].requests_per_second = Decimal((std::int64_t{1} << 48) + 1);
     },
     "fewer digits"}};

INSTANTIATE_TEST_SUITE_P(TransitionView, StandingFault, ::testing::ValuesIn(bad_plans),
                         [](const auto& tested) { return tested.param.name; });

TEST(TransitionView, ChangesAreWhatIsDroppedAndWhatIsNew) {
  const PackingProblem problem = one_demand(Decimal(30));
  const StandingPlan standing = {problem.demands,
                                 {{0}, {small_slice_at_ten(0, 0), small_slice_at_ten(0, 1), small_slice_at_ten(0, 2)}}};
  const auto view = view_of(problem, standing, {});
  EXPECT_EQ(changes_of(*view, {{}}), 3);
  EXPECT_EQ(changes_of(*view, {{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}}}), 0);
  EXPECT_EQ(changes_of(*view, {{{0, 0, 0}, {1, 0, kNone}}}), 3);
}

}  // namespace
}  // namespace berth::transition::detail
