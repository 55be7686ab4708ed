#include "planner/transition/detail/order.h"

#include <gtest/gtest.h>

#include <algorithm>
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

constexpr std::uint64_t kOrderCases = berth::testing::by_build(400, 80);

using Fault = std::optional<std::string>;

/// Replays the steps one by one with only the rules of MIG: the existing slices are legal, and no demand is below its
/// floor, even within a step.
class Replay {
 public:
  Replay(const TransitionView& view, const SlicesByGpu& plan, const std::vector<Rate>& retuned, const Order& order)
      : view_(view), plan_(plan), retuned_(retuned), order_(order), service_(view.demands.size(), 0) {
    for (const GpuView& gpu : view.gpus) offers_.push_back(gpu.offer);
    offers_.insert(offers_.end(), order.spare_offers.begin(), order.spare_offers.end());
    for (std::size_t i = 0; i < view.standing.size(); ++i) {
      const StandingView& stood = view.standing[i];
      slices_.push_back({.gpu = stood.gpu,
                         .site = stood.site,
                         .demand = stood.demand,
                         .tenant = stood.tenant,
                         .standing = static_cast<int>(i),
                         .rate = stood.in_force});
      serve(slices_.back(), 1);
    }
    for (std::size_t d = 0; d < service_.size(); ++d) floors_.push_back(std::min(service_[d], view.demands[d].need));
  }

  Fault run() {
    for (const int offer : order_.spare_offers) {
      if (view_.offers[ix(offer)].count_max == 0) return "a spare GPU of a model that is not offered";
    }
    for (std::size_t i = 0; i < order_.steps.size(); ++i) {
      if (auto fault = take(order_.steps[i])) return "step " + std::to_string(i) + ": " + *fault;
    }
    return check_end();
  }

 private:
  struct Live {
    int gpu = 0;
    int site = 0;
    int demand = kNone;
    int tenant = 0;
    int standing = kNone;
    Rate rate = 0;
    bool is_temporary = false;
    bool is_retuned = false;
  };

  void serve(const Live& slice, int sign) {
    if (slice.demand != kNone) service_[ix(slice.demand)] += sign * slice.rate;
  }

  [[nodiscard]] Fault check_floors() const {
    for (std::size_t d = 0; d < floors_.size(); ++d) {
      if (service_[d] < floors_[d]) return "demand " + std::to_string(d) + " is below its floor";
    }
    return std::nullopt;
  }

  Fault take(const OrderedStep& step) {
    if (step.gpu < 0 || ix(step.gpu) >= offers_.size()) return "an unknown site";
    if (step.kind == StepKind::kCreate) return create(step);
    const auto found = std::ranges::find_if(slices_, [&](const Live& slice) {
      return slice.gpu == step.gpu && slice.site == step.site && slice.demand == step.demand &&
             slice.standing == step.standing && slice.is_temporary == step.is_temporary;
    });
    if (found == slices_.end()) return "a slice that does not exist";
    serve(*found, -1);
    if (step.kind == StepKind::kRetune) {
      if (auto fault = check_floors()) return fault;
      if (found->is_retuned || retuned_[ix(found->standing)] == 0) return "a slice that is not to be retuned";
      found->is_retuned = true;
      found->rate = retuned_[ix(found->standing)];
      serve(*found, 1);
    } else {
      slices_.erase(found);
    }
    return check_floors();
  }

  Fault create(const OrderedStep& step) {
    const OfferView& offer = view_.offers[ix(offers_[ix(step.gpu)])];
    const int tenant = view_.demands[ix(step.demand)].tenant;
    mig::State state = {offer.map.sites[ix(step.site)].placement()};
    for (const Live& other : slices_) {
      if (other.gpu != step.gpu) continue;
      state.push_back(offer.map.sites[ix(other.site)].placement());
      if (view_.keeps_tenants_apart && other.tenant != tenant) return "two tenants on one GPU";
    }
    if (auto clash = mig::find_clash(*offer.model, state)) return clash;
    const bool is_planned = ix(step.gpu) < plan_.size() && !plan_[ix(step.gpu)].empty();
    if (ix(step.gpu) < plan_.size() && !is_planned && state.size() == 1) return "on a GPU that is empty for good";
    Live slice{.gpu = step.gpu, .site = step.site, .demand = step.demand, .tenant = tenant};
    slice.rate =
        view_.demands[ix(step.demand)].rates[ix(offers_[ix(step.gpu)])][ix(offer.map.sites[ix(step.site)].kind)];
    slice.is_temporary = step.is_temporary;
    if (slice.rate == 0) return "a slice that serves nothing";
    serve(slice, 1);
    slices_.push_back(slice);
    return std::nullopt;
  }

