#include "planner/one_gpu/detail/joint_states.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using testing::kStatesMax;

constexpr int kJointStatesSeeds = berth::testing::by_build(150, 15);

/// The pieces of a service, [item], or [kind] if variants are free.
using StateCounts = std::vector<int>;
using All = std::vector<StateCounts>;  // [service]

StateCounts state_counts_of(const GpuCase& gpu_case, Variants variants, ServiceIndex service, BundleIndex bundle) {
  const Bundles& bundles = gpu_case.bundles[service];
  StateCounts counts(variants == Variants::kKept ? bundles.items.size() : gpu_case.model.rates.size());
  for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
    counts[ix(variants == Variants::kKept ? item : bundles.items[item].kind)] += bundles.count_of(bundle, item);
  }
  return counts;
}

/// Calls `visit` with all combinations of the services' bundles that fit together.
template <class Visit>
void visit_tuples(const GpuCase& gpu_case, RoomIndex taken, std::vector<BundleIndex>& tuple, const Visit& visit) {
  const ServiceIndex service(tuple.size());
  if (ix(service) == gpu_case.bundles.size()) {
    visit(tuple, taken);
    return;
  }
  for (const BundleIndex bundle : Indices<BundleIndex>(gpu_case.bundles[service].count())) {
    const RoomIndex joined = gpu_case.rooms.join(taken, gpu_case.bundles[service].room[bundle]);
    if (joined == kNoRoom) continue;
    tuple.push_back(bundle);
    visit_tuples(gpu_case, joined, tuple, visit);
    tuple.pop_back();
  }
}

/// Each combination has one number, and each number one combination.
std::map<All, StateIndex> expect_one_to_one(const GpuCase& gpu_case, Variants variants, const JointStates& states) {
  std::map<All, StateIndex> numbers;
  std::vector<BundleIndex> tuple;
  visit_tuples(gpu_case, kEmptyRoom, tuple, [&](const std::vector<BundleIndex>& bundles, RoomIndex room) {
    All all;
    for (const ServiceIndex service : indices_of<ServiceIndex>(bundles)) {
      all.push_back(state_counts_of(gpu_case, variants, service, bundles[service]));
    }
    const StateIndex state = states.state_of(bundles);
    ASSERT_TRUE(state >= 0 && state < states.count());
    ASSERT_EQ(numbers.try_emplace(all, state).first->second, state) << "one combination, two numbers";
    ASSERT_EQ(states.room_of(state), room);
    for (const ServiceIndex service : indices_of<ServiceIndex>(bundles)) {
      ASSERT_EQ(states.held(state)[service], states.holding_of(service, bundles[service]));
      ASSERT_TRUE(std::ranges::count(states.bundles_of(state, service), bundles[service]) == 1);
    }
  });
  std::set<StateIndex> used;
  for (const auto& [all, state] : numbers) used.insert(state);
  EXPECT_EQ(used.size(), numbers.size()) << "two combinations, one number";
  EXPECT_EQ(ix(states.count()), numbers.size());
  return numbers;
}

/// From numbers to bundles and back.
void expect_round_trips(const JointStates& states, int services) {
  for (const StateIndex state : Indices<StateIndex>(states.count())) {
    std::vector<BundleIndex> bundles(ix(services));
    for (const ServiceIndex service : Indices<ServiceIndex>(services)) {
      bundles[service] = states.bundles_of(state, service).front();
    }
    ASSERT_EQ(states.state_of(bundles), state);
    for (const ServiceIndex service : Indices<ServiceIndex>(services))
      bundles[service] = states.bundles_of(state, service).back();
    ASSERT_EQ(states.state_of(bundles), state);
  }
}

/// The edges of a state lead to all states with one more piece, each once for each kind, in the order of kinds.
void expect_edges(const GpuCase& gpu_case, Variants variants, const JointStates& states,
                  const std::map<All, StateIndex>& numbers) {
  for (const auto& [all, state] : numbers) {
    std::set<std::pair<StateIndex, KindIndex>> wanted;  // state, kind
    for (const ServiceIndex service : indices_of<ServiceIndex>(all)) {
      for (std::size_t i = 0; i < all[service].size(); ++i) {
        All more = all;
        ++more[service][i];
        const auto found = numbers.find(more);
        const KindIndex kind = variants == Variants::kKept ? gpu_case.bundles[service].items[i].kind : KindIndex(i);
        if (found != numbers.end()) wanted.emplace(found->second, kind);
      }
    }
    int kind_before = -1;
    bool was_last = true;
    for (const JointStates::Edge& edge : states.edges(state)) {
      const JointStates::Addition& addition = states.additions()[edge.addition];
      ASSERT_GT(edge.to, state) << "one more piece leads to a larger number";
      ASSERT_EQ(wanted.erase({edge.to, addition.kind}), 1U);
      ASSERT_EQ(addition.from, states.held(state)[addition.service]);
      ASSERT_EQ(addition.to, states.held(edge.to)[addition.service]);
      ASSERT_EQ(was_last, addition.kind != kind_before);
      ASSERT_GE(addition.kind, kind_before);
      kind_before = addition.kind;
      was_last = edge.is_last_of_kind != 0;
    }
    ASSERT_TRUE(was_last);
    ASSERT_TRUE(wanted.empty());
  }
}

