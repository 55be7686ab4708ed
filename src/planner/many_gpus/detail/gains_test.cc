#include "planner/many_gpus/detail/gains.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

using testing::kEverySlot;

constexpr std::uint64_t kGainsSeeds = berth::testing::by_build(30, 10);

Problem gains_problem(std::uint64_t seed) {
  testing::Shape shape{.gpus = {"A30-24GB", "A100-80GB"}};
  shape.services = 3;
  shape.slots = 30;
  shape.samples = 2;
  shape.variants_percent = 60;
  shape.rules_percent = seed % 2 == 0 ? 0 : 40;
  shape.oddities_percent = 30;
  return testing::ProblemGenerator(shape, Rng(seed)).draw();
}

/// The gain in the fleet's score from one more GPU that has only this piece, ready at once.
double score_gain_of_one_more(const Problem& problem, const Schedule& schedule, ModelIndex model, const Piece& piece) {
  Problem more = problem;
  more.gpus.push_back(
      {.model = model, .standing = {{.piece = piece, .ready_in = 0}}, .pins = {}, .free_from = SlotIndex(0)});
  Schedule longer = schedule;
  longer.gpus.emplace_back();
  // The prices of shortfalls depend only on the problem, so they are equal.
  return state_of(Terms(more), longer).score() - state_of(Terms(problem), schedule).score();
}

struct GainsFleet : testing::ScheduledFleet {
  explicit GainsFleet(std::uint64_t seed) : ScheduledFleet(gains_problem(seed), seed) {}
};

template <class Visit>
void for_each_use(const Problem& problem, const Visit& visit) {
  for (const ModelIndex model : indices_of<ModelIndex>(problem.models)) {
    const ModelTerms& terms = problem.models[idx(model)];
    for (const KindIndex kind : indices_of<KindIndex>(terms.rates)) {
      for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
        const std::vector<double>& rates = terms.rates[idx(kind)][idx(service)].requests_per_second;
        for (std::size_t use = 0; use < rates.size(); ++use) {
          if (rates[use] > 0) visit(model, kind, service, static_cast<int>(use), rates[use]);
        }
      }
    }
  }
}

TEST(FleetGains, APieceThatStandsAllTheTimeGainsWhatTheScoreGains) {
  int floors = 0;
  for (std::uint64_t seed = 0; seed < kGainsSeeds; ++seed) {
    const GainsFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    GainTables tables(fleet.terms, kEverySlot);
    (void)tables.note_changes(state);
    for_each_use(fleet.problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double) {
      SCOPED_TRACE(fmt::format("seed {}, model {}, kind {}, service {}, use {}", seed, model, kind, service, use));
      const std::vector<Site>& sites = fleet.problem.models[idx(model)].sites;
      const auto site = std::ranges::find(sites, kind, &Site::kind) - sites.begin();
      const double expected = score_gain_of_one_more(fleet.problem, *fleet.schedule, model,
                                                     {.site = SiteIndex(site), .service = service, .use = use});
      const Gain& gain = tables.gain(state, model, kind, service, use, {});
      const double found = gain.ready.back() + (gain.stands.empty() ? 0 : gain.stands.back());
      floors += gain.stands.empty() || gain.stands.back() <= 0 ? 0 : 1;
      EXPECT_NEAR(found, expected, 1e-7 * (1 + std::abs(expected) + std::abs(state.objective())));
    });
  }
  EXPECT_GT(floors, 10);
}

