#include "planner/window/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using ::testing::HasSubstr;
using testing::quarters_problem;

Piece serve(int site, int service, int variant = 0) {
  return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = variant};
}
Piece retrain(int site, int service) {
  return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = kRetraining};
}
Piece unowned(int site) { return {.site = SiteIndex(site), .service = kNoService, .use = 0}; }

void stand(Problem& problem, const Configuration& pieces, int ready_in = 0) {
  for (const Piece& piece : pieces) problem.gpus.front().standing.push_back({.piece = piece, .ready_in = ready_in});
}

/// A change as the tests write it.
struct At {
  int slot = 0;
  Configuration to;
};

/// The changes of one GPU.
Schedule changes(const std::vector<At>& list) {
  Schedule schedule{.gpus = {{}}};
  for (const At& each : list) schedule.gpus[0].push_back({.slot = SlotIndex(each.slot), .to = each.to});
  return schedule;
}

std::string fault_of(const Problem& problem, const Schedule& schedule) {
  return find_fault(problem, schedule).value_or("none");
}

double objective_of(const Problem& problem, const Schedule& schedule) {
  EXPECT_EQ(fault_of(problem, schedule), "none");
  return evaluate(problem, schedule).objective;
}

std::vector<double> served_of(const Problem& problem, const Schedule& schedule, std::size_t service = 0) {
  EXPECT_EQ(fault_of(problem, schedule), "none");
  std::vector<double> served;
  const Evaluation evaluation = evaluate(problem, schedule);
  for (const SlotFigures& figures : evaluation.services[service]) served.push_back(figures.served);
  return served;
}

std::string freshness_of(const Problem& problem, const Schedule& schedule) {
  EXPECT_EQ(fault_of(problem, schedule), "none");
  std::string text;
  const Evaluation evaluation = evaluate(problem, schedule);
  for (const SlotFigures& figures : evaluation.services[0]) text += figures.is_fresh ? 'f' : 's';
  return text;
}

// ---- how long a change takes

TEST(SlotsUntilReady, CountsWhatIsDone) {
  Problem problem = quarters_problem(2, 10);
  problem.destroy_seconds = 3;
  problem.create_seconds = 4;
  problem.plumbing_seconds = 10;
  const ModelTerms& model = problem.models.front();
  const Configuration from = {serve(0, 0), retrain(1, 0), unowned(2)};
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(0, 0)), 0);
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(0, 1)), 12) << "its slice stands";
  EXPECT_EQ(slots_until_ready(problem, model, from, retrain(0, 0)), 10) << "the same slice for another use";
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(1, 0)), 12);
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(2, 0)), 12) << "unowned before";
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(3, 0)), 16) << "next to what stands";
  EXPECT_EQ(slots_until_ready(problem, model, from, retrain(3, 0)), 14);
  EXPECT_EQ(slots_until_ready(problem, model, from, serve(4, 0)), 19) << "in the room of 0 and 1";
  EXPECT_EQ(slots_until_ready(problem, model, from, retrain(5, 0)), 17);
}

TEST(SlotsUntilReady, CountsTheTimesOfTheKindsOfSlices) {
  Problem problem = quarters_problem(2, 10);
  ModelTerms& model = problem.models.front();
  model.create_seconds = {10, 20, 40};  // of quarters, halves and the whole
  model.destroy_seconds = {1, 3, 7};
  const Configuration quarters = {serve(0, 0), unowned(1)};
  const Configuration half = {serve(5, 0)};
  const Configuration both = {serve(0, 0), serve(5, 0)};
  EXPECT_EQ(slots_until_ready(problem, model, {}, serve(0, 0)), 12);
  EXPECT_EQ(slots_until_ready(problem, model, {}, serve(4, 0)), 22);
  EXPECT_EQ(slots_until_ready(problem, model, {}, retrain(6, 0)), 40);
  EXPECT_EQ(slots_until_ready(problem, model, quarters, serve(4, 0)), 23) << "both go at a time";
  EXPECT_EQ(slots_until_ready(problem, model, half, serve(2, 0)), 15);
  EXPECT_EQ(slots_until_ready(problem, model, half, serve(0, 0)), 12) << "it is not in the way";
  EXPECT_EQ(slots_until_ready(problem, model, both, serve(6, 0)), 45) << "the longest";
  EXPECT_EQ(slots_until_ready(problem, model, {serve(6, 0)}, serve(0, 0)), 19);
  EXPECT_EQ(slots_until_ready(problem, model, both, serve(5, 1)), 2) << "its slice stands";
}

