#include "one_gpu/detail/joint_states.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/test_cases.h"
#include "window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr int kStatesMax = 100'000;
constexpr int kSeeds = berth::testing::by_build(150, 15);

/// What a service holds, [label], or [kind] where variants are free.
using Counts = std::vector<int>;
using All = std::vector<Counts>;  // [service]

Counts counts_of(const GpuCase& gpu_case, Variants variants, int service, int bundle) {
  const Bundles& bundles = gpu_case.bundles[ix(service)];
  Counts counts(variants == Variants::kKept ? bundles.labels.size() : gpu_case.model.rates.size());
  for (int label = 0; ix(label) < bundles.labels.size(); ++label) {
    counts[ix(variants == Variants::kKept ? label : bundles.labels[ix(label)].kind)] += bundles.count_of(bundle, label);
  }
  return counts;
}

/// Calls `visit` with the bundles of all services, wherever they fit together.
template <class Visit>
void visit_tuples(const GpuCase& gpu_case, int taken, std::vector<int>& tuple, const Visit& visit) {
  const std::size_t service = tuple.size();
  if (service == gpu_case.bundles.size()) {
    visit(tuple, taken);
    return;
  }
  for (int bundle = 0; bundle < gpu_case.bundles[service].count(); ++bundle) {
    const int joined = gpu_case.rooms.join(taken, gpu_case.bundles[service].room[ix(bundle)]);
    if (joined == kNoRoom) continue;
    tuple.push_back(bundle);
    visit_tuples(gpu_case, joined, tuple, visit);
    tuple.pop_back();
  }
}

/// Each combination has one number, and each number one combination.
std::map<All, int> expect_one_to_one(const GpuCase& gpu_case, Variants variants, const JointStates& states) {
  std::map<All, int> numbers;
  std::vector<int> tuple;
  visit_tuples(gpu_case, 0, tuple, [&](const std::vector<int>& bundles, int room) {
    All all;
    for (int service = 0; ix(service) < bundles.size(); ++service) {
      all.push_back(counts_of(gpu_case, variants, service, bundles[ix(service)]));
    }
    const int state = states.state_of(bundles);
    ASSERT_TRUE(state >= 0 && state < states.count());
    ASSERT_EQ(numbers.try_emplace(all, state).first->second, state) << "one combination, two numbers";
    ASSERT_EQ(states.room_of(state), room);
    for (int service = 0; ix(service) < bundles.size(); ++service) {
      ASSERT_EQ(states.held(state)[service], states.holding_of(service, bundles[ix(service)]));
      ASSERT_TRUE(std::ranges::count(states.bundles_of(state, service), bundles[ix(service)]) == 1);
    }
  });
  std::set<int> used;
  for (const auto& [all, state] : numbers) used.insert(state);
  EXPECT_EQ(used.size(), numbers.size()) << "two combinations, one number";
  EXPECT_EQ(ix(states.count()), numbers.size());
  return numbers;
}

/// From numbers to bundles and back.
void expect_round_trips(const JointStates& states, int services) {
  for (int state = 0; state < states.count(); ++state) {
    std::vector<int> bundles(ix(services));
    for (int service = 0; service < services; ++service) {
      bundles[ix(service)] = states.bundles_of(state, service).front();
    }
    ASSERT_EQ(states.state_of(bundles), state);
    for (int service = 0; service < services; ++service)
      bundles[ix(service)] = states.bundles_of(state, service).back();
    ASSERT_EQ(states.state_of(bundles), state);
  }
}