  [[nodiscard]] Fault check_end() const {
    std::size_t planned = 0;
    for (std::size_t gpu = 0; gpu < plan_.size(); ++gpu) {
      for (const Held& held : plan_[gpu]) {
        ++planned;
        const auto found = std::ranges::find_if(slices_, [&](const Live& slice) {
          return slice.gpu == static_cast<int>(gpu) && slice.site == held.site && slice.demand == held.demand &&
                 slice.standing == held.standing && !slice.is_temporary;
        });
        if (found == slices_.end()) return "a slice of the plan is missing at the end";
        if (held.standing != kNone && found->is_retuned != (retuned_[ix(held.standing)] > 0)) {
          return "a slice is at its old point at the end";
        }
      }
    }
    return planned == slices_.size() ? std::nullopt : Fault("slices are left at the end");
  }

  const TransitionView& view_;
  const SlicesByGpu& plan_;
  const std::vector<Rate>& retuned_;
  const Order& order_;
  std::vector<int> offers_;  ///< by GPU, the spare ones last
  std::vector<Live> slices_;
  std::vector<Rate> service_;
  std::vector<Rate> floors_;
};

/// The kept slices that run at another point in the plan: those that must, and those that the need requires.
std::vector<Rate> retuned_in(const TransitionView& view, const SlicesByGpu& plan) {
  std::vector<Rate> retuned(view.standing.size(), 0);
  std::vector<std::vector<SliceRates>> items(view.demands.size());
  std::vector<std::vector<int>> standing(view.demands.size());
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    for (const Held& held : plan[gpu]) {
      items[ix(held.demand)].push_back(item_on(view, static_cast<int>(gpu), held));
      standing[ix(held.demand)].push_back(held.standing);
    }
  }
  for (std::size_t d = 0; d < items.size(); ++d) {
    const auto is_best = tune(view.demands[d].need, items[d]);
    for (std::size_t i = 0; i < items[d].size(); ++i) {
      if (standing[d][i] == kNone) continue;
      const StandingView& stood = view.standing[ix(standing[d][i])];
      if (stood.must_retune || (*is_best)[i]) retuned[ix(standing[d][i])] = stood.best;
    }
  }
  return retuned;
}

std::int64_t count_of(const Order& order, StepKind kind, bool is_temporary) {
  return std::ranges::count_if(
      order.steps, [&](const OrderedStep& step) { return step.kind == kind && step.is_temporary == is_temporary; });
}

TEST(Order, EveryStepIsLegal) {
  int judged = 0;
  int temporary = 0;
  int spare = 0;
  int retunes = 0;
  for (const auto& [seed, drawn, view] : drawn_cases(kOrderCases)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("order");
    const auto plan = any_plan(view, rng);
    if (!plan) continue;
    ++judged;
    const std::vector<Rate> retuned = retuned_in(view, *plan);
    const Order order = order_of(view, *plan, retuned);
    ASSERT_EQ(Replay(view, *plan, retuned, order).run(), std::nullopt);
    temporary += count_of(order, StepKind::kCreate, true) > 0 ? 1 : 0;
    spare += order.spare_offers.empty() ? 0 : 1;
    retunes += count_of(order, StepKind::kRetune, false) > 0 ? 1 : 0;
  }
  EXPECT_GT(judged * 10, static_cast<int>(kOrderCases) * 7);
  EXPECT_GT(temporary, judged / 20);
  EXPECT_GT(spare, 0);
  EXPECT_GT(retunes, 0);
}

TEST(Order, NoStepIsDoneTwice) {
  for (const auto& [seed, drawn, view] : drawn_cases(kOrderCases / 3)) {
    Rng rng = Rng(seed).split("order");
    const auto plan = any_plan(view, rng);
    if (!plan) continue;
    const std::vector<Rate> retuned = retuned_in(view, *plan);
    const Order order = order_of(view, *plan, retuned);
    const std::int64_t changes = count_of(order, StepKind::kCreate, false) + count_of(order, StepKind::kDestroy, false);
    ASSERT_EQ(changes, changes_of(view, *plan)) << "seed " << seed;
    ASSERT_EQ(count_of(order, StepKind::kRetune, false),
              std::ranges::count_if(retuned, [](Rate rate) { return rate > 0; }));
    ASSERT_EQ(count_of(order, StepKind::kCreate, true), count_of(order, StepKind::kDestroy, true));
  }
}