TEST(SlotsUntilReady, HalvesAreRoundedUp) {
  Problem problem = quarters_problem(1, 10);
  problem.create_seconds = 0.25;
  problem.services[0].start_seconds = 0.25;
  const ModelTerms& model = problem.models.front();
  EXPECT_EQ(slots_until_ready(problem, model, {}, serve(0, 0)), 1);
  problem.create_seconds = 0.2;
  EXPECT_EQ(slots_until_ready(problem, model, {}, serve(0, 0)), 0);
  problem.create_seconds = 0.1 + 0.2;  // 0.3 and a little
  problem.services[0].start_seconds = 0.2;
  EXPECT_EQ(slots_until_ready(problem, model, {}, serve(0, 0)), 1);
}

// ---- serving

TEST(Evaluate, APieceWorksWhenItIsReady) {
  Problem problem = quarters_problem(1, 6);
  EXPECT_THAT(served_of(problem, changes({{1, {serve(0, 0)}}})), ::testing::ElementsAre(0, 0, 0, 0, 10, 10, 10))
      << "create 0.5 + start 2 seconds: three slots";
}

TEST(Evaluate, NeighboursGoOnDuringAChange) {
  Problem problem = quarters_problem(2, 6);
  stand(problem, {serve(0, 0), serve(1, 1)});
  const Schedule schedule = changes({{1, {serve(0, 0), serve(5, 1)}}});
  EXPECT_THAT(served_of(problem, schedule, 0), ::testing::Each(10));
  EXPECT_THAT(served_of(problem, schedule, 1), ::testing::ElementsAre(10, 0, 0, 0, 10, 10, 10));
}

TEST(Evaluate, SlicesThatComeAndGoHaveTheirPrice) {
  Problem problem = quarters_problem(2, 6);
  stand(problem, {serve(0, 0), serve(1, 1)});
  const Schedule gives_away = changes({{1, {serve(0, 1), serve(1, 1)}}});
  const Schedule cuts_anew = changes({{1, {serve(0, 0), serve(5, 1)}}});  // one goes, one comes
  const double given_away = objective_of(problem, gives_away);
  const double cut_anew = objective_of(problem, cuts_anew);
  problem.change_price = 3;
  EXPECT_DOUBLE_EQ(objective_of(problem, gives_away), given_away);
  EXPECT_DOUBLE_EQ(objective_of(problem, cuts_anew), cut_anew - 2 * 3);
}

TEST(Evaluate, PiecesAddUpToTheLoadAndTheTailCounts) {
  Problem problem = quarters_problem(1, 2);
  problem.tail_seconds = 10;
  problem.services[0].value = 2;
  problem.services[0].loads = {15, 25, 12};
  stand(problem, {serve(0, 0), serve(1, 0)});
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 2 * (15 + 20 + 10 * 12));
}

TEST(Evaluate, EveryPieceIsReadyInTheTail) {
  Problem problem = quarters_problem(1, 2);
  problem.tail_seconds = 3;
  stand(problem, {serve(0, 0)}, 7);
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 30);
  problem.gpus[0].standing[0].ready_in = 1;
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 40);
}

TEST(Evaluate, TakesTheMeanOverSamples) {
  Problem problem = quarters_problem(1, 1);
  problem.samples = 4;
  problem.services[0].loads = {0, 4, 10, 30, 0, 0, 0, 0};
  stand(problem, {serve(0, 0)});
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), (0 + 4 + 10 + 10) / 4.0);
}