TEST(FleetGains, APieceFromASlotOnGainsTheDifferenceOfWholeSums) {
  for (std::uint64_t seed = 0; seed < kGainsSeeds; ++seed) {
    const GainsFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    GainTables tables(fleet.terms, kEverySlot);
    (void)tables.note_changes(state);
    Rng rng = Rng(seed).split("slots");
    for_each_use(fleet.problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double rate) {
      const SlotIndex from(rng.below(31));
      const SlotIndex until = from + static_cast<int>(rng.below(static_cast<std::uint64_t>(32 - from)));
      SCOPED_TRACE(fmt::format("seed {}, service {}, use {}, slots {} to {}", seed, service, use, from, until));
      const ServiceSupply& now = state.service(service);
      std::vector<double> capacity = now.capacity;
      const std::size_t variants = fleet.problem.services[idx(service)].variants.size();
      for (SlotIndex slot = from; slot < until; ++slot) capacity[idx(slot) * variants + idx(use)] += rate;
      const double expected = value_of(fleet.terms, service, capacity, now.progress) - now.value;
      const Gain& gain = tables.gain(state, model, kind, service, use, {});
      EXPECT_NEAR(gain.ready[idx(until)] - gain.ready[idx(from)], expected, 1e-7 * (1 + now.value));
    });
  }
}

/// The GPU's own capacity counts first, and the piece in addition to it.
TEST(FleetGains, APieceGainsLessOnTopOfWhatTheGpuGives) {
  for (std::uint64_t seed = 0; seed < kGainsSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const GainsFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state = state_of(fleet.terms, *fleet.schedule);
    GainTables tables(fleet.terms, kEverySlot);
    (void)tables.note_changes(state);
    for_each_use(fleet.problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double rate) {
      const ServiceSupply& now = state.service(service);
      const std::size_t variants = fleet.problem.services[idx(service)].variants.size();
      OwnCapacity own{.service = service, .capacity = std::vector<double>(now.capacity.size()), .is_sure = true};
      std::vector<double> given = now.capacity;
      std::vector<double> both = now.capacity;
      for (std::size_t at = idx(use); at < given.size(); at += variants) {
        own.capacity[at] = rate / 2;
        given[at] += rate / 2;
        both[at] += rate / 2 + rate;
      }
      const double expected =
          value_of(fleet.terms, service, both, now.progress) - value_of(fleet.terms, service, given, now.progress);
      const double alone = tables.gain(state, model, kind, service, use, {}).ready.back();
      tables.forget({service});
      const double on_top = tables.gain(state, model, kind, service, use, {own}).ready.back();
      tables.forget({service});
      EXPECT_NEAR(on_top, expected, 1e-7 * (1 + now.value));
      EXPECT_LE(on_top, alone + 1e-9 * (1 + alone));
    });
  }
}

TEST(FleetGains, ATableThatIsKeptIsTheSameAsANewOne) {
  for (std::uint64_t seed = 0; seed < kGainsSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const GainsFleet fleet(seed);
    if (!fleet.schedule) continue;
    FleetState state(fleet.terms);
    GainTables kept(fleet.terms, kEverySlot);
    for (const GpuIndex gpu : indices_of<GpuIndex>(fleet.problem.gpus)) {
      (void)kept.note_changes(state);
      GainTables fresh(fleet.terms, kEverySlot);
      FleetState copy = state.branch();
      (void)fresh.note_changes(copy);
      for_each_use(fleet.problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double) {
        const Gain& one = kept.gain(state, model, kind, service, use, {});
        const Gain& other = fresh.gain(copy, model, kind, service, use, {});
        EXPECT_EQ(one.ready, other.ready);
        EXPECT_EQ(one.stands, other.stands);
      });
      state.take_out(gpu);
      state.put(gpu, make_path(fleet.terms, gpu, fleet.schedule->gpus[idx(gpu)]));
    }
  }
}

