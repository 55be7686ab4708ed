#include "planner/one_gpu/detail/joint_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using testing::kStatesMax;

constexpr int kJointChangesSeeds = berth::testing::by_build(150, 15);

/// The GPU is empty, so that services can be left out.
Problem one_empty_gpu_of_tiny(std::uint64_t seed, std::size_t services_max = 3) {
  Problem problem = testing::tiny_problem(Rng(seed));
  problem.gpus.resize(1);
  problem.gpus.front().standing.clear();
  problem.gpus.front().pins.clear();
  problem.services.resize(std::min(problem.services.size(), services_max));
  return problem;
}

/// Costs of a piece by its service and kind, so that the cost of a change does not depend on the order of its pieces.
struct PieceCosts {
  std::vector<std::vector<double>> given;    ///< [service][kind]
  std::vector<std::vector<double>> created;  ///< the price included
  std::vector<std::vector<double>> dropped;
  double price = 0;

  [[nodiscard]] JointChanges::Costs of_additions(const JointStates& states) const {
    JointChanges::Costs costs{.given = {}, .created = {}, .dropped = {}, .price = price};
    for (const JointStates::Addition& addition : states.additions()) {
      costs.given.push_back(given[addition.service][addition.kind]);
      costs.created.push_back(created[addition.service][addition.kind]);
      costs.dropped.push_back(dropped[addition.service][addition.kind]);
    }
    return costs;
  }
};

/// A created piece costs more than one that is handed over, and a dropped one still contributes less than a new one
/// loses: nothing is gained by dropping a piece and adding it again.
PieceCosts drawn_costs(const GpuCase& gpu_case, bool dropped_contribute, Rng& rng) {
  PieceCosts costs;
  costs.price = rng.below(2) == 0 ? 0 : 5 * rng.unit();
  for (std::size_t service = 0; service < gpu_case.bundles.size(); ++service) {
    costs.given.emplace_back();
    costs.created.emplace_back();
    costs.dropped.emplace_back();
    for (int kind = 0; kind < gpu_case.rooms.kinds(); ++kind) {
      const double given = -10 * rng.unit();
      costs.given.back().push_back(given);
      costs.created.back().push_back(given - 10 * rng.unit() - costs.price);
      costs.dropped.back().push_back(dropped_contribute ? -given * rng.unit() : 0);
    }
  }
  return costs;
}

std::vector<double> drawn_state_values(const JointStates& states, Rng& rng) {
  std::vector<double> values(ix(states.count()));
  for (double& value : values) value = rng.below(10) == 0 ? kWorthless : 100 * rng.unit();
  return values;
}

/// Pieces that a change between two states adds and drops.
struct Difference {
  struct Count {
    ServiceIndex service = ServiceIndex(0);
    KindIndex kind = KindIndex(0);
    int more = 0;  ///< negative: dropped
  };
  std::vector<Count> items;
};

Difference difference(const GpuCase& gpu_case, const JointStates& states, StateIndex from, StateIndex to) {
  Difference found;
  for (const ServiceIndex service : indices_of<ServiceIndex>(gpu_case.bundles)) {
    const Bundles& bundles = gpu_case.bundles[service];
    const BundleIndex old = states.bundles_of(from, service).front();
    const BundleIndex now = states.bundles_of(to, service).front();
    for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
      const int more = bundles.count_of(now, item) - bundles.count_of(old, item);
      if (more != 0) found.items.push_back({.service = service, .kind = bundles.items[item].kind, .more = more});
    }
  }
  return found;
}

/// Costs of a change in which nothing is handed over, or of one in which everything is.
double cost_if_created(const PieceCosts& costs, const Difference& of) {
  double cost = 0;
  for (const auto& [service, kind, more] : of.items) {
    cost += more > 0 ? more * costs.created[service][kind] : -more * (costs.dropped[service][kind] - costs.price);
  }
  return cost;
}

double cost_if_given(const PieceCosts& costs, const Difference& of, bool counts_dropped) {
  double cost = 0;
  for (const auto& [service, kind, more] : of.items) {
    if (more > 0) cost += more * costs.given[service][kind];
    if (more < 0 && counts_dropped) cost += -more * costs.dropped[service][kind];
  }
  return cost;
}

