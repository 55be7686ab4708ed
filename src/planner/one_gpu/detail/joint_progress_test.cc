#include "planner/one_gpu/detail/joint_progress.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/one_gpu/testing/continuations.h"

namespace berth::planner {
namespace {

using testing::kStatesMax;

constexpr int kJointProgressSeeds = berth::testing::by_build(200, 30);

struct Progress {
  explicit Progress(const Problem& problem)
      : gpu_case(problem),
        phases(problem),
        states(gpu_case, Variants::kKept, kStatesMax),
        prices(gpu_case, OneGpuSearch(gpu_case).starts(), 2, 1),
        progress(gpu_case, states, phases) {
    progress.start(&prices);
  }
  GpuCase gpu_case;
  JointPhases phases;
  JointStates states;
  PriceBound prices;
  JointProgress progress;

  /// The price of progress 1 that a model makes in a phase.
  [[nodiscard]] double price(PhasesIndex of, ServiceIndex service, SlotIndex t) const {
    const PhaseIndex phase = phases.of(of, service);
    if (phase == kFresh) return 0;
    return phase == kStuck ? prices.service(service).stuck_price(t) : prices.service(service).price_of_progress(t);
  }
};

/// The states of all models in each slot from first_slot on, of a schedule drawn step by step.
std::vector<std::vector<ModelState>> drawn_states(const GpuCase& gpu_case, Labels& labels,
                                                  const testing::Continuations& continuations, Rng& rng) {
  std::vector<std::vector<ModelState>> by_slot;
  Label now = labels.root();
  for (SlotIndex t = gpu_case.first_slot; t <= gpu_case.end(); ++t) {
    by_slot.emplace_back();
    for (const ServiceIndex service : indices_of<ServiceIndex>(gpu_case.bundles)) {
      by_slot.back().push_back(labels.state_of(now, service));
    }
    if (t == gpu_case.end()) break;
    const ArrangementIndex to = continuations.all()[rng.below(continuations.all().size())];
    const bool changes = gpu_case.can_change(t) && t >= now.ready && continuations.may_follow(now, t, to);
    // A change is applied slot by slot here: pieces that are not ready yet do not retrain.
    std::optional<Label> child = changes && rng.below(3) == 0 ? labels.change(now, to, t) : std::nullopt;
    if (child && child->ready == t) now = *child;
    if (child && child->ready > t) {
      for (; t + 1 < child->ready; ++t) by_slot.emplace_back();  // unknown in the slots between
      now = *child;
      continue;
    }
    now = labels.stay(now, t, t + 1);
  }
  return by_slot;
}

/// The phase of a model in a slot, in hindsight: in training if it is completed before its progress is lost.
PhaseIndex phase_of(const RetrainingTerms& terms, const std::vector<std::vector<ModelState>>& states, std::size_t at,
                    SlotIndex first, ServiceIndex service) {
  if (!states[at][service].is_open()) return kFresh;
  for (std::size_t next = at + 1; next < states.size(); ++next) {
    const SlotIndex t = first + next;
    if (!terms.keeps_unfinished && std::ranges::count(terms.due_slots, t) > 0) return kStuck;
    if (states[next].empty()) continue;
    if (!states[next][service].is_open()) return kTraining;
  }
  return kStuck;
}

/// In every schedule the models have reachable phases, with which the states so far have a worth.
TEST(JointProgress, ReachesThePhasesOfEverySchedule) {
  int training = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointProgressSeeds)) {
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const Progress of(problem);
    if (of.phases.is_always_fresh()) continue;
    Arrangements arrangements(of.gpu_case);
    Labels labels(of.gpu_case, arrangements);
    const testing::Continuations continuations(of.gpu_case, arrangements, labels, testing::RetrainsInVain::kYes);
    Rng rng(seed);
    for (int i = 0; i < 20; ++i) {
      const std::vector<std::vector<ModelState>> states = drawn_states(of.gpu_case, labels, continuations, rng);
      for (std::size_t at = 0; at < states.size(); ++at) {
        if (states[at].empty()) continue;
        const SlotIndex t = of.gpu_case.first_slot + at;
        SCOPED_TRACE(fmt::format("one_gpu_of_tiny({}), slot {}", seed, t));
        PhasesIndex phases(0);
        for (const ServiceIndex service : of.phases.services()) {
          const RetrainingTerms& terms = *problem.services[service].retraining;
          const PhaseIndex phase = phase_of(terms, states, at, of.gpu_case.first_slot, service);
          phases = of.phases.with(phases, service, phase);
          if (phase == kTraining) ++training;
        }
        ASSERT_TRUE(of.progress.is_reachable(t, phases));
        double wanted = 5;
        for (const ServiceIndex service : of.phases.services()) {
          wanted += of.price(phases, service, t) * states[at][service].progress;
        }
        ASSERT_NEAR(of.progress.added_to(5, states[at], t, phases), wanted, 1e-9 * (1 + std::abs(wanted)));
      }
    }
  }
  EXPECT_GT(training, 0);
}

