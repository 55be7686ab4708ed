#include "planner/many_gpus/state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/test_cases.h"
#include "planner/many_gpus/testing/schedules.h"
#include "planner/window/check.h"

namespace berth::planner::fleet {
namespace {

constexpr std::uint64_t kStateSeeds = berth::testing::by_build(60, 20);

/// Three GPUs with every rule, with rates whose sums are exact.
Problem exact_problem(std::uint64_t seed) {
  testing::Shape shape{.gpus = {"A30-24GB", "A100-80GB", "A30-24GB"}};
  shape.services = 3;
  shape.slots = 12;
  shape.samples = 2;
  shape.start_seconds_min = 0;
  shape.start_seconds_max = 3;
  shape.rules_percent = seed % 2 == 0 ? 0 : 30;
  shape.oddities_percent = 50;
  shape.price_percent = 50;
  return testing::with_exact_sums(testing::ProblemGenerator(shape, Rng(seed)).draw());
}

/// A random schedule of a random problem.
struct Case {
  Problem problem;
  Schedule schedule;
};

std::optional<Case> any_case(std::uint64_t seed) {
  Case each{.problem = exact_problem(seed), .schedule = {}};
  Rng rng = Rng(seed).split("schedule");
  std::optional<Schedule> schedule = testing::any_schedule(each.problem, rng);
  if (!schedule) return std::nullopt;
  each.schedule = std::move(*schedule);
  return each;
}

void expect_same(const FleetState& one, const FleetState& other) {
  for (const ServiceIndex service : indices_of<ServiceIndex>(one.terms().problem.services)) {
    EXPECT_EQ(one.service(service).capacity, other.service(service).capacity);
    EXPECT_EQ(one.service(service).standing, other.service(service).standing);
    EXPECT_EQ(one.service(service).progress, other.service(service).progress);
    EXPECT_EQ(one.service(service).retraining, other.service(service).retraining);
    EXPECT_EQ(one.service(service).changed, other.service(service).changed);
  }
  EXPECT_EQ(one.objective(), other.objective());
  EXPECT_EQ(one.score(), other.score());
  EXPECT_EQ(one.shortfall(), other.shortfall());
  EXPECT_EQ(one.excess(), other.excess());
}

TEST(FleetState, AScheduleIsWorthWhatTheJudgeSays) {
  int faulty = 0;
  int known = 0;
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    SCOPED_TRACE(seed);
    ++known;
    const Terms terms(each->problem);
    const FleetState state = state_of(terms, each->schedule);
    const Evaluation evaluation = evaluate(each->problem, each->schedule);
    EXPECT_NEAR(state.objective(), evaluation.objective, 1e-9 * (1 + std::abs(evaluation.objective)));
    const bool has_fault = find_fault(each->problem, each->schedule).has_value();
    faulty += has_fault ? 1 : 0;
    EXPECT_EQ(state.shortfall() > 0 || state.excess() > 0, has_fault);
    EXPECT_EQ(state.score() < state.objective(), has_fault);
    for (const ServiceIndex service : indices_of<ServiceIndex>(each->problem.services)) {
      const Freshness freshness = freshness_of(terms, service, state.service(service).progress);
      for (const SlotIndex slot : Indices<SlotIndex>(terms.slots)) {
        EXPECT_EQ(freshness.is_fresh[idx(slot)] != 0, evaluation.services[idx(service)][idx(slot)].is_fresh);
      }
      EXPECT_NEAR(freshness.model_value, evaluation.model_value[idx(service)], 1e-9);
    }
  }
  EXPECT_GT(known, static_cast<int>(kStateSeeds) / 2);
  EXPECT_GT(faulty, 5);
}

TEST(FleetState, WhatIsTakenOutAndPutBackLeavesNothingBehind) {
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    SCOPED_TRACE(seed);
    const Terms terms(each->problem);
    const FleetState before = state_of(terms, each->schedule);
    FleetState state = before;
    Rng rng = Rng(seed).split("tries");
    for (int turn = 0; turn < 6; ++turn) {
      const GpuIndex gpu(rng.below(each->problem.gpus.size()));
      Schedule other = each->schedule;
      testing::draw_changes(each->problem, gpu, rng, other);
      Path own = state.path(gpu);
      state.take_out(gpu);
      if (turn % 2 == 0) {
        const double score = state.score_with(gpu, make_path(terms, gpu, other.gpus[idx(gpu)]));
        EXPECT_EQ(score, state_of(terms, other).score());
      } else {
        state.put(gpu, make_path(terms, gpu, other.gpus[idx(gpu)]));
        expect_same(state, state_of(terms, other));
        state.take_out(gpu);
      }
      state.put(gpu, std::move(own));
    }
    expect_same(state, before);
  }
}