/// The least cost of a change: of each kind, as many added pieces as possible take the place of dropped ones, those
/// that gain most first.
double cost_with_handovers(const PieceCosts& costs, const Difference& of, int kinds) {
  double cost = cost_if_created(costs, of);
  for (const KindIndex kind : Indices<KindIndex>(kinds)) {
    std::vector<double> gains;
    int dropped = 0;
    for (const auto& [service, of_kind, more] : of.items) {
      if (of_kind != kind) continue;
      if (more < 0) dropped -= more;
      const double gain = costs.given[service][kind] - costs.created[service][kind] + costs.price;
      for (int i = 0; i < more; ++i) gains.push_back(gain);
    }
    std::ranges::sort(gains, std::greater<>());
    for (std::size_t i = 0; i < gains.size() && i < ix(dropped); ++i) cost += gains[i];
  }
  return cost;
}

struct ChangesCase {
  explicit ChangesCase(const Problem& problem)
      : gpu_case(problem), states(gpu_case, Variants::kKept, kStatesMax), changes(gpu_case, states, {}) {}
  GpuCase gpu_case;
  JointStates states;
  JointChanges changes;
};

TEST(JointChanges, AreExactForOneServiceThatHandsNothingOver) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointChangesSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_empty_gpu_of_tiny(seed, 1);
    if (problem.services.front().variants.size() > 1) continue;
    ChangesCase of(problem);
    Rng rng(seed);
    const PieceCosts costs = drawn_costs(of.gpu_case, seed % 2 == 0, rng);
    const std::vector<double> values = drawn_state_values(of.states, rng);
    std::vector<double> now = values;
    of.changes.make(costs.of_additions(of.states), {}, {}, now.data());
    for (const StateIndex from : Indices<StateIndex>(of.states.count())) {
      double best = values[from];
      for (const StateIndex to : Indices<StateIndex>(of.states.count())) {
        best = std::max(best, values[to] + cost_if_created(costs, difference(of.gpu_case, of.states, from, to)));
      }
      if (best == kWorthless) {
        ASSERT_EQ(now[from], kWorthless);
      } else {
        ASSERT_NEAR(now[from], best, 1e-9);
      }
    }
  }
}

/// With any hand-overs the worth of each change counts, and no change is worth more than if all of it were handed over.
TEST(JointChanges, HoldForEveryChangeAndHandover) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointChangesSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_empty_gpu_of_tiny(seed);
    ChangesCase of(problem);
    Rng rng(seed);
    const PieceCosts costs = drawn_costs(of.gpu_case, seed % 2 == 0, rng);
    const JointChanges::Costs of_additions = costs.of_additions(of.states);
    const std::vector<double> values = drawn_state_values(of.states, rng);
    std::vector<double> now = values;
    of.changes.make(of_additions, {}, {}, now.data());
    std::vector<double> spare = now;
    of.changes.take_spare(spare.data());
    for (const StateIndex from : Indices<StateIndex>(of.states.count())) {
      double most = values[from];
      for (const StateIndex to : Indices<StateIndex>(of.states.count())) {
        if (to == from) continue;
        const Difference by = difference(of.gpu_case, of.states, from, to);
        const double if_given = values[to] + cost_if_given(costs, by, true);
        // Isolation is not checked for states reached by dropping pieces only, which makes the bound larger.
        const bool only_drops = std::ranges::all_of(by.items, [](const auto& each) { return each.more < 0; });
        if (of.states.may_begin(to) || only_drops) most = std::max(most, if_given);
        if (!of.states.may_begin(to)) continue;
        const double worth = values[to] + cost_with_handovers(costs, by, of.gpu_case.rooms.kinds());
        ASSERT_GE(now[from], worth - 1e-9) << from << " to " << to;
        // Spare slices are tested only where dropped pieces contribute nothing.
        if (seed % 2 == 1) {
          ASSERT_GE(spare[from], if_given - 1e-9) << from << " to " << to;
        }
      }
      ASSERT_GE(now[from], values[from]);
      ASSERT_GE(spare[from], now[from]);
      ASSERT_LE(now[from], most + 1e-9);
    }
  }
}

