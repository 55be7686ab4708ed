#include "planner/one_gpu/detail/service_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/detail/service_path.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/check.h"
#include "planner/window/testing/exhaustive.h"

namespace berth::planner {
namespace {

using testing::one_gpu_of_tiny;

constexpr int kServiceBoundJudged = berth::testing::by_build(30, 6);
constexpr std::array<double, 1> kOne = {1};
constexpr std::array<double, 4> kSeveral = {1, 0.3, 2, 0};

/// Prices in blocks of random lengths: up to `kind_most` per second of a slice, and `progress_most` of a retraining.
Prices drawn_prices(const GpuCase& gpu_case, Rng& rng, double kind_most, double progress_most) {
  Prices prices;
  prices.kinds = gpu_case.rooms.kinds();
  for (const SlotIndex t : Indices<SlotIndex>(gpu_case.problem.slots)) {
    if (t == 0 || rng.below(2) == 0) prices.seconds.push_back(0);
    prices.block_of.emplace_back(prices.seconds.size() - 1);
    prices.seconds.back() += 1;
  }
  prices.block_of.emplace_back(prices.seconds.size());
  prices.seconds.push_back(gpu_case.problem.tail_seconds);
  for (std::size_t i = 0; i < prices.seconds.size() * ix(prices.kinds); ++i) {
    prices.kind.push_back(rng.below(4) == 0 ? 0 : kind_most * rng.unit());
  }
  for (const ServiceTerms& service : gpu_case.problem.services) {
    prices.progress.emplace_back();
    const std::size_t epochs = service.retraining ? service.retraining->due_slots.size() + 1 : 1;
    for (std::size_t epoch = 0; epoch < epochs; ++epoch) prices.progress.back().push_back(progress_most * rng.unit());
  }
  return prices;
}

double price_of_room(const GpuCase& gpu_case, const Prices& prices, SlotIndex slot, RoomIndex room) {
  double sum = 0;
  for (const KindIndex kind : Indices<KindIndex>(prices.kinds)) {
    sum += prices.of(prices.block_of[slot], kind) * gpu_case.rooms.count_of(room, kind);
  }
  return sum * (slot < gpu_case.problem.slots ? 1 : gpu_case.problem.tail_seconds);
}

PriceSums sums_of(const GpuCase& gpu_case, const Prices& prices) {
  const int slots = gpu_case.problem.slots;
  const int rooms = gpu_case.rooms.count();
  PriceSums sums{.rooms = rooms, .room = std::vector<double>(ix(rooms)), .income = std::vector<double>(ix(slots) + 2)};
  for (SlotIndex t(0); t <= slots; ++t) {
    for (const RoomIndex room : Indices<RoomIndex>(rooms)) {
      sums.room.push_back(sums.room[ix(t) * ix(rooms) + ix(room)] + price_of_room(gpu_case, prices, t, room));
    }
  }
  for (SlotIndex t = gpu_case.end(); t >= 0; --t) {
    double most = 0;
    for (const RoomIndex room : Indices<RoomIndex>(rooms))
      most = std::max(most, price_of_room(gpu_case, prices, t, room));
    sums.income[t] = sums.income[t + 1] + most;
  }
  return sums;
}

double start_value(const ServiceBound& bound, SlotIndex first_slot, const ServiceStart& start) {
  if (!start.state.is_open()) return bound.from_fresh(first_slot, start.bundle);
  return bound.from_stale(first_slot, start.bundle, start.state.progress);
}

/// The GPU's income plus the best gain of each service alone.
double bound_at_prices(const GpuCase& gpu_case, const Prices& prices, std::span<const double> factors) {
  const OneGpuSearch search(gpu_case);
  const std::vector<ServiceStart> starts = search.starts();
  const PriceSums sums = sums_of(gpu_case, prices);
  double value = search.value_before() + sums.income[gpu_case.first_slot];
  for (const ServiceIndex service : indices_of<ServiceIndex>(starts)) {
    ServiceBound bound(gpu_case, service);
    bound.compute(prices, sums, factors);
    value += start_value(bound, gpu_case.first_slot, starts[service]);
  }
  return value;
}

TEST(ServiceBound, HoldsForTheExhaustiveSearchAtAnyPrices) {
  int judged = 0;
  int retraining = 0;
  for (std::uint64_t seed = 0; judged < kServiceBoundJudged; ++seed) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_tiny(seed);
    const std::optional<Answer> truth = testing::Exhaustive(problem, 10'000).solve();
    if (!truth || truth->is_infeasible) continue;
    ++judged;
    retraining += std::ranges::count_if(problem.services,
                                        [](const ServiceTerms& service) { return service.retraining.has_value(); }) > 0
                      ? 1
                      : 0;
    const GpuCase gpu_case(problem);
    const double scale = std::abs(truth->objective) / (problem.slots + problem.tail_seconds);
    const double least = truth->objective - 1e-9 * (1 + std::abs(truth->objective));
    Rng rng(seed);
    for (const double kinds : {0.0, 0.3, 1.0, 4.0}) {
      for (const double progress : {0.0, 0.5, 5.0, 50.0}) {
        const Prices prices = drawn_prices(gpu_case, rng, kinds * scale, progress * scale);
        ASSERT_GE(bound_at_prices(gpu_case, prices, kOne), least) << kinds << " and " << progress;
        ASSERT_GE(bound_at_prices(gpu_case, prices, kSeveral), least) << kinds << " and " << progress;
      }
    }
  }
  EXPECT_GT(retraining, 0);
}

/// The best of one service that never retrains, by trying everything: it holds, drops pieces, or changes, and pays for
/// everything that it has.
class Alone {
 public:
  Alone(const GpuCase& gpu_case, const Prices& prices, ServiceIndex service)
      : case_(gpu_case), bundles_(gpu_case.bundles[service]), prices_(prices), service_(service) {}