TEST(FleetState, ServicesWithAnotherCapacityAreTouched) {
  int untouched = 0;
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    SCOPED_TRACE(seed);
    const Terms terms(each->problem);
    FleetState state(terms);
    EXPECT_EQ(state.take_touched().size(), each->problem.services.size());  // all at first
    EXPECT_TRUE(state.take_touched().empty());
    const FleetState before = state;
    state.take_out(GpuIndex(1));
    state.put(GpuIndex(1), make_path(terms, GpuIndex(1), each->schedule.gpus[1]));
    const std::vector<ServiceIndex> touched = state.take_touched();
    EXPECT_TRUE(std::ranges::is_sorted(touched));
    for (const ServiceIndex service : indices_of<ServiceIndex>(each->problem.services)) {
      if (std::ranges::find(touched, service) != touched.end()) continue;
      ++untouched;
      EXPECT_EQ(state.service(service).capacity, before.service(service).capacity);
      EXPECT_EQ(state.service(service).standing, before.service(service).standing);
      EXPECT_EQ(state.service(service).progress, before.service(service).progress);
    }
    EXPECT_EQ(state.branch().take_touched().size(), each->problem.services.size());
  }
  EXPECT_GT(untouched, 10);
}

/// One GPU, without the services and rules that involve others.
Problem alone(const Problem& problem, GpuIndex gpu) {
  Problem part = testing::without_floors_and_budgets(problem);
  part.gpus = {problem.gpus[idx(gpu)]};
  return part;
}

TEST(FleetState, WhateverIsWantedTheChangesAreLegal) {
  int changing = 0;
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const Problem problem = exact_problem(seed);
    const Terms terms(problem);
    Rng rng = Rng(seed).split("wanted");
    for (const GpuIndex gpu : indices_of<GpuIndex>(problem.gpus)) {
      SCOPED_TRACE(fmt::format("seed {}, GPU {}", seed, gpu));
      const GpuTerms& gpu_terms = problem.gpus[idx(gpu)];
      std::vector<SlotIndex> stays_until;
      for (std::size_t i = 0; i < gpu_terms.standing.size(); ++i) stays_until.emplace_back(rng.below(14));
      std::vector<PlannedPiece> wanted;
      for (int i = 0; i < 3; ++i) {
        const SlotIndex from(rng.below(12));
        for (const Piece& piece : testing::any_configuration(problem, terms.model_of(gpu), {}, rng)) {
          if (piece.use != kRetraining)
            wanted.push_back({.piece = piece, .from = from, .until = from + 4, .from_point = {}, .until_point = {}});
        }
      }
      const std::vector<Change> changes = changes_towards(terms, gpu, stays_until, wanted);
      changing += changes.empty() ? 0 : 1;
      EXPECT_TRUE(may_carry_out(terms, gpu, changes));
      EXPECT_TRUE(keeps_rules(terms, gpu, changes));
      EXPECT_EQ(find_fault(alone(problem, gpu), {{changes}}).value_or(""), "");
    }
  }
  EXPECT_GT(changing, static_cast<int>(kStateSeeds));
}

TEST(FleetState, ChangesMoveInTimeWhereTheJudgeAllowsIt) {
  int allowed = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    const Terms terms(each->problem);
    for (const GpuIndex gpu : indices_of<GpuIndex>(each->problem.gpus)) {
      std::vector<Change> changes = each->schedule.gpus[idx(gpu)];
      if (changes.empty()) continue;
      for (const int by : {-3, -1, 1, 2, 5}) {
        SCOPED_TRACE(fmt::format("seed {}, GPU {}, by {}", seed, gpu, by));
        std::vector<Change> moved = changes;
        moved[moved.size() / 2].slot += by;
        const bool is_legal = !find_fault(alone(each->problem, gpu), {{moved}}).has_value();
        EXPECT_EQ(may_carry_out(terms, gpu, moved), is_legal);
        (is_legal ? allowed : refused) += 1;
      }
    }
  }
  EXPECT_GT(allowed, 20);
  EXPECT_GT(refused, 20);
}