/// Pieces that are ready within a block may be added, and the resulting state may change again.
TEST(JointChanges, AllowSeveralQuickOnesInABlock) {
  int quick_cases = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointChangesSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_empty_gpu_of_tiny(seed);
    ChangesCase of(problem);
    // Where some pieces need no time at all, one change is enough.
    if (std::ranges::count(of.gpu_case.start_slots, 0) > 0) continue;
    Rng rng(seed);
    const PieceCosts costs = drawn_costs(of.gpu_case, seed % 2 == 0, rng);
    const JointChanges::Costs of_additions = costs.of_additions(of.states);
    const std::vector<double> values = drawn_state_values(of.states, rng);
    std::vector<double> once = values;
    of.changes.make(of_additions, {}, {}, once.data());
    constexpr int kBlockSlots = 4;
    std::vector<double> often = values;
    of.changes.allow_in_blocks(kBlockSlots);
    of.changes.make(of_additions, {}, {}, often.data());
    for (const StateIndex from : Indices<StateIndex>(of.states.count())) {
      ASSERT_GE(often[from], once[from]);
      for (const StateIndex to : Indices<StateIndex>(of.states.count())) {
        const Difference by = difference(of.gpu_case, of.states, from, to);
        const bool is_quick = std::ranges::all_of(by.items, [&](const auto& each) {
          const int start = of.gpu_case.start_slots[each.service];
          return each.more < 0 || start < kBlockSlots;
        });
        const bool adds = std::ranges::any_of(by.items, [](const auto& each) { return each.more > 0; });
        if (!is_quick || !adds || !of.states.may_begin(to)) continue;
        ++quick_cases;
        ASSERT_GE(often[from], once[to] + cost_if_given(costs, by, true) - 1e-9) << from << " to " << to;
      }
    }
  }
  EXPECT_GT(quick_cases, 0);
}

/// Every configuration of serving pieces, with its state.
struct Placed {
  Configuration pieces;
  StateIndex state = StateIndex(0);
};

class JointPlacings {
 public:
  JointPlacings(const GpuCase& gpu_case, const JointStates& states)
      : case_(gpu_case), states_(states), bundles_(gpu_case.bundles.size()) {
    add(SiteIndex(0), 0);
  }
  [[nodiscard]] const std::vector<Placed>& all() const { return all_; }

 private:
  void add(SiteIndex site, std::uint64_t taken) {
    if (ix(site) == case_.model.sites.size()) {
      all_.push_back({.pieces = pieces_, .state = states_.state_of(bundles_)});
      return;
    }
    add(site + 1, taken);
    if ((taken >> site & 1) != 0) return;
    const KindIndex kind = case_.model.sites[site].kind;
    for (const ServiceIndex service : indices_of<ServiceIndex>(bundles_)) {
      const std::vector<double>& rates = case_.model.rates[kind][service].requests_per_second;
      for (int use = 0; ix(use) < rates.size(); ++use) {
        if (rates[use] <= 0) continue;
        const Bundles& bundles = case_.bundles[service];
        const BundleIndex before = bundles_[service];
        bundles_[service] = bundles.plus(before, bundles.item(kind, use));
        pieces_.push_back({.site = site, .service = service, .use = use});
        add(site + 1, taken | case_.model.sites[site].clashes);
        pieces_.pop_back();
        bundles_[service] = before;
      }
    }
  }

  const GpuCase& case_;
  const JointStates& states_;
  std::vector<BundleIndex> bundles_;
  Configuration pieces_;
  std::vector<Placed> all_;
};

/// The contribution that new pieces lose until they are ready, by the checker's delays, plus the price of the sites
/// that are occupied only before or only after. `slot_worth` [service][kind], of a slot of one piece.
double cost_of_change(const GpuCase& gpu_case, const std::vector<std::vector<double>>& slot_worth,
                      const Configuration& from, const Configuration& to) {
  double cost = 0;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (const Piece& piece : from) before |= std::uint64_t{1} << piece.site;
  for (const Piece& piece : to) {
    after |= std::uint64_t{1} << piece.site;
    if (std::ranges::find(from, piece) != from.end()) continue;
    const int delay = slots_until_ready(gpu_case.problem, gpu_case.model, from, piece);
    cost += delay * slot_worth[piece.service][gpu_case.model.sites[piece.site].kind];
  }
  return cost + gpu_case.problem.change_price * std::popcount(before ^ after);
}

/// With costs by the delays of docs/explanation/planner.md, no change between two placements is worth more than the
/// bound for its states.
TEST(JointChanges, HoldForTheDelaysOfPlacedPieces) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointChangesSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_empty_gpu_of_tiny(seed, 2);
    problem.change_price = seed % 2 == 0 ? 0 : 10;
    problem.create_seconds = static_cast<double>(seed % 6) / 2;
    ChangesCase of(problem);
    Rng rng(seed);
    PieceCosts costs;
    costs.price = problem.change_price;
    std::vector<std::vector<double>> slot_worth;
    for (const ServiceTerms& service : problem.services) {
      const double start = problem.plumbing_seconds + service.start_seconds;
      const int given = slots_of_seconds(start);
      slot_worth.emplace_back();
      costs.given.emplace_back();
      costs.created.emplace_back();
      costs.dropped.emplace_back(of.gpu_case.model.rates.size());
      for (const KindIndex kind : Indices<KindIndex>(of.gpu_case.rooms.kinds())) {
        const int created = slots_of_seconds(start + create_seconds_of(problem, of.gpu_case.model, kind));
        const double worth = 10 * rng.unit();
        slot_worth.back().push_back(worth);
        costs.given.back().push_back(-given * worth);
        costs.created.back().push_back(-created * worth - costs.price);
      }
    }
    const std::vector<double> values = drawn_state_values(of.states, rng);
    std::vector<double> now = values;
    of.changes.make(costs.of_additions(of.states), {}, {}, now.data());
    const JointPlacings placings(of.gpu_case, of.states);
    for (const Placed& from : placings.all()) {
      for (const Placed& to : placings.all()) {
        if (!of.states.may_begin(to.state)) continue;
        const double worth = values[to.state] - cost_of_change(of.gpu_case, slot_worth, from.pieces, to.pieces);
        ASSERT_GE(now[from.state], worth - 1e-9);
      }
    }
  }
}