  double best(SlotIndex t, BundleIndex bundle) {
    const auto [place, is_new] = known_.try_emplace({t, bundle}, kNever);
    if (!is_new) return place->second;
    double value = hold(t, bundle);
    const int start = case_.start_slots[service_];
    for (BundleIndex to(0); to < bundles_.count() && t < slots() && case_.can_change(t); ++to) {
      const BundleIndex common = bundles_.common_part(bundle, to);
      if (start == 0) value = std::max(value, hold(t, to));
      if (start > 0 && to == common && to != bundle) value = std::max(value, best(t, to));
      if (start > 0 && to != common) value = std::max(value, change(t, common, to));
    }
    known_[{t, bundle}] = value;
    return value;
  }

 private:
  [[nodiscard]] int slots() const { return case_.problem.slots; }
  [[nodiscard]] double price(SlotIndex slot, BundleIndex bundle) const {
    return price_of_room(case_, prices_, slot, bundles_.room[bundle]);
  }
  [[nodiscard]] bool keeps_floor(BundleIndex bundle) const {
    return case_.keeps_floor(service_, bundles_.rate[bundle]);
  }
  [[nodiscard]] double served(SlotIndex t, BundleIndex bundle) const {
    return case_.served[service_].value(bundles_.level[bundle], true, t, t + 1);
  }

  double hold(SlotIndex t, BundleIndex bundle) {
    const LevelIndex level = bundles_.level[bundle];
    if (t == slots()) return case_.served[service_].tail(level, true) - price(t, bundle);
    if (t >= case_.problem.floors_from && !keeps_floor(bundle)) return kNever;
    return served(t, bundle) - price(t, bundle) + best(t + 1, bundle);
  }

  double change(SlotIndex t, BundleIndex common, BundleIndex to) {
    const SlotIndex end = case_.capped(t + case_.start_slots[service_]);
    if (end > case_.problem.floors_from && !keeps_floor(to)) return kNever;
    double value = best(end, to);
    for (SlotIndex slot = t; slot < end; ++slot) value += served(slot, common) - price(slot, to);
    return value;
  }

  const GpuCase& case_;
  const Bundles& bundles_;
  const Prices& prices_;
  ServiceIndex service_;
  std::map<std::pair<SlotIndex, BundleIndex>, double> known_;
};

TEST(ServiceBound, IsTheBestOfAServiceThatNeverRetrainsAlone) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 20))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    for (ServiceTerms& service : problem.services) service.retraining.reset();
    if (seed % 7 == 0) problem.services.front().start_seconds = 0;
    const GpuCase gpu_case(problem);
    Rng rng(seed);
    const double scale = problem.services.front().value * problem.services.front().loads.front();
    const Prices prices = drawn_prices(gpu_case, rng, scale, 0);
    const PriceSums sums = sums_of(gpu_case, prices);
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      ServiceBound bound(gpu_case, service);
      bound.compute(prices, sums, kOne);
      Alone alone(gpu_case, prices, service);
      for (SlotIndex t = gpu_case.first_slot; t <= problem.slots; ++t) {
        for (const BundleIndex bundle : Indices<BundleIndex>(gpu_case.bundles[service].count())) {
          const double wanted = alone.best(t, bundle);
          if (wanted == kNever) {
            ASSERT_EQ(bound.from_fresh(t, bundle), kNever) << "slot " << t << ", bundle " << bundle;
          } else {
            ASSERT_NEAR(bound.from_fresh(t, bundle), wanted, 1e-9 * (1 + std::abs(wanted)))
                << "slot " << t << ", bundle " << bundle;
          }
        }
      }
    }
  }
}

