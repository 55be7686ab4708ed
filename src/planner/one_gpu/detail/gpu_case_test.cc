#include "planner/one_gpu/detail/gpu_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

using testing::one_gpu_of_tiny;

constexpr int kGpuCaseSeeds = berth::testing::by_build(300, 30);

/// The least delay of a piece over the possible previous states: an empty GPU, or an unowned piece on its site.
int least_delay(const GpuCase& gpu_case, const Piece& piece) {
  const Configuration unowned = {{.site = piece.site, .service = kNoService, .use = 0}};
  return std::min(slots_until_ready(gpu_case.problem, gpu_case.model, {}, piece),
                  slots_until_ready(gpu_case.problem, gpu_case.model, unowned, piece));
}

TEST(GpuCase, KnowsTheLeastDelaysThatTheCheckerFinds) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kGpuCaseSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    problem.services.front().start_seconds += static_cast<double>(seed % 10) / 10;  // to be rounded
    const GpuCase gpu_case(problem);
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      for (const SiteIndex site : indices_of<SiteIndex>(gpu_case.model.sites)) {
        const Piece serves{.site = site, .service = service, .use = 0};
        const Piece retrains{.site = site, .service = service, .use = kRetraining};
        EXPECT_EQ(gpu_case.start_slots[service], least_delay(gpu_case, serves));
        EXPECT_EQ(gpu_case.retraining_start_slots, least_delay(gpu_case, retrains));
      }
    }
  }
}

/// A change that only the rules on time can forbid: from the standing pieces to none or, if there are none, to a
/// serving piece.
Configuration other_configuration(const GpuCase& gpu_case) {
  if (!gpu_case.gpu.standing.empty()) return {};
  for (const SiteIndex site : indices_of<SiteIndex>(gpu_case.model.sites)) {
    const std::vector<Rates>& of_kind = gpu_case.model.rates[gpu_case.model.sites[site].kind];
    for (const ServiceIndex service : indices_of<ServiceIndex>(of_kind)) {
      const std::vector<double>& rates = of_kind[service].requests_per_second;
      for (int use = 0; ix(use) < rates.size(); ++use) {
        if (rates[use] > 0) return {{.site = site, .service = service, .use = use}};
      }
    }
  }
  return {};
}

TEST(GpuCase, ChangesInTheSlotsThatTheCheckerAllows) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kGpuCaseSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    problem.gpus.front().pins.clear();
    for (ServiceTerms& service : problem.services) {
      service.floor_rate = 0;
      service.changes_max = -1;
    }
    const GpuCase gpu_case(problem);
    const Configuration to = other_configuration(gpu_case);
    bool is_before_first = true;
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
      const bool is_allowed = !find_fault(problem, {.gpus = {{{.slot = slot, .to = to}}}}).has_value();
      ASSERT_EQ(gpu_case.can_change(slot), is_allowed) << "slot " << slot;
      is_before_first = is_before_first && !is_allowed;
      if (!is_before_first) {
        EXPECT_LE(gpu_case.first_slot, slot);
      }
    }
    EXPECT_LE(gpu_case.first_slot, problem.slots);
  }
}

TEST(GpuCase, KnowsTheProgressOfASlot) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kGpuCaseSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const ServiceTerms& terms = problem.services[service];
      for (const KindIndex kind : Indices<KindIndex>(gpu_case.rooms.kinds())) {
        const double slots = gpu_case.model.rates[kind][service].retraining_slots;
        const bool is_possible = may_be_stale(terms) && !terms.retrains_elsewhere && slots > 0;
        EXPECT_EQ(gpu_case.progress_rate(service, kind), is_possible ? 1 / slots : 0);
      }
      double standing = 0;
      for (const StandingPiece& each : gpu_case.gpu.standing) {
        if (each.piece.service != service || each.piece.use != kRetraining || !terms.retrains_elsewhere) continue;
        standing += 1 / gpu_case.model.rates[gpu_case.model.sites[each.piece.site].kind][service].retraining_slots;
      }
      for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) {
        const double outside = terms.outside_progress.empty() ? 0 : terms.outside_progress[slot];
        EXPECT_DOUBLE_EQ(gpu_case.outside_progress(service, slot), outside + standing);
      }
    }
  }
}

TEST(GpuCase, KeepsTheFloorThatTheCheckerAccepts) {
  Problem problem = testing::quarters_problem(1, 3);
  problem.gpus.front().standing = {
      {.piece = {.site = SiteIndex(0), .service = ServiceIndex(0), .use = 0}, .ready_in = 0}};
  ServiceTerms& service = problem.services.front();
  for (const auto& [floor, outside] : std::vector<std::pair<double, double>>{
           {0, 0}, {9, 0}, {10, 0}, {10 * (1 + 5e-10), 0}, {10 * (1 + 5e-9), 0}, {11, 0}, {15, 5}, {15, 4}}) {
    service.floor_rate = floor;
    service.outside_floor_rate = outside;
    const bool is_kept = !find_fault(problem, {.gpus = {{}}}).has_value();
    EXPECT_EQ(GpuCase(problem).keeps_floor(ServiceIndex(0), 10), is_kept) << floor << " less " << outside;
  }
}

TEST(GpuCase, TakesTheBetterModelUntilASwapThatLoses) {
  Problem problem = testing::quarters_problem(1, 4);
  problem.services.front().variants = {{.accuracy_before = 1, .accuracy_after = 0.5}};
  problem.services.front().retraining = RetrainingTerms{.is_stale = true, .due_slots = {}, .swap_slots = 2};
  {
    const GpuCase gpu_case(problem);
    const LevelIndex level = gpu_case.bundles[0].level.back();
    EXPECT_TRUE(gpu_case.may_lose_by_swap(ServiceIndex(0)));
    EXPECT_DOUBLE_EQ(gpu_case.value_when_done(ServiceIndex(0), level, SlotIndex(1)), 10);
  }
  problem.services.front().retraining->swap_slots = 0;
  const GpuCase gpu_case(problem);
  EXPECT_FALSE(gpu_case.may_lose_by_swap(ServiceIndex(0)));
  EXPECT_DOUBLE_EQ(gpu_case.value_when_done(ServiceIndex(0), gpu_case.bundles[0].level.back(), SlotIndex(1)), 5);
}

TEST(GpuCase, RoundsHalvesUp) {
  EXPECT_EQ(slots_of_seconds(0), 0);
  EXPECT_EQ(slots_of_seconds(0.49), 0);
  EXPECT_EQ(slots_of_seconds(0.5), 1);
  EXPECT_EQ(slots_of_seconds(0.1 + 0.1 + 0.3), 1);
  EXPECT_EQ(slots_of_seconds(0.5 - 1e-10), 1);
  EXPECT_EQ(slots_of_seconds(2.4), 2);
  EXPECT_EQ(slots_of_seconds(2.5), 3);
}

}  // namespace
}  // namespace berth::planner