TEST(FleetGains, WorthsAreAtMostTheirCaps) {
  const GainsFleet fleet(4);
  ASSERT_TRUE(fleet.schedule);
  FleetState state = state_of(fleet.terms, *fleet.schedule);
  PriceCaps caps;
  for (const ServiceTerms& service : fleet.problem.services) {
    caps.serving.emplace_back(service.variants.size(), std::vector<double>(31, 0.2));
    caps.floor.emplace_back(31, 0.0);
  }
  GainTables capped(fleet.terms, kEverySlot);
  capped.set_caps(caps);
  (void)capped.note_changes(state);
  GainTables free(fleet.terms, kEverySlot);
  FleetState copy = state.branch();
  (void)free.note_changes(copy);
  int held_down = 0;
  for_each_use(fleet.problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double rate) {
    const Gain& gain = capped.gain(state, model, kind, service, use, {});
    const Gain& all = free.gain(copy, model, kind, service, use, {});
    for (const SlotIndex slot : Indices<SlotIndex>(31)) {
      const double each = gain.ready[idx(slot) + 1] - gain.ready[idx(slot)];
      const double whole = all.ready[idx(slot) + 1] - all.ready[idx(slot)];
      EXPECT_NEAR(each, std::min(whole, 0.2 * rate), 1e-6 * (1 + whole));
      held_down += each < whole - 1e-6 ? 1 : 0;
    }
  });
  EXPECT_GT(held_down, 10);
}

/// Constant loads give the same gains whether every slot is evaluated or only a few.
TEST(FleetGains, FewSlotsStandForThoseAroundThem) {
  Problem problem = testing::quarters_problem(2, 40);
  problem.floors_from = SlotIndex(5);
  problem.services[0].floor_rate = 15;
  const Terms terms(problem);
  FleetState state(terms);
  FleetState copy(terms);
  GainTables all(terms, kEverySlot);
  GainTables few(terms, 4);
  (void)all.note_changes(state);
  (void)few.note_changes(copy);
  for_each_use(problem, [&](ModelIndex model, KindIndex kind, ServiceIndex service, int use, double) {
    const Gain& one = all.gain(state, model, kind, service, use, {});
    const Gain& other = few.gain(copy, model, kind, service, use, {});
    ASSERT_EQ(one.stands.size(), other.stands.size());
    for (std::size_t at = 0; at < one.ready.size(); ++at) EXPECT_NEAR(one.ready[at], other.ready[at], 1e-6);
    for (std::size_t at = 0; at < one.stands.size(); ++at) {
      EXPECT_NEAR(one.stands[at], other.stands[at], 1e-9 * one.stands.back());
    }
  });
}

TEST(FleetGains, CandidatesAreTheUsesThatAreWorthMostAtTheCaps) {
  const Problem problem = testing::quarters_problem(3, 20);
  const Terms terms(problem);
  PriceCaps caps;
  for (const double price : {1.0, 0.9, 0.1}) {
    caps.serving.push_back({std::vector<double>(21, price)});
    caps.floor.emplace_back(21, 0.0);
  }
  GainTables tables(terms, kEverySlot);
  tables.set_caps(caps);
  tables.keep_candidates(0.8);
  using Uses = std::vector<std::pair<ServiceIndex, int>>;
  for (KindIndex kind(0); kind < 3; ++kind) {
    // Service 2 is worth a tenth on every kind: none of its kinds is worse than another, so it keeps them all.
    EXPECT_EQ(tables.candidates(ModelIndex(0), kind),
              (Uses{{ServiceIndex(0), 0}, {ServiceIndex(1), 0}, {ServiceIndex(2), 0}}));
  }
  Problem uneven = problem;
  uneven.models[0].rates[0][2].requests_per_second[0] *= 3;  // much more on quarters
  const Terms uneven_terms(uneven);
  GainTables fewer(uneven_terms, kEverySlot);
  fewer.set_caps(caps);
  fewer.keep_candidates(0.8);
  EXPECT_EQ(fewer.candidates(ModelIndex(0), KindIndex(0)).size(), 3U);
  EXPECT_EQ(fewer.candidates(ModelIndex(0), KindIndex(1)), (Uses{{ServiceIndex(0), 0}, {ServiceIndex(1), 0}}));
}

}  // namespace
}  // namespace berth::planner::fleet