TEST(Evaluate, TheMostAccurateVariantAnswersFirst) {
  Problem problem = quarters_problem(1, 1);
  ServiceTerms& service = problem.services[0];
  service.loads = {12, 0};
  service.variants = {{.accuracy_before = 0.9, .accuracy_after = 0.5}, {.accuracy_before = 0.6, .accuracy_after = 0.8}};
  for (std::vector<Rates>& rates : problem.models[0].rates) rates[0].requests_per_second.push_back(7);
  stand(problem, {serve(0, 0, 0), serve(1, 0, 1)});
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 7 * 0.8 + 5 * 0.5);
  service.retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 10 * 0.9 + 2 * 0.6);
}

TEST(Evaluate, WhatStandsOutsideAddsUp) {
  Problem problem = quarters_problem(1, 2);
  problem.tail_seconds = 1;
  problem.services[0].loads = {20, 20, 20};
  problem.services[0].outside = {3, 4, 30};
  stand(problem, {serve(0, 0)});
  EXPECT_THAT(served_of(problem, changes({})), ::testing::ElementsAre(13, 14, 20));
}

// ---- retraining

/// A stale service with a retraining piece on the half (4 slots) from the beginning and a quarter that serves.
Problem retraining_problem(int slots) {
  Problem problem = quarters_problem(1, slots);
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  stand(problem, {serve(0, 0), retrain(5, 0)});
  return problem;
}

TEST(Evaluate, FreshAfterTheSwap) {
  Problem problem = retraining_problem(8);
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssfffff");
  problem.services[0].retraining->swap_slots = 2;
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssssfff");
  problem.services[0].retraining->progress = 0.5;
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssfffff");
}

TEST(Evaluate, ProgressIsKeptWhenThePieceMoves) {
  Problem problem = retraining_problem(10);
  // Three slots on the half, one slot of change, then the quarter: 3/4 + 2/8.
  const Schedule moved = changes({{3, {serve(0, 0), retrain(1, 0)}}});
  EXPECT_EQ(freshness_of(problem, moved), "ssssssfffff");
}

TEST(Evaluate, DueAgain) {
  Problem problem = retraining_problem(10);
  RetrainingTerms& terms = *problem.services[0].retraining;
  terms.due_slots = {SlotIndex(6)};
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssffssssf") << "it starts again at 0";
  terms.keeps_unfinished = true;
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssffssssf") << "a finished one starts again at 0, too";
  terms.due_slots = {SlotIndex(3)};
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssfffffff") << "three quarters are kept";
  terms.keeps_unfinished = false;
  EXPECT_EQ(freshness_of(problem, changes({})), "sssssssffff");
}

TEST(Evaluate, DueAtTheVeryMoment) {
  Problem problem = retraining_problem(9);
  RetrainingTerms& terms = *problem.services[0].retraining;
  terms.due_slots = {SlotIndex(4)};
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssssssff") << "lost";
  terms.keeps_unfinished = true;
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssffffff") << "it serves the newest due time";
  terms.swap_slots = 1;
  EXPECT_EQ(freshness_of(problem, changes({})), "sssssfffff");
}

TEST(Evaluate, DueVoidsASwap) {
  Problem problem = retraining_problem(9);
  RetrainingTerms& terms = *problem.services[0].retraining;
  terms.swap_slots = 2;
  terms.due_slots = {SlotIndex(5)};
  terms.keeps_unfinished = true;
  EXPECT_EQ(freshness_of(problem, changes({})), "sssssssssf") << "done at 4, due at 5, done at 9: the tail";
  terms.due_slots = {SlotIndex(6)};
  terms.swap_slots = 1;
  EXPECT_EQ(freshness_of(problem, changes({})), "sssssfssss") << "fresh at 5, due at 6, done at 10";
}

TEST(Evaluate, ASwapUnderWayAtSlotZero) {
  Problem problem = retraining_problem(6);
  RetrainingTerms& terms = *problem.services[0].retraining;
  terms.fresh_in = 2;
  EXPECT_EQ(freshness_of(problem, changes({})), "ssfffff");
  terms.due_slots = {SlotIndex(1)};
  EXPECT_EQ(freshness_of(problem, changes({})), "sssssff") << "four slots from slot 1";
  terms.due_slots = {SlotIndex(2)};
  EXPECT_EQ(freshness_of(problem, changes({})), "ssssssf");
}

