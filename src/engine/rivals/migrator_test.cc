#include "engine/rivals/migrator.h"

#include <gtest/gtest.h>

#include "engine/rivals/detail/realise.h"
#include "engine/rivals/detail/test_sight.h"

namespace berth::partition {
namespace {

using testing::compute_slices;
using testing::gpus;
using testing::scenario_of;
using testing::service_everywhere;
using testing::SightBuilder;
using testing::two_services_on;

TEST(Migrator, ComputeGoesWhereTheLoadIs) {
  const Scenario scenario = two_services_on("A30");
  Migrator migrator(scenario, {});
  SightBuilder world(scenario);
  world.remember(600, {280, 60});
  EXPECT_TRUE(world.step(migrator));
  EXPECT_EQ(compute_slices(scenario, world.slices(0)), 3);
  EXPECT_EQ(compute_slices(scenario, world.slices(1)), 1);
  EXPECT_EQ(migrator.solved().count, 1);
  EXPECT_EQ(migrator.solved().within_count, 1);
  EXPECT_LE(migrator.solved().gap_max, MigratorOptions{}.gap_allowed + 1e-9);
}

TEST(Migrator, SolvesOnceAPeriodAndAtNewsOfRetraining) {
  Scenario scenario = two_services_on("A30");
  scenario.services[0].retraining = testing::retraining_of(400, 100, 70);
  scenario.services[0].accuracy = {.before_micro = 400'000, .after_micro = 900'000};
  Migrator migrator(scenario, {.period_seconds = 200});
  SightBuilder world(scenario);
  world.remember(600, {150, 60});
  EXPECT_TRUE(world.step(migrator));
  world.pass(100, {150, 60});
  world.step(migrator);
  EXPECT_EQ(migrator.solved().count, 1);
  world.set_due(0, true);
  world.step(migrator);  // the first window may have made room already
  EXPECT_EQ(migrator.solved().count, 2);
  EXPECT_EQ(world.slices(0, Role::kRetraining).size(), 1U);
  world.pass(200, {150, 60});
  world.step(migrator);
  EXPECT_EQ(migrator.solved().count, 3);
}

TEST(Migrator, ARetrainingNearItsEndIsNotTakenOffItsSlice) {
  Scenario scenario = two_services_on("A30");
  scenario.services[0].retraining = testing::retraining_of(800, 100, 100);
  scenario.services[0].accuracy = {.before_micro = 400'000, .after_micro = 900'000};
  Migrator migrator(scenario, {.period_seconds = 400, .gap_allowed = 0});
  SightBuilder world(scenario);
  world.remember(600, {150, 60});
  world.step(migrator);
  world.pass(100, {150, 60});
  world.set_due(0, true);
  world.step(migrator);
  ASSERT_EQ(world.slices(0, Role::kRetraining).size(), 1U);
  for (int second = 1; second < 200; ++second) {
    world.pass(1, {150, 60});
    world.set_progress(0, 0.97);  // late: the plan expected it to be done
    world.step(migrator);
    EXPECT_EQ(world.slices(0, Role::kRetraining).size(), 1U) << second;
  }
}

TEST(Migrator, StaysWhereNothingIsGained) {
  const Scenario scenario = two_services_on("A30");
  Migrator migrator(scenario, {.period_seconds = 50});
  SightBuilder world(scenario);
  world.remember(600, {280, 60});
  EXPECT_TRUE(world.step(migrator));
  for (int i = 0; i < 10; ++i) {
    world.pass(50, {280, 60});
    EXPECT_FALSE(world.step(migrator));
  }
}

TEST(Migrator, LaysOutFleetsOfSeveralModelsAndOnesThatCannotBeCut) {
  const Scenario scenario = scenario_of({gpus("A30", 2), gpus("T4-16GB", 1)},
                                        {service_everywhere("a"), service_everywhere("b"), service_everywhere("c")});
  Migrator migrator(scenario, {});
  SightBuilder world(scenario);
  world.remember(300, {300, 200, 100});
  testing::expect_sound_target(scenario, migrator.decide(world.sight()));
}

TEST(Migrator, SaysWhatIsMissing) {
  const Scenario crowded = two_services_on("T4-16GB");
  EXPECT_TRUE(std::holds_alternative<Infeasible>(Migrator(crowded, {}).decide(SightBuilder(crowded).sight())));
}

// ---- from counts to places

/// Random plans of a fleet of `gpu_count` A100s and three services, and their counts.
class Places {
 public:
  explicit Places(std::int64_t gpu_count)
      : scenario_(scenario_of({gpus("A100-80GB", gpu_count)},
                              {service_everywhere("a"), service_everywhere("b"), service_everywhere("c")})),
        fleet_(detail::view_fleet(scenario_)) {}

  [[nodiscard]] const detail::FleetView& fleet() const { return fleet_; }

  detail::FleetPlan random_plan(Rng& rng) const {
    detail::FleetPlan plan = detail::empty_plan(fleet_);
    for (detail::GpuPlan& gpu : plan) {
      gpu.partition = static_cast<int>(rng.below(view().partitions.size()));
      gpu.owners.assign(view().partitions[gpu.partition].pieces.size(), 0);
      for (int& owner : gpu.owners) owner = static_cast<int>(rng.below(3));
    }
    return plan;
  }