/// GPUs of an A30 with slices, before and after, of demands with these rates per profile.
struct Scene {
  PackingProblem problem;
  StandingPlan standing;

  void add_demand(const char* name, int rate, const std::vector<std::pair<const char*, int>>& rows) {
    if (problem.offers.empty()) problem.offers.push_back({.model = *mig::find_gpu_model("A30-24GB")});
    problem.demands.push_back(
        {.model = name, .tenant = name, .requests_per_second = Decimal(rate), .latency_ms = Decimal(100)});
    problem.tables.push_back({.model = name, .points = {}});
    for (const auto& [profile, row] : rows) {
      problem.tables.back().points.push_back({"A30-24GB", profile, 1, 1, Decimal(row), Decimal(10)});
    }
    standing.demands = problem.demands;
  }

  [[nodiscard]] ProfileId kind(const char* profile) const {
    return *mig::find_profile(problem.offers[0].model, profile);
  }

  void add_slice(std::uint32_t gpu, int start, const char* profile, std::uint32_t demand, int rate) {
    standing.packing.gpu_offers.resize(std::max<std::size_t>(standing.packing.gpu_offers.size(), gpu + 1), 0);
    standing.packing.slices.push_back({.slice = {{gpu}, start, kind(profile)},
                                       .demand = demand,
                                       .batch = 1,
                                       .processes = 1,
                                       .requests_per_second = Decimal(rate)});
  }

  [[nodiscard]] TransitionView view(std::size_t gpus) const {
    packing::PackResult fewest;
    fewest.packing.gpu_offers.assign(gpus, 0);
    return *view_of(problem, standing, fewest);
  }

  [[nodiscard]] int site(const TransitionView& of, int start, const char* profile) const {
    return of.offers[0].site_of({start, kind(profile)});
  }
};

std::vector<StepKind> kinds_of(const Order& order) {
  std::vector<StepKind> kinds;
  kinds.reserve(order.steps.size());
  for (const OrderedStep& step : order.steps) kinds.push_back(step.kind);
  return kinds;
}

TEST(Order, APlanThatExistsTakesNoStep) {
  Scene scene;
  scene.add_demand("a", 1, {{"1g.6gb", 1}});
  scene.add_slice(0, 2, "1g.6gb", 0, 1);
  const TransitionView view = scene.view(1);
  EXPECT_TRUE(order_of(view, {{{scene.site(view, 2, "1g.6gb"), 0, 0}}}, {0}).steps.empty());
}

TEST(Order, WhatNobodyNeedsGoesBeforeAllElse) {
  Scene scene;
  scene.add_demand("a", 1, {{"1g.6gb", 1}});
  scene.add_demand("b", 0, {{"1g.6gb", 1}});
  scene.add_slice(0, 1, "1g.6gb", 0, 1);
  scene.add_slice(0, 2, "1g.6gb", 1, 1);
  const TransitionView view = scene.view(1);
  const Order order = order_of(view, {{{scene.site(view, 0, "1g.6gb"), 0, kNone}}}, {0, 0});
  EXPECT_EQ(kinds_of(order), (std::vector<StepKind>{StepKind::kDestroy, StepKind::kCreate, StepKind::kDestroy}));
  EXPECT_EQ(order.steps[0].demand, 1);
}

TEST(Order, ANewSliceComesBeforeTheOldOneGoes) {
  Scene scene;
  scene.add_demand("a", 2, {{"1g.6gb", 1}, {"2g.12gb", 2}});
  scene.add_slice(0, 0, "1g.6gb", 0, 1);
  const TransitionView view = scene.view(1);
  const Order order = order_of(view, {{{scene.site(view, 2, "2g.12gb"), 0, kNone}}}, {0});
  EXPECT_EQ(kinds_of(order), (std::vector<StepKind>{StepKind::kCreate, StepKind::kDestroy}));
}