TEST(Evaluate, FreshUntilDue) {
  Problem problem = retraining_problem(4);
  problem.services[0].retraining->is_stale = false;
  problem.services[0].retraining->due_slots = {SlotIndex(1)};
  EXPECT_EQ(freshness_of(problem, changes({})), "fssss") << "what stood before it was due gave nothing";
}

TEST(Evaluate, TheTailOfARetraining) {
  Problem problem = retraining_problem(4);
  problem.tail_seconds = 100;
  RetrainingTerms& terms = *problem.services[0].retraining;
  terms.tail_fresh_seconds = 60;
  terms.progress_value = 1000;
  terms.swap_slots = 3;
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 4 * 5 + 60 * 10 + 40 * 5) << "done, the swap pending";
  terms.tail_fresh_seconds = 300;
  terms.fresh_value = 7;
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 4 * 5 + 100 * 10 + 7) << "fresh beyond the tail";
  problem.slots = 3;
  EXPECT_DOUBLE_EQ(objective_of(problem, changes({})), 3 * 5 + 100 * 5 + 750);
}

TEST(Evaluate, OutsideProgress) {
  Problem problem = retraining_problem(5);
  problem.services[0].outside_progress = {0.5, 0, 0, 0, 0};
  EXPECT_EQ(freshness_of(problem, changes({})), "ssffff");
  problem.services[0].retraining->is_stale = false;
  problem.services[0].retraining->due_slots = {SlotIndex(1)};
  EXPECT_EQ(freshness_of(problem, changes({})), "fssssf");
}

// ---- faults of a change

TEST(FindFault, TimesOfChanges) {
  Problem problem = quarters_problem(1, 6);
  stand(problem, {serve(0, 0)}, 2);
  const Configuration none;
  const Configuration two = {serve(0, 0), serve(1, 0)};
  EXPECT_EQ(fault_of(problem, changes({})), "none");
  EXPECT_EQ(fault_of(problem, {}), "wanted changes of 1 GPUs, found 0");
  EXPECT_EQ(fault_of(problem, changes({{1, two}})), "gpu-0, slot 1: the piece on site 0 is not ready before slot 2");
  EXPECT_EQ(fault_of(problem, changes({{2, two}})), "none");
  EXPECT_THAT(fault_of(problem, changes({{2, two}, {4, none}})), HasSubstr("site 1 is not ready before slot 5"));
  EXPECT_EQ(fault_of(problem, changes({{2, two}, {5, none}})), "none");
  EXPECT_THAT(fault_of(problem, changes({{2, none}, {2, two}})), HasSubstr("order of time"));
  EXPECT_EQ(fault_of(problem, changes({{2, none}, {3, two}})), "none");
  EXPECT_THAT(fault_of(problem, changes({{6, none}})), HasSubstr("not a slot"));
  EXPECT_THAT(fault_of(problem, changes({{-1, none}})), HasSubstr("not a slot"));
  EXPECT_THAT(fault_of(problem, changes({{3, {serve(0, 0)}}})), HasSubstr("nothing changes"));
  problem.is_frozen = {0, 0, 1, 0, 0, 0};
  EXPECT_THAT(fault_of(problem, changes({{2, none}})), HasSubstr("frozen"));
  EXPECT_EQ(fault_of(problem, changes({{3, none}})), "none");
  problem.gpus[0].free_from = SlotIndex(4);
  EXPECT_THAT(fault_of(problem, changes({{3, none}})), HasSubstr("before slot 4"));
  EXPECT_EQ(fault_of(problem, changes({{4, none}})), "none");
}