/// The bound is the maximum over paths and the traced path attains it, so at other prices the bound is at least the
/// value of this path.
TEST(ServiceBound, TracesASubgradient) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 20))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    for (ServiceTerms& service : problem.services) service.retraining.reset();
    if (seed % 7 == 0) problem.services.front().start_seconds = 0;
    const GpuCase gpu_case(problem);
    const std::vector<ServiceStart> starts = OneGpuSearch(gpu_case).starts();
    Rng rng(seed);
    const double scale = problem.services.front().value * problem.services.front().loads.front();
    const Prices prices = drawn_prices(gpu_case, rng, scale, 0);
    const PriceSums sums = sums_of(gpu_case, prices);
    for (const ServiceIndex service : indices_of<ServiceIndex>(starts)) {
      ServiceBound bound(gpu_case, service);
      bound.compute(prices, sums, kOne);
      const double value = start_value(bound, gpu_case.first_slot, starts[service]);
      if (value == kNever) continue;
      Usage use{.kinds = std::vector<double>(prices.kind.size()), .progress = std::vector<double>(1)};
      ServicePath(bound).trace(true, 0, starts[service].bundle, use);
      for (int trial = 0; trial < 5; ++trial) {
        Prices other = prices;
        double path = value;
        for (std::size_t i = 0; i < other.kind.size(); ++i) {
          other.kind[i] = scale * rng.unit();
          path -= use.kinds[i] * (other.kind[i] - prices.kind[i]);
        }
        const PriceSums other_sums = sums_of(gpu_case, other);
        bound.compute(other, other_sums, kOne);
        const double now = start_value(bound, gpu_case.first_slot, starts[service]);
        ASSERT_GE(now, path - 1e-6 * (1 + std::abs(value) + std::abs(path)));
      }
    }
  }
}

/// If one change spans two due slots, a model may be in any training phase after the second: there the bound may be
/// larger.
TEST(ServiceBound, IsNoLargerWithMoreFactors) {
  int smaller = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 20))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    for (ServiceTerms& service : problem.services) {
      if (service.retraining && service.retraining->due_slots.size() > 1)
        service.retraining->due_slots = {SlotIndex(1)};
    }
    const GpuCase gpu_case(problem);
    Rng rng(seed);
    const double scale = problem.services.front().value * problem.services.front().loads.front();
    const Prices prices = drawn_prices(gpu_case, rng, scale / 2, scale * problem.slots);
    const double one = bound_at_prices(gpu_case, prices, kOne);
    const double several = bound_at_prices(gpu_case, prices, kSeveral);
    if (one == kNever) continue;
    EXPECT_LE(several, one + 1e-9 * (1 + std::abs(one)));
    if (several < one - 1e-6 * (1 + std::abs(one))) ++smaller;
  }
  EXPECT_GT(smaller, 0);
}

TEST(ServiceBound, ChargesProgressWhenTheRetrainingIsDone) {
  // A quarter serves 10, half as good while the model is stale. No change may begin, but retraining slices appear and
  // disappear freely. At a price of 0 the model may be fresh as soon as the fastest slice could have retrained it,
  // after 2 slots.
  Problem problem = testing::quarters_problem(1, 10);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0}};
  problem.is_frozen.assign(10, 1);
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  const GpuCase gpu_case(problem);
  Rng rng(1);
  Prices prices = drawn_prices(gpu_case, rng, 0, 0);
  EXPECT_NEAR(bound_at_prices(gpu_case, prices, kOne), 2 * 5 + 8 * 10, 1e-6);
  // The half next to the quarter makes a quarter of the progress in a slot, and is paid for it.
  prices.progress[0][0] = 16;
  EXPECT_NEAR(bound_at_prices(gpu_case, prices, kOne), 2 * (5 + 4) + 8 * 10 - 16, 1e-6);
}

TEST(ServiceBound, ChargesProgressAtTheEndOfTheWindow) {
  // The half is done when the window ends. At this price completing it earlier does not pay: the payment for the whole
  // progress is charged, and the tail is worth twice as much.
  Problem problem = testing::quarters_problem(1, 4);
  problem.gpus[0].standing = {
      {.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0},
      {.piece = {.site = SiteIndex(5), .service = ServiceIndex(0), .use = kRetraining}, .ready_in = 0}};
  problem.is_frozen.assign(4, 1);
  problem.tail_seconds = 10;
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}, .tail_fresh_seconds = 10};
  const GpuCase gpu_case(problem);
  Rng rng(1);
  Prices prices = drawn_prices(gpu_case, rng, 0, 0);
  prices.progress[0][0] = 40;
  const double truth = evaluate(problem, {.gpus = {{}}}).objective;
  EXPECT_DOUBLE_EQ(truth, 4 * 5 + 10 * 10);
  EXPECT_NEAR(bound_at_prices(gpu_case, prices, kOne), truth, 1e-6);
}

}  // namespace
}  // namespace berth::planner