void expect_rules(const GpuCase& gpu_case, const JointStates& states) {
  const std::vector<ServiceTerms>& services = gpu_case.problem.services;
  for (const StateIndex state : Indices<StateIndex>(states.count())) {
    bool may_begin = true;
    for (std::size_t a = 0; a < services.size(); ++a) {
      for (std::size_t b = 0; b < services.size(); ++b) {
        if (a == b || states.held(state)[a] == 0 || states.held(state)[b] == 0) continue;
        may_begin = may_begin && !services[a].is_alone_on_gpu && services[a].trust_domain == services[b].trust_domain;
      }
    }
    ASSERT_EQ(states.may_begin(state), may_begin);
  }
}

/// Floors of holdings, additions by service, and common parts.
void expect_holdings(const GpuCase& gpu_case, Variants variants, JointStates& states) {
  for (const ServiceIndex service : indices_of<ServiceIndex>(gpu_case.bundles)) {
    const Bundles& bundles = gpu_case.bundles[service];
    std::map<StateCounts, HoldingIndex> numbers;
    std::vector<char> keeps(ix(states.holdings(service)));
    for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
      const HoldingIndex holding = states.holding_of(service, bundle);
      numbers[state_counts_of(gpu_case, variants, service, bundle)] = holding;
      if (gpu_case.keeps_floor(service, bundles.rate[bundle])) keeps[holding] = 1;
    }
    ASSERT_EQ(numbers.size(), ix(states.holdings(service)));
    EXPECT_EQ(states.holding_of(service, kEmptyBundle), 0);
    for (const HoldingIndex holding : Indices<HoldingIndex>(states.holdings(service))) {
      EXPECT_EQ(states.keeps_floor(service, holding), keeps[holding] != 0);
    }
    for (int i = states.additions_begin(service); i < states.additions_begin(service + 1); ++i) {
      EXPECT_EQ(states.additions()[i].service, service);
    }
    for (const auto& [old_counts, old] : numbers) {
      for (const auto& [counts, holding] : numbers) {
        StateCounts common;
        for (std::size_t i = 0; i < counts.size(); ++i) common.push_back(std::min(counts[i], old_counts[i]));
        ASSERT_EQ(states.common_with(service, old)[holding], numbers.at(common));
      }
    }
  }
}

void expect_states_are_the_combinations(const Problem& problem, Variants variants) {
  const GpuCase gpu_case(problem);
  JointStates states(gpu_case, variants, kStatesMax);
  ASSERT_TRUE(states.is_usable());
  const std::map<All, StateIndex> numbers = expect_one_to_one(gpu_case, variants, states);
  expect_round_trips(states, static_cast<int>(problem.services.size()));
  expect_edges(gpu_case, variants, states, numbers);
  expect_rules(gpu_case, states);
  expect_holdings(gpu_case, variants, states);
  // The limit is the number of states itself.
  EXPECT_TRUE(JointStates(gpu_case, variants, states.count()).is_usable());
  EXPECT_FALSE(JointStates(gpu_case, variants, states.count() - 1).is_usable());
}

TEST(JointStates, AreTheCombinationsOfBundlesThatFit) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kJointStatesSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    problem.gpus.resize(1);
    for (const Variants variants : {Variants::kKept, Variants::kFree}) {
      expect_states_are_the_combinations(problem, variants);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JointStates, AreTheCombinationsOnAWholeGpu) {
  Problem problem = testing::quarters_problem(3, 2);
  problem.services[1].trust_domain = 1;
  problem.services[2].floor_rate = 20;
  for (const Variants variants : {Variants::kKept, Variants::kFree}) {
    expect_states_are_the_combinations(problem, variants);
  }
}

}  // namespace
}  // namespace berth::planner