TEST(FindFault, PiecesThatCannotBe) {
  Problem problem = quarters_problem(1, 4);
  problem.models[0].rates[1][0] = {.requests_per_second = {0}, .retraining_slots = 0};
  stand(problem, {unowned(0)});
  const auto fault = [&](const Configuration& to) { return fault_of(problem, changes({{0, to}})); };
  EXPECT_EQ(fault({unowned(0), serve(1, 0)}), "none");
  EXPECT_EQ(fault({serve(0, 0)}), "none");
  EXPECT_THAT(fault({unowned(1)}), HasSubstr("begins without an owner"));
  EXPECT_THAT(fault({serve(0, 0), unowned(1)}), HasSubstr("begins without an owner"));
  EXPECT_THAT(fault({serve(4, 0)}), HasSubstr("cannot serve"));
  EXPECT_THAT(fault({retrain(4, 0)}), HasSubstr("cannot retrain"));
  EXPECT_THAT(fault({retrain(0, 0)}), HasSubstr("cannot retrain")) << "no retraining";
  EXPECT_THAT(fault({serve(0, 1)}), HasSubstr("no service"));
  EXPECT_THAT(fault({serve(0, 0, 1)}), HasSubstr("no variant"));
  EXPECT_THAT(fault({serve(7, 0)}), HasSubstr("no site"));
  EXPECT_THAT(fault({serve(0, 0), serve(4, 0)}), HasSubstr("sites 0 and 4 clash"));
  EXPECT_THAT(fault({serve(1, 0), serve(0, 0)}), HasSubstr("order of their sites"));
  EXPECT_THAT(fault({serve(1, 0), serve(1, 0)}), HasSubstr("order of their sites"));
  problem.services[0].retraining = RetrainingTerms{};
  EXPECT_THAT(fault({retrain(0, 0)}), HasSubstr("never stale"));
  problem.services[0].retraining->due_slots = {SlotIndex(3)};
  EXPECT_EQ(fault({retrain(0, 0)}), "none");
  EXPECT_THAT(fault({retrain(0, 0), retrain(1, 0)}), HasSubstr("2 retraining pieces"));
}

TEST(FindFault, RetrainingElsewhere) {
  Problem problem = quarters_problem(1, 4);
  problem.services[0].retraining = RetrainingTerms{};
  problem.services[0].retrains_elsewhere = true;
  stand(problem, {retrain(0, 0)});
  EXPECT_EQ(fault_of(problem, changes({})), "none");
  EXPECT_EQ(fault_of(problem, changes({{0, {serve(0, 0)}}})), "none");
  EXPECT_THAT(fault_of(problem, changes({{0, {retrain(0, 0), serve(1, 0)}}})), HasSubstr("retrains elsewhere"));
}

TEST(FindFault, RetrainingOnTwoGpus) {
  Problem problem = quarters_problem(1, 4);
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  stand(problem, {retrain(0, 0)});
  problem.gpus.emplace_back();
  const Change away{.slot = SlotIndex(1), .to = {}};
  EXPECT_THAT(fault_of(problem, {.gpus = {{}, {{SlotIndex(1), {retrain(0, 0)}}}}}),
              HasSubstr("slot 1: service 0 has 2"));
  EXPECT_THAT(fault_of(problem, {.gpus = {{away}, {{SlotIndex(0), {retrain(0, 0)}}}}}),
              HasSubstr("slot 0: service 0 has 2"));
  EXPECT_EQ(fault_of(problem, {.gpus = {{away}, {{SlotIndex(1), {retrain(0, 0)}}}}}), "none");
}

// ---- rules

TEST(FindFault, Floors) {
  Problem problem = quarters_problem(2, 5);
  stand(problem, {serve(0, 0)});
  problem.services[0].floor_rate = 20;
  EXPECT_THAT(fault_of(problem, changes({})), HasSubstr("slot 0: service 0 has 10 of its floor of 20"));
  EXPECT_EQ(fault_of(problem, changes({{0, {serve(4, 0)}}})), "none") << "from the change on, ready or not";
  problem.services[0].outside_floor_rate = 10;
  EXPECT_EQ(fault_of(problem, changes({})), "none");
  problem.services[0].outside_floor_rate = 9.99;
  problem.floors_from = SlotIndex(2);
  EXPECT_EQ(fault_of(problem, changes({{2, {serve(4, 0)}}})), "none");
  EXPECT_THAT(fault_of(problem, changes({{3, {serve(4, 0)}}})), HasSubstr("slot 2"));
  EXPECT_THAT(fault_of(problem, changes({{1, {serve(4, 0)}}, {4, {serve(4, 1)}}})), HasSubstr("slot 4"));
  problem.floors_from = SlotIndex(5);
  EXPECT_EQ(fault_of(problem, changes({})), "none");
}