TEST(JointChanges, TakeOneOverAndCreateTheRest) {
  // From a quarter of service 0 to quarters of both: the new one is created. From two of service 0: it is handed over.
  const Problem problem = testing::quarters_problem(2, 4);
  ChangesCase of(problem);
  PieceCosts costs;
  costs.price = 1;
  costs.given.assign(2, std::vector<double>(3, -2));
  costs.created.assign(2, std::vector<double>(3, -5));
  costs.dropped.assign(2, std::vector<double>(3, 0));
  const BundleIndex quarter = of.gpu_case.bundles[0].plus(kEmptyBundle, ItemIndex(0));
  const BundleIndex two = of.gpu_case.bundles[0].plus(quarter, ItemIndex(0));
  std::vector<double> values(ix(of.states.count()), kWorthless);
  values[ix(of.states.state_of({quarter, quarter}))] = 100;
  of.changes.make(costs.of_additions(of.states), {}, {}, values.data());
  EXPECT_DOUBLE_EQ(values[ix(of.states.state_of({quarter, quarter}))], 100);
  EXPECT_DOUBLE_EQ(values[ix(of.states.state_of({quarter, kEmptyBundle}))], 100 - 5);
  EXPECT_DOUBLE_EQ(values[ix(of.states.state_of({two, kEmptyBundle}))], 100 - 2);
  EXPECT_DOUBLE_EQ(values[ix(of.states.state_of({two, quarter}))], 100 - 1);
  EXPECT_DOUBLE_EQ(values[ix(of.states.state_of({kEmptyBundle, kEmptyBundle}))], 100 - 10);
}

/// A slice that does not serve is created in the previous slot, while a retraining holds the rest.
TEST(JointChanges, CreateWhileARetrainingGoesOn) {
  Problem problem = testing::quarters_problem(1, 4);
  problem.services[0].retraining = RetrainingTerms{.is_stale = true, .due_slots = {}};
  const GpuCase gpu_case(problem);
  const JointStates states(gpu_case, Variants::kKept, kStatesMax);
  JointChanges changes(gpu_case, states, {ServiceIndex(0)});
  PieceCosts costs;
  costs.given.assign(1, std::vector<double>(3, -2));
  costs.created.assign(1, std::vector<double>(3, -5));
  costs.dropped.assign(1, std::vector<double>(3, 0));
  // Progress next to an empty GPU is worth 8, next to a quarter 4.
  const BundleIndex quarter = gpu_case.bundles[0].plus(kEmptyBundle, ItemIndex(0));
  std::vector<double> rewards(ix(gpu_case.rooms.count()));
  rewards[0] = 8;
  rewards[ix(gpu_case.bundles[0].room[quarter])] = 4;
  std::vector<double> values(ix(states.count()), kWorthless);
  values[ix(states.state_of({quarter}))] = 100;
  std::vector<double> plain = values;
  changes.make(costs.of_additions(states), rewards, {}, plain.data());
  EXPECT_DOUBLE_EQ(plain[ix(states.state_of({kEmptyBundle}))], 100 - 5);
  std::vector<double> training = values;
  changes.make(costs.of_additions(states), rewards, {.while_training = true}, training.data());
  EXPECT_DOUBLE_EQ(training[ix(states.state_of({kEmptyBundle}))], 100 - 4 - 5 + 8);
  // If the slice exists already, it need not be created.
  std::vector<double> at_once = values;
  changes.make(costs.of_additions(states), rewards, {.at_once = true}, at_once.data());
  EXPECT_DOUBLE_EQ(at_once[ix(states.state_of({kEmptyBundle}))], 100 - 2);
}

}  // namespace
}  // namespace berth::planner