// "a" and "b" swap their halves of the one GPU: a spare GPU holds one of them meanwhile.
TEST(Order, ASwapTakesOneSpareGpu) {
  Scene scene;
  scene.add_demand("a", 2, {{"2g.12gb", 2}});
  scene.add_demand("b", 2, {{"2g.12gb", 2}});
  scene.add_slice(0, 0, "2g.12gb", 0, 2);
  scene.add_slice(0, 2, "2g.12gb", 1, 2);
  const TransitionView view = scene.view(1);
  const int low = scene.site(view, 0, "2g.12gb");
  const int high = scene.site(view, 2, "2g.12gb");
  const Order order = order_of(view, {{{low, 1, kNone}, {high, 0, kNone}}}, {0, 0});
  EXPECT_EQ(order.spare_offers, (std::vector<int>{0}));
  EXPECT_EQ(count_of(order, StepKind::kCreate, true), 1);
  EXPECT_EQ(order.steps.size(), 6U);
}

// The same with a second GPU that has room: no spare GPU is needed.
TEST(Order, ASwapTakesTheFreeRoomOfOtherGpus) {
  Scene scene;
  scene.add_demand("a", 2, {{"2g.12gb", 2}});
  scene.add_demand("b", 2, {{"2g.12gb", 2}});
  scene.add_demand("c", 1, {{"1g.6gb", 1}});
  scene.add_slice(0, 0, "2g.12gb", 0, 2);
  scene.add_slice(0, 2, "2g.12gb", 1, 2);
  scene.add_slice(1, 0, "1g.6gb", 2, 1);
  const TransitionView view = scene.view(2);
  const int low = scene.site(view, 0, "2g.12gb");
  const int high = scene.site(view, 2, "2g.12gb");
  const SlicesByGpu plan = {{{low, 1, kNone}, {high, 0, kNone}}, {{scene.site(view, 0, "1g.6gb"), 2, 2}}};
  const Order order = order_of(view, plan, {0, 0, 0});
  EXPECT_TRUE(order.spare_offers.empty());
  EXPECT_EQ(count_of(order, StepKind::kCreate, true), 1);
}

// The rate before the first step is below the need: only that rate has to be kept, so the swap needs no temporary
// slice.
TEST(Order, ADemandIsNotOwedMoreThanItHas) {
  Scene scene;
  scene.add_demand("a", 4, {{"1g.6gb", 1}, {"4g.24gb", 4}});
  scene.add_slice(0, 0, "1g.6gb", 0, 1);
  scene.add_slice(1, 0, "1g.6gb", 0, 1);
  const TransitionView view = scene.view(2);
  const Order order = order_of(view, {{{scene.site(view, 0, "4g.24gb"), 0, kNone}}, {}}, {0, 0});
  EXPECT_EQ(count_of(order, StepKind::kCreate, true), 1) << "2 of its 4 requests per second must stay";
}

TEST(Order, TheSpareGpuIsTheCheapest) {
  Scene scene;
  scene.add_demand("a", 2, {{"2g.12gb", 2}});
  scene.add_demand("b", 2, {{"2g.12gb", 2}});
  scene.add_slice(0, 0, "2g.12gb", 0, 2);
  scene.add_slice(0, 2, "2g.12gb", 1, 2);
  for (const char* model : {"L4-24GB", "T4-16GB"}) {
    scene.problem.offers.push_back({.model = *mig::find_gpu_model(model)});
    for (PerformanceTable& table : scene.problem.tables) {
      table.points.push_back({scene.problem.offers.back().model.name, kFullProfileName, 1, 1, Decimal(2), Decimal(10)});
    }
  }
  scene.problem.offers[0].micro_usd_per_hour = 9;
  scene.problem.offers[1].micro_usd_per_hour = 5;
  scene.problem.offers[2].micro_usd_per_hour = 4;
  for (const std::int64_t count : {7, 0}) {
    scene.problem.offers[2].count_max = count;
    const TransitionView view = scene.view(1);
    const int low = scene.site(view, 0, "2g.12gb");
    const int high = scene.site(view, 2, "2g.12gb");
    SlicesByGpu plan(view.gpus.size());
    plan[0] = {{low, 1, kNone}, {high, 0, kNone}};
    EXPECT_EQ(order_of(view, plan, {0, 0}).spare_offers, (std::vector<int>{count > 0 ? 2 : 1}));
  }
}

}  // namespace
}  // namespace berth::transition::detail
