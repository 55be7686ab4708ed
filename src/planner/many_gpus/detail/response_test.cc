#include "planner/many_gpus/detail/response.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/schedules.h"
#include "planner/window/testing/exhaustive.h"

namespace berth::planner::fleet {
namespace {

using testing::kEverySlot;

constexpr std::uint64_t kResponseSeeds = berth::testing::by_build(30, 10);
/// The same in every build, for tests that also count how often something happens.
constexpr std::uint64_t kCountedSeeds = 30;

/// Three GPUs, half of the time with every rule, and a random schedule of them.
struct ResponseFleet : testing::ScheduledFleet {
  explicit ResponseFleet(std::uint64_t seed) : ScheduledFleet(draw(seed), seed) {}

  static Problem draw(std::uint64_t seed) {
    testing::Shape shape{.gpus = {"A30-24GB", "A100-80GB", "A30-24GB"}};
    shape.services = 3;
    shape.slots = 20;
    shape.start_seconds_max = 4;
    shape.rules_percent = seed % 2 == 0 ? 0 : 25;
    shape.oddities_percent = 40;
    return testing::ProblemGenerator(shape, Rng(seed)).draw();
  }

  [[nodiscard]] Responder responder() const {
    return {terms, make_grid(terms, {SlotIndex(3), SlotIndex(7), SlotIndex(12)}, {}), kEverySlot};
  }
};

bool retrains(const Path& path, ServiceIndex service) {
  return std::ranges::any_of(
      path.stays, [&](const Stay& stay) { return stay.piece.service == service && stay.piece.use == kRetraining; });
}

/// Whether a retraining begins on a new slice. A standing one may continue where no other service can use its space.
bool begins_retraining(const GpuTerms& gpu, const Path& path, ServiceIndex service) {
  return std::ranges::any_of(path.stays, [&](const Stay& stay) {
    const bool stood = std::ranges::find(gpu.standing, stay.piece, &StandingPiece::piece) != gpu.standing.end();
    return !stood && stay.piece.service == service && stay.piece.use == kRetraining;
  });
}

/// A GPU's response gains the returned amount, keeps every rule that was kept before, and leaves the fleet's sums
/// consistent.
void expect_exact(const FleetState& state, double before, bool was_sound, double gain) {
  const Terms& terms = state.terms();
  const double rounding = 1e-8 * (1 + std::abs(before) + terms.value_max);
  EXPECT_NEAR(state.score() - before, gain, rounding);
  const Schedule schedule = testing::schedule_of(state);
  EXPECT_NEAR(state_of(terms, schedule).score(), state.score(), rounding);
  for (const GpuIndex gpu : indices_of<GpuIndex>(schedule.gpus)) {
    EXPECT_TRUE(may_carry_out(terms, gpu, schedule.gpus[idx(gpu)]));
    EXPECT_TRUE(keeps_rules(terms, gpu, schedule.gpus[idx(gpu)]));
  }
  if (!was_sound) return;
  EXPECT_EQ(find_fault(terms.problem, schedule).value_or(""), "");
  EXPECT_NEAR(evaluate(terms.problem, schedule).objective, state.objective(), rounding);
}

bool is_sound(const FleetState& state) { return state.shortfall() <= 0 && state.excess() <= 0; }

TEST(FleetResponse, AnAnswerGainsWhatItSaysAndNeverLoses) {
  int gaining = 0;
  for (std::uint64_t seed = 0; seed < kResponseSeeds; ++seed) {
    const ResponseFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    Responder responder = fleet.responder();
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      for (const ResponseOptions& options :
           {ResponseOptions{.attempts = 1, .moves_retraining = false}, ResponseOptions{.attempts = 3}}) {
        SCOPED_TRACE(fmt::format("seed {}, GPU {}, {} attempts", seed, gpu, options.attempts));
        const double before = state.score();
        const bool was_sound = is_sound(state);
        const double gain = responder.improve(state, gpu, options);
        EXPECT_GE(gain, 0);
        expect_exact(state, before, was_sound, gain);
        gaining += gain > 0 ? 1 : 0;
      }
    }
    EXPECT_GT(responder.nodes(), 0);
  }
  EXPECT_GT(gaining, static_cast<int>(kResponseSeeds));
}

/// On one tiny GPU the response never exceeds the optimum, and mostly reaches it.
TEST(FleetResponse, OnOneTinyGpuTheAnswerIsMostlyTheOptimum) {
  int known = 0;
  int reached = 0;
  for (std::uint64_t seed = 0; seed < 3 * kCountedSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::tiny_problem(Rng(seed));
    if (problem.gpus.size() > 1) continue;
    const std::optional<Answer> truth = testing::Exhaustive(problem, 5'000).solve();
    if (!truth || truth->is_infeasible) continue;
    const Terms terms(problem);
    std::vector<SlotIndex> all;
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots)) all.push_back(slot);
    Responder responder(terms, make_grid(terms, all, {}), kEverySlot);
    FleetState state(terms);
    (void)responder.improve(state, GpuIndex(0), {});
    if (!is_sound(state)) continue;
    ++known;
    const double rounding = 1e-7 * (1 + std::abs(truth->objective));
    EXPECT_LE(state.objective(), truth->objective + rounding);
    reached += state.objective() >= truth->objective - rounding ? 1 : 0;
  }
  EXPECT_GT(known, static_cast<int>(kCountedSeeds) / 2);
  EXPECT_GT(reached, known * 6 / 10);
}