/// The edges of a state lead to all states with one more piece, each once for each kind, in the order of kinds.
void expect_edges(const GpuCase& gpu_case, Variants variants, const JointStates& states,
                  const std::map<All, int>& numbers) {
  for (const auto& [all, state] : numbers) {
    std::set<std::pair<int, int>> wanted;  // state, kind
    for (int service = 0; ix(service) < all.size(); ++service) {
      for (std::size_t i = 0; i < all[ix(service)].size(); ++i) {
        All more = all;
        ++more[ix(service)][i];
        const auto found = numbers.find(more);
        const int kind =
            variants == Variants::kKept ? gpu_case.bundles[ix(service)].labels[i].kind : static_cast<int>(i);
        if (found != numbers.end()) wanted.emplace(found->second, kind);
      }
    }
    int kind_before = -1;
    bool was_last = true;
    for (const JointStates::Edge& edge : states.edges(state)) {
      const JointStates::Step& step = states.steps()[ix(edge.step)];
      ASSERT_GT(edge.to, state) << "one more piece leads to a larger number";
      ASSERT_EQ(wanted.erase({edge.to, step.kind}), 1U);
      ASSERT_EQ(step.from, states.held(state)[step.service]);
      ASSERT_EQ(step.to, states.held(edge.to)[step.service]);
      ASSERT_EQ(was_last, step.kind != kind_before);
      ASSERT_GE(step.kind, kind_before);
      kind_before = step.kind;
      was_last = edge.is_last_of_kind != 0;
    }
    ASSERT_TRUE(was_last);
    ASSERT_TRUE(wanted.empty());
  }
}

void expect_rules(const GpuCase& gpu_case, const JointStates& states) {
  const std::vector<ServiceTerms>& services = gpu_case.problem.services;
  for (int state = 0; state < states.count(); ++state) {
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

/// Floors of holdings, steps by service, and common parts.
void expect_holdings(const GpuCase& gpu_case, Variants variants, JointStates& states) {
  for (int service = 0; ix(service) < gpu_case.bundles.size(); ++service) {
    const Bundles& bundles = gpu_case.bundles[ix(service)];
    std::map<Counts, int> numbers;
    std::vector<char> keeps(ix(states.holdings(service)));
    for (int bundle = 0; bundle < bundles.count(); ++bundle) {
      const int holding = states.holding_of(service, bundle);
      numbers[counts_of(gpu_case, variants, service, bundle)] = holding;
      if (gpu_case.keeps_floor(service, bundles.rate[ix(bundle)])) keeps[ix(holding)] = 1;
    }
    ASSERT_EQ(numbers.size(), ix(states.holdings(service)));
    EXPECT_EQ(states.holding_of(service, 0), 0);
    for (int holding = 0; holding < states.holdings(service); ++holding) {
      EXPECT_EQ(states.keeps_floor(service, holding), keeps[ix(holding)] != 0);
    }
    for (int i = states.steps_begin(service); i < states.steps_begin(service + 1); ++i) {
      EXPECT_EQ(states.steps()[ix(i)].service, service);
    }
    for (const auto& [old_counts, old] : numbers) {
      for (const auto& [counts, holding] : numbers) {
        Counts common;
        for (std::size_t i = 0; i < counts.size(); ++i) common.push_back(std::min(counts[i], old_counts[i]));
        ASSERT_EQ(states.common_with(service, old)[ix(holding)], numbers.at(common));
      }
    }
  }
}

void expect_states_are_the_combinations(const Problem& problem, Variants variants) {
  const GpuCase gpu_case(problem);
  JointStates states(gpu_case, variants, kStatesMax);
  ASSERT_TRUE(states.is_usable());
  const std::map<All, int> numbers = expect_one_to_one(gpu_case, variants, states);
  expect_round_trips(states, static_cast<int>(problem.services.size()));
  expect_edges(gpu_case, variants, states, numbers);
  expect_rules(gpu_case, states);
  expect_holdings(gpu_case, variants, states);
  // The limit is the number of states itself.
  EXPECT_TRUE(JointStates(gpu_case, variants, states.count()).is_usable());
  EXPECT_FALSE(JointStates(gpu_case, variants, states.count() - 1).is_usable());
}

TEST(JointStates, AreTheCombinationsOfBundlesThatFit) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kSeeds)) {
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