TEST(FleetState, TheNextFreeSlotIsTheFirstInWhichAChangeIsLegal) {
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    const Terms terms(each->problem);
    for (const GpuIndex gpu : indices_of<GpuIndex>(each->problem.gpus)) {
      const std::vector<Change>& changes = each->schedule.gpus[idx(gpu)];
      for (const SlotIndex slot : Indices<SlotIndex>(terms.slots)) {
        SCOPED_TRACE(fmt::format("seed {}, GPU {}, slot {}", seed, gpu, slot));
        std::vector<Change> before;
        std::ranges::copy_if(changes, std::back_inserter(before), [&](const Change& its) { return its.slot < slot; });
        const bool changes_there = std::ranges::find(changes, slot, &Change::slot) != changes.end();
        SlotIndex expected = slot;
        while (expected < terms.slots && !changes_there) {
          std::vector<Change> longer = before;
          longer.push_back({.slot = expected, .to = {}});
          if (may_carry_out(terms, gpu, longer)) break;
          ++expected;
        }
        EXPECT_EQ(next_free(terms, gpu, changes, slot), expected);
      }
    }
  }
}

Configuration pieces_in(const GpuTerms& gpu, const std::vector<Change>& changes, SlotIndex slot) {
  Configuration pieces = testing::pieces_standing_on(gpu);
  for (const Change& change : changes) {
    if (change.slot <= slot) pieces = change.to;
  }
  return pieces;
}

/// The stay's piece is replaced in some of its slots, and nothing else differs in any slot.
void expect_replaced(const GpuTerms& gpu, const std::vector<Change>& old, const std::vector<Change>& now,
                     const Stay& stay, const Piece& piece, SlotIndex from, SlotIndex until) {
  for (SlotIndex slot(0); slot <= 12; ++slot) {
    Configuration expected = pieces_in(gpu, old, slot);
    for (Piece& each : expected) {
      if (from <= slot && slot < until && each == stay.piece) each = piece;
    }
    EXPECT_EQ(pieces_in(gpu, now, slot), expected) << slot;
  }
}

TEST(FleetState, AStayIsLentForSomeSlotsAndGivenAwayForAll) {
  int lent_count = 0;
  int given = 0;
  for (std::uint64_t seed = 0; seed < kStateSeeds; ++seed) {
    const auto each = any_case(seed);
    if (!each) continue;
    const Terms terms(each->problem);
    for (const GpuIndex gpu : indices_of<GpuIndex>(each->problem.gpus)) {
      const GpuTerms& gpu_terms = each->problem.gpus[idx(gpu)];
      const Path path = make_path(terms, gpu, each->schedule.gpus[idx(gpu)]);
      for (const Stay& stay : path.stays) {
        SCOPED_TRACE(fmt::format("seed {}, GPU {}, slots {} to {}", seed, gpu, stay.from, stay.until));
        if (stay.until - stay.from < 3) continue;
        Piece piece = stay.piece;
        piece.use = stay.piece.use == 0 ? kRetraining : 0;
        const SlotIndex from = stay.from + 1;
        const SlotIndex until = std::min(stay.until - 1, terms.tail());
        const auto changes = lent(gpu_terms, path, stay, piece, from, until);
        expect_replaced(gpu_terms, path.changes, changes, stay, piece, from, until);
        ++lent_count;
        if (path.changes.empty() || stay.from < path.changes.front().slot) continue;
        const auto away = given_away(gpu_terms, path, stay, piece);
        expect_replaced(gpu_terms, path.changes, away, stay, piece, stay.from, stay.until);
        ++given;
      }
    }
  }
  EXPECT_GT(lent_count, 50);
  EXPECT_GT(given, 20);
}

}  // namespace
}  // namespace berth::planner::fleet