TEST(FleetResponse, AGpuThatWasTakenOutIsPlacedAgain) {
  for (std::uint64_t seed = 0; seed < kResponseSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const ResponseFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    Responder responder = fleet.responder();
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      state.take_out(gpu);
      responder.place(state, gpu);
      expect_exact(state, state.score(), false, 0);
    }
  }
}

TEST(FleetResponse, FloorsThatAreShortGetPieces) {
  int repaired = 0;
  for (std::uint64_t seed = 1; seed < 4 * kCountedSeeds; seed += 2) {
    SCOPED_TRACE(seed);
    const ResponseFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    Responder responder = fleet.responder();
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      const double before = state.score();
      const double shortfall_before = state.shortfall();
      const double gain = responder.repair_floors(state, gpu);
      EXPECT_GE(gain, 0);
      expect_exact(state, before, false, gain);
      if (shortfall_before <= 0) {
        EXPECT_EQ(gain, 0);
      }
      repaired += state.shortfall() < shortfall_before ? 1 : 0;
    }
  }
  EXPECT_GT(repaired, 5);
}

TEST(FleetResponse, ARetrainingBeginsWhereItGainsAndStopsOnRequest) {
  int begun = 0;
  int stopped = 0;
  for (std::uint64_t seed = 0; seed < 2 * kCountedSeeds; ++seed) {
    const ResponseFleet fleet(seed);
    FleetState state(fleet.terms);
    Responder responder = fleet.responder();
    for (const ServiceIndex service : indices_of<ServiceIndex>(fleet.problem.services)) {
      if (!fleet.problem.services[idx(service)].retraining) continue;
      for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
        SCOPED_TRACE(fmt::format("seed {}, service {}, GPU {}", seed, service, gpu));
        const double before = state.score();
        const bool did = retrains(state.path(gpu), service);
        const double gain = responder.retrain(state, gpu, service);
        EXPECT_GE(gain, 0);
        expect_exact(state, before, false, gain);
        begun += !did && retrains(state.path(gpu), service) ? 1 : 0;
        EXPECT_LE(state.excess(), FleetState(fleet.terms).excess());  // no second piece of a service
      }
    }
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      for (const ServiceIndex service : indices_of<ServiceIndex>(fleet.problem.services)) {
        if (!begins_retraining(fleet.problem.gpus[idx(gpu)], state.path(gpu), service)) continue;
        ++stopped;
        const double before = state.score();
        expect_exact(state, before, false, responder.stop_retraining(state, gpu, service));
        EXPECT_FALSE(begins_retraining(fleet.problem.gpus[idx(gpu)], state.path(gpu), service));
      }
    }
  }
  EXPECT_GT(begun, 5);
  EXPECT_GT(stopped, 5);
}

TEST(FleetResponse, ChangesThatComeLateMoveToWhereTheyGain) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < kResponseSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const ResponseFleet fleet(seed);
    FleetState state(fleet.terms);
    Responder responder = fleet.responder();
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      (void)responder.improve(state, gpu, {.attempts = 2});
      std::vector<Change> late = state.path(gpu).changes;
      if (late.size() > 1) late.resize(1);
      for (Change& change : late)
        change.slot = next_free(fleet.terms, gpu, {}, std::min(change.slot + 5, fleet.terms.tail()));
      if (late.empty() || !may_carry_out(fleet.terms, gpu, late)) continue;
      state.take_out(gpu);
      state.put(gpu, make_path(fleet.terms, gpu, std::move(late)));
      const double before = state.score();
      const double gain = responder.retime(state, gpu);
      EXPECT_GE(gain, 0);
      expect_exact(state, before, is_sound(state) && gain <= 0, gain);
      moved += gain > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(moved, static_cast<int>(kResponseSeeds) / 3);
}

}  // namespace
}  // namespace berth::planner::fleet