/// The best rewards of services from number `next` on if they retrain on at most one slice each, next to a room.
double best_reward(const Progress& of, PhasesIndex phases, SlotIndex t, const std::vector<KindIndex>& kinds,
                   RoomIndex room) {
  const std::vector<ServiceIndex>& services = of.phases.services();
  if (kinds.size() == services.size()) {
    double reward = 0;
    for (std::size_t i = 0; i < services.size(); ++i) {
      if (kinds[i] != kNoKind) room = room == kNoRoom ? kNoRoom : of.gpu_case.rooms.add(room, kinds[i]);
      double rate = of.gpu_case.outside_progress(services[i], t);
      if (kinds[i] != kNoKind) rate += of.gpu_case.progress_rate(services[i], kinds[i]);
      reward += of.price(phases, services[i], t) * rate;
    }
    return room == kNoRoom ? kWorthless : reward;
  }
  double best = kWorthless;
  for (KindIndex kind = kNoKind; kind < of.gpu_case.rooms.kinds(); ++kind) {
    std::vector<KindIndex> more = kinds;
    more.push_back(kind);
    best = std::max(best, best_reward(of, phases, t, more, room));
  }
  return best;
}

TEST(JointProgress, PaysForTheBestPiecesThatFitBesideARoom) {
  int paid = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointProgressSeeds / 2)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    const Problem problem = testing::one_gpu_of_tiny(seed);
    const Progress of(problem);
    if (of.phases.is_always_fresh()) continue;
    for (const SlotIndex t : {of.gpu_case.first_slot, of.gpu_case.end() - 1}) {
      if (t >= of.gpu_case.end()) continue;
      for (const PhasesIndex phases : Indices<PhasesIndex>(of.phases.count())) {
        const std::vector<double> rewards = of.progress.rewards_of_rooms(t, phases);
        ASSERT_EQ(rewards.size(), ix(of.gpu_case.rooms.count()));
        for (const RoomIndex room : indices_of<RoomIndex>(rewards)) {
          const double wanted = best_reward(of, phases, t, {}, room);
          ASSERT_NEAR(rewards[room], wanted, 1e-9 * (1 + std::abs(wanted)));
          if (wanted > 0) ++paid;
        }
      }
    }
  }
  EXPECT_GT(paid, 0);
}

/// Service 0 is stale, and due again in slot 6; 1 never retrains. A whole GPU retrains in 2 slots.
Problem due_problem_of_two(bool keeps_unfinished) {
  Problem problem = testing::quarters_problem(2, 12);
  problem.services[0].variants = {{.accuracy_before = 0.5, .accuracy_after = 1}};
  problem.services[0].retraining = RetrainingTerms{
      .is_stale = true, .due_slots = {SlotIndex(6)}, .keeps_unfinished = keeps_unfinished, .progress_value = 3};
  return problem;
}

PhasesIndex phases_in(const Progress& of, PhaseIndex phase) {
  return of.phases.with(PhasesIndex(0), ServiceIndex(0), phase);
}

TEST(JointProgress, ReachesAFreshModelAfterTheFastestRetraining) {
  const Problem problem = due_problem_of_two(false);
  const Progress of(problem);
  const auto is_reachable = [&](int t, PhaseIndex phase) {
    return of.progress.is_reachable(SlotIndex(t), phases_in(of, phase));
  };
  EXPECT_FALSE(is_reachable(0, kFresh));
  EXPECT_FALSE(is_reachable(1, kFresh));
  EXPECT_TRUE(is_reachable(2, kFresh));
  EXPECT_TRUE(is_reachable(0, kTraining));
  EXPECT_TRUE(is_reachable(5, kTraining));
  EXPECT_FALSE(is_reachable(6, kFresh)) << "due";
  EXPECT_TRUE(is_reachable(6, kStuck));
  EXPECT_FALSE(is_reachable(7, kFresh));
  EXPECT_TRUE(is_reachable(8, kFresh));
  EXPECT_TRUE(is_reachable(12, kStuck));
}

TEST(JointProgress, AddsWhatProgressIsWorthInThePhase) {
  const Problem problem = due_problem_of_two(false);
  const Progress of(problem);
  const std::vector<ModelState> open = {{.is_stale = true, .progress = 0.5}, {}};
  const std::vector<ModelState> fresh = {{}, {}};
  const double price = of.prices.service(ServiceIndex(0)).price_of_progress(SlotIndex(8));
  const auto added = [&](const std::vector<ModelState>& models, int t, PhaseIndex phase) {
    return of.progress.added_to(100, models, SlotIndex(t), phases_in(of, phase));
  };
  EXPECT_EQ(added(fresh, 8, kFresh), 100);
  EXPECT_EQ(added(fresh, 8, kStuck), kWorthless);
  EXPECT_EQ(added(fresh, 8, kTraining), kWorthless);
  EXPECT_EQ(added(open, 8, kFresh), kWorthless);
  EXPECT_DOUBLE_EQ(added(open, 8, kTraining), 100 + price / 2);
  EXPECT_DOUBLE_EQ(added(open, 8, kStuck), 100 + 3 / 2.0) << "unfinished at the end of the window";
  EXPECT_DOUBLE_EQ(added(open, 2, kStuck), 100) << "lost when the next is due";
  EXPECT_EQ(added({{.is_stale = true}, {}}, 11, kTraining), kWorthless) << "cannot be done any more";
}