  [[nodiscard]] detail::BlockCounts counts_in(const detail::FleetPlan& plan) const {
    detail::BlockCounts counts(1);
    counts[0].shapes.assign(view().shapes.size(), 0);
    counts[0].serving.assign(view().map.kinds.size(), std::vector<int>(3, 0));
    counts[0].retraining = counts[0].serving;
    for (const detail::GpuPlan& gpu : plan) {
      const detail::Partition& partition = view().partitions[gpu.partition];
      for (std::size_t shape = 0; shape < view().shapes.size(); ++shape) {
        if (view().partitions[view().shapes[shape]].counts == partition.counts) ++counts[0].shapes[shape];
      }
      for (std::size_t i = 0; i < gpu.owners.size(); ++i) ++counts[0].serving[partition.pieces[i].kind][gpu.owners[i]];
    }
    return counts;
  }

  /// The most that a plan with these counts can preserve, over all partitions of all GPUs: owners that need a piece
  /// that they already hold keep it.
  [[nodiscard]] int most_staying(const detail::BlockCounts& wanted, const detail::FleetPlan& standing) const {
    int most = -1;
    detail::FleetPlan plan = standing;
    for_each_cut(0, plan, [&] {
      if (shapes_in(plan) == wanted[0].shapes) most = std::max(most, staying_in(plan, wanted, standing));
    });
    return most;
  }

 private:
  [[nodiscard]] const detail::ModelView& view() const { return fleet_.models[0]; }

  template <class Visit>
  void for_each_cut(std::size_t gpu, detail::FleetPlan& plan, const Visit& visit) const {
    if (gpu == plan.size()) {
      visit();
      return;
    }
    for (plan[gpu].partition = 0; plan[gpu].partition < std::ssize(view().partitions); ++plan[gpu].partition) {
      for_each_cut(gpu + 1, plan, visit);
    }
  }

  [[nodiscard]] std::vector<int> shapes_in(const detail::FleetPlan& plan) const {
    std::vector<int> shapes(view().shapes.size(), 0);
    for (const detail::GpuPlan& gpu : plan) {
      for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
        if (view().partitions[view().shapes[shape]].counts == view().partitions[gpu.partition].counts) ++shapes[shape];
      }
    }
    return shapes;
  }

  [[nodiscard]] int staying_in(const detail::FleetPlan& plan, const detail::BlockCounts& wanted,
                               const detail::FleetPlan& standing) const {
    int worth = 0;
    auto left = wanted[0].serving;
    for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
      const auto& now = view().partitions[standing[gpu].partition].pieces;
      for (std::size_t i = 0; i < now.size(); ++i) {
        const auto& then = view().partitions[plan[gpu].partition].pieces;
        if (std::ranges::find(then, now[i]) == then.end()) continue;
        worth += detail::kStayingSlice;
        int& still = left[now[i].kind][standing[gpu].owners[i]];
        if (still > 0) worth += view().map.kinds[now[i].kind].sms;
        still = std::max(0, still - 1);
      }
    }
    return worth;
  }

  Scenario scenario_;
  detail::FleetView fleet_;
};

TEST(Realise, MeetsTheCountsAndLeavesAloneWhatIsAsWanted) {
  const Places places(2);
  Rng rng(3);
  for (int round = 0; round < 100; ++round) {
    const detail::FleetPlan standing = places.random_plan(rng);
    const detail::BlockCounts wanted = places.counts_in(places.random_plan(rng));
    EXPECT_EQ(places.counts_in(detail::realise(places.fleet(), wanted, standing)), wanted);
    EXPECT_EQ(detail::realise(places.fleet(), places.counts_in(standing), standing), standing);
  }
}

TEST(Realise, NoPlanWithTheCountsLeavesMoreOfAGpuAlone) {
  const Places places(1);
  Rng rng(4);
  for (int round = 0; round < 300; ++round) {
    const detail::FleetPlan standing = places.random_plan(rng);
    const detail::BlockCounts wanted = places.counts_in(places.random_plan(rng));
    const detail::FleetPlan plan = detail::realise(places.fleet(), wanted, standing);
    EXPECT_EQ(detail::staying_worth(places.fleet(), standing, plan), places.most_staying(wanted, standing)) << round;
  }
}

TEST(Realise, OnTwoGpusNearlyAsMuchStaysAsCan) {
  const Places places(2);
  Rng rng(5);
  std::int64_t stays = 0;
  std::int64_t can_stay = 0;
  for (int round = 0; round < 200; ++round) {
    const detail::FleetPlan standing = places.random_plan(rng);
    const detail::BlockCounts wanted = places.counts_in(places.random_plan(rng));
    const detail::FleetPlan plan = detail::realise(places.fleet(), wanted, standing);
    const int most = places.most_staying(wanted, standing);
    EXPECT_LE(detail::staying_worth(places.fleet(), standing, plan), most) << round;
    stays += detail::staying_worth(places.fleet(), standing, plan);
    can_stay += most;
  }
  EXPECT_GE(stays * 1000, can_stay * 995);
}

}  // namespace
}  // namespace berth::partition