TEST(FindFault, ARetrainingPieceIsNoFloor) {
  Problem problem = quarters_problem(1, 2);
  problem.services[0].retraining = RetrainingTerms{};
  problem.services[0].floor_rate = 10;
  stand(problem, {retrain(0, 0)});
  EXPECT_THAT(fault_of(problem, changes({})), HasSubstr("has 0 of its floor"));
}

TEST(FindFault, Pins) {
  Problem problem = quarters_problem(2, 9);
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  problem.gpus[0].pins = {{.site = SiteIndex(0), .service = ServiceIndex(0)}};
  stand(problem, {serve(4, 0)});
  EXPECT_EQ(fault_of(problem, changes({})), "none") << "what stands is no fault before a change";
  EXPECT_THAT(fault_of(problem, changes({{0, {serve(2, 1), serve(4, 0)}}})), HasSubstr("pinned to service 0"));
  EXPECT_THAT(fault_of(problem, changes({{0, {serve(0, 1)}}})), HasSubstr("pinned"));
  EXPECT_EQ(fault_of(problem, changes({{0, {serve(0, 0)}}, {4, {retrain(0, 0)}}})), "none") << "in whatever use";
  EXPECT_THAT(fault_of(problem, changes({{0, {serve(0, 0)}}, {4, {}}})), HasSubstr("pinned"));
}

TEST(FindFault, IsolationAndTrust) {
  Problem problem = quarters_problem(3, 9);
  problem.services[0].is_alone_on_gpu = true;
  problem.services[2].trust_domain = 1;
  const auto fault = [&](const Configuration& to) { return fault_of(problem, changes({{0, to}})); };
  EXPECT_EQ(fault({serve(0, 0), serve(1, 0)}), "none");
  EXPECT_THAT(fault({serve(0, 0), serve(1, 1)}), HasSubstr("service 0 is not alone"));
  EXPECT_THAT(fault({serve(0, 1), serve(1, 2)}), HasSubstr("two trust domains"));
  stand(problem, {unowned(0), serve(1, 1), serve(2, 2)});
  EXPECT_EQ(fault_of(problem, changes({})), "none");
  EXPECT_THAT(fault({serve(1, 1), serve(2, 2)}), HasSubstr("two trust domains")) << "though both go on";
  EXPECT_EQ(fault({unowned(0), serve(1, 0)}), "none");
  problem.services[1].trust_domain = 1;
  EXPECT_EQ(fault({unowned(0), serve(1, 1), serve(2, 2), serve(3, 2)}), "none");
}

TEST(FindFault, Budgets) {
  Problem problem = quarters_problem(2, 30);
  stand(problem, {serve(0, 0), serve(1, 1)});
  problem.services[0].changes_max = 2;
  const At swap{.slot = 0, .to = {serve(0, 1), serve(1, 0)}};
  EXPECT_EQ(fault_of(problem, changes({swap})), "none") << "slices are neither created nor destroyed";
  const At moves{.slot = 10, .to = {serve(0, 1), serve(2, 0)}};
  EXPECT_EQ(fault_of(problem, changes({swap, moves})), "none") << "one destroyed, one created";
  const At back{.slot = 20, .to = {serve(0, 1), serve(1, 1), serve(2, 0)}};
  EXPECT_EQ(fault_of(problem, changes({swap, moves, back})), "none") << "that one is of service 1";
  const At third{.slot = 20, .to = {serve(0, 1), serve(2, 0), serve(3, 0)}};
  EXPECT_THAT(fault_of(problem, changes({swap, moves, third})), HasSubstr("service 0 has 3 slices"));
  problem.services[0].changes_max = 0;
  EXPECT_EQ(fault_of(problem, changes({swap})), "none");
  EXPECT_THAT(fault_of(problem, changes({moves})), HasSubstr("service 0 has 1 slices")) << "created; 1 was another's";
}

}  // namespace
}  // namespace berth::planner