/// The worth of each phase, for two states.
struct PhaseValues {
  explicit PhaseValues(const Progress& of) : progress(of), values(ix(of.phases.count()) * ix(of.states.count())) {}
  void set(PhaseIndex phase, double value) {
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(place(phase)), progress.states.count(), value);
  }
  /// The same for all states.
  [[nodiscard]] double of(PhaseIndex phase) const {
    for (int state = 1; state < progress.states.count(); ++state) {
      EXPECT_EQ(values[place(phase) + ix(state)], values[place(phase)]);
    }
    return values[place(phase)];
  }
  [[nodiscard]] std::size_t place(PhaseIndex phase) const {
    return ix(phases_in(progress, phase)) * ix(progress.states.count());
  }
  const Progress& progress;
  std::vector<double> values;
};

PhaseValues phase_values(const Progress& of) {
  PhaseValues values(of);
  values.set(kFresh, 9);
  values.set(kStuck, 5);
  values.set(kTraining, 7);
  return values;
}

TEST(JointProgress, EntersADueSlotStale) {
  const Problem lost_problem = due_problem_of_two(false);
  const Progress lost(lost_problem);
  PhaseValues values = phase_values(lost);
  lost.progress.enter(SlotIndex(5), values.values.data());
  EXPECT_EQ(values.of(kFresh), 9) << "nothing is due";
  lost.progress.enter(SlotIndex(6), values.values.data());
  EXPECT_EQ(values.of(kFresh), 7) << "the better of stuck and training";
  EXPECT_EQ(values.of(kStuck), 7) << "it begins anew";
  EXPECT_EQ(values.of(kTraining), kWorthless) << "it was to be done before";
  const Problem kept_problem = due_problem_of_two(true);
  const Progress kept(kept_problem);
  PhaseValues kept_values = phase_values(kept);
  kept.progress.enter(SlotIndex(6), kept_values.values.data());
  EXPECT_EQ(kept_values.of(kFresh), 7);
  EXPECT_EQ(kept_values.of(kStuck), 5);
  EXPECT_EQ(kept_values.of(kTraining), 7);
}

TEST(JointProgress, ChargesWhatWasPaidWhenARetrainingIsDone) {
  const Problem problem = due_problem_of_two(false);
  Progress of(problem);
  const double price = of.prices.service(ServiceIndex(0)).price_of_progress(SlotIndex(3));
  ASSERT_GT(price, 0);
  of.progress.set_scales({1 / price, 1});
  of.progress.start(&of.prices);
  PhaseValues values = phase_values(of);
  of.progress.get_done(SlotIndex(1), values.values.data());
  EXPECT_EQ(values.of(kTraining), 7) << "too soon";
  of.progress.get_done(SlotIndex(3), values.values.data());
  EXPECT_NEAR(values.of(kTraining), 9 - 1, 1e-6);
  EXPECT_EQ(values.of(kStuck), 5);
  values.set(kTraining, 8.5);
  of.progress.get_done(SlotIndex(3), values.values.data());
  EXPECT_EQ(values.of(kTraining), 8.5) << "not worth it";
}

TEST(JointProgress, ChargesModelsInTrainingAtTheEnd) {
  const Problem problem = due_problem_of_two(false);
  const Progress of(problem);
  const double price = of.prices.service(ServiceIndex(0)).price_of_progress(SlotIndex(12));
  EXPECT_EQ(of.progress.charge_at_end(phases_in(of, kFresh)), 0);
  EXPECT_EQ(of.progress.charge_at_end(phases_in(of, kStuck)), 0);
  EXPECT_NEAR(of.progress.charge_at_end(phases_in(of, kTraining)), price, 1e-6 * (1 + price));
  // Due in the last slot: it cannot be completed in the window.
  Problem late = due_problem_of_two(false);
  late.services[0].retraining->due_slots = {SlotIndex(11)};
  const Progress of_late(late);
  EXPECT_EQ(of_late.progress.charge_at_end(phases_in(of_late, kTraining)), std::numeric_limits<double>::infinity());
}

TEST(JointProgressDeathTest, RequiresPricesWhereAModelMayBeStale) {
  const Problem problem = due_problem_of_two(false);
  Progress of(problem);
  EXPECT_DEATH(of.progress.start(nullptr), "prices");
  const Problem fresh_problem = testing::quarters_problem(1, 4);
  Progress fresh(fresh_problem);
  fresh.progress.start(nullptr);
  EXPECT_TRUE(fresh.progress.is_reachable(SlotIndex(0), PhasesIndex(0)));
}

}  // namespace
}  // namespace berth::planner
