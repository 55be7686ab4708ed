// The searches against an exhaustive enumeration: every subset of all placements, kept when no two members conflict.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"
#include "domain/mig/multiset.h"

namespace berth::mig {
namespace {

GpuModel gpu_named(std::string_view name) { return *find_gpu_model(name); }

struct Counts {
  std::size_t states = 0;
  std::size_t maximal = 0;
  std::size_t maximal_multisets = 0;
  std::size_t multisets = 0;
  std::size_t masks = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& c) {
    return out << "states " << c.states << ", maximal " << c.maximal << ", maximal multisets " << c.maximal_multisets
               << ", multisets " << c.multisets << ", masks " << c.masks;
  }
};

Counts count(const GpuModel& model, const std::set<State>& states, const std::set<State>& maximal) {
  std::set<Multiset> multisets;
  std::set<Multiset> maximal_multisets;
  std::set<std::uint32_t> masks;
  for (const State& state : states) {
    multisets.insert(multiset_of(state));
    masks.insert(occupied_units(model, state));
  }
  for (const State& state : maximal) maximal_multisets.insert(multiset_of(state));
  return {states.size(), maximal.size(), maximal_multisets.size(), multisets.size(), masks.size()};
}

Counts counts_of(const GpuModel& model, const Rules& rules) {
  std::set<State> states;
  for_each_state(model, rules, [&](const State& state) { EXPECT_TRUE(states.insert(state).second); });
  const std::vector<State> layouts = maximal_layouts(model, rules);
  const std::set<State> maximal(layouts.begin(), layouts.end());
  EXPECT_EQ(maximal.size(), layouts.size());
  return count(model, states, maximal);
}

/// Written without the code under test: intervals compared pair by pair, limits by counting names.
bool is_conflict(const GpuModel& model, const Placement& a, const Placement& b, bool is_before_r510) {
  const MigProfile& p = model.profiles[a.profile.index];
  const MigProfile& q = model.profiles[b.profile.index];
  if (a.start < b.start + q.length && b.start < a.start + p.length) return true;
  if (a.profile == b.profile && p.instances_max == 1) return true;
  if (p.name.find("+me") != std::string::npos && q.name.find("+me") != std::string::npos) return true;
  const std::set<char> sizes = {p.name[0], q.name[0]};
  return is_before_r510 && sizes == std::set<char>{'3', '4'};
}

struct Exhaustive {
  std::set<State> states;
  std::set<State> maximal;
};

Exhaustive enumerate(const GpuModel& model, const Rules& rules) {
  State all;
  for (const ProfileId id : rules.profiles) {
    for (const int start : model.profiles[id.index].starts) all.push_back({start, id});
  }
  std::ranges::sort(all);
  std::vector<std::uint32_t> conflicts(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (i != j && is_conflict(model, all[i], all[j], rules.is_before_r510)) conflicts[i] |= 1U << j;
    }
  }
  Exhaustive found;
  for (std::uint32_t subset = 0; subset < (1U << all.size()); ++subset) {
    bool is_legal = true;
    for (std::uint32_t rest = subset; rest != 0 && is_legal; rest &= rest - 1) {
      is_legal = (conflicts[static_cast<std::size_t>(__builtin_ctz(rest))] & subset) == 0;
    }
    if (!is_legal) continue;
    State state;
    bool is_maximal = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((subset >> i & 1U) != 0) {
        state.push_back(all[i]);
      } else if ((conflicts[i] & subset) == 0) {
        is_maximal = false;
      }
    }
    found.states.insert(state);
    if (is_maximal) found.maximal.insert(state);
  }
  return found;
}

void expect_same(const GpuModel& model, const Rules& rules) {
  const Exhaustive truth = enumerate(model, rules);
  std::set<State> states;
  for_each_state(model, rules, [&](const State& state) { states.insert(state); });
  EXPECT_EQ(states, truth.states) << model.name;
  const std::vector<State> layouts = maximal_layouts(model, rules);
  EXPECT_EQ(std::set<State>(layouts.begin(), layouts.end()), truth.maximal) << model.name;
}

Rules with_double_memory(const GpuModel& model) {
  Rules rules;
  for (const ProfileId id : all_rules(model).profiles) {
    const MigProfile& profile = model.profiles[id.index];
    if (profile.is_plain() || profile.is_double_memory) rules.profiles.push_back(id);
  }
  return rules;
}

constexpr const char* kSevenSlice[] = {"A100-40GB",  "A100-80GB",   "H100-80GB",  "H100-80GB-PCIe", "H100-94GB-NVL",
                                       "GH200-96GB", "GH200-144GB", "H200-141GB", "B200-180GB",     "GB200-186GB"};

// The counts of the public record: 18 and 19 configurations of an A100, and those that follow from the placements.
TEST(Enumeration, CountsOfSevenSliceGpus) {
  for (const char* name : kSevenSlice) {
    EXPECT_EQ(counts_of(gpu_named(name), plain_rules(gpu_named(name))), (Counts{298, 19, 14, 38, 144})) << name;
  }
}

TEST(Enumeration, CountsBeforeR510) {
  Rules rules = plain_rules(gpu_named("A100-40GB"));
  rules.is_before_r510 = true;
  const Counts counts = counts_of(gpu_named("A100-40GB"), rules);
  EXPECT_EQ(counts.maximal, 18U);
  EXPECT_EQ(counts.maximal_multisets, 13U);
  EXPECT_EQ(counts.states, 297U);
}

TEST(Enumeration, CountsWithDoubleMemory) {
  for (const char* name : kSevenSlice) {
    const Counts counts = counts_of(gpu_named(name), with_double_memory(gpu_named(name)));
    EXPECT_EQ(counts.states, 723U) << name;
    EXPECT_EQ(counts.maximal, 78U) << name;
    EXPECT_EQ(counts.maximal_multisets, 38U) << name;
    EXPECT_EQ(counts.multisets, 78U) << name;
  }
}

TEST(Enumeration, CountsOfFourSliceGpus) {
  for (const char* name : {"A30", "RTX"}) {
    const Counts counts = counts_of(gpu_named(name), plain_rules(gpu_named(name)));
    EXPECT_EQ(counts.states, 26U) << name;
    EXPECT_EQ(counts.maximal, 5U) << name;
    EXPECT_EQ(counts.maximal_multisets, 4U) << name;
    EXPECT_EQ(counts.multisets, 10U) << name;
  }
}

TEST(Enumeration, AgreesWithEverySubset) {
  for (const GpuModel& model : gpu_models()) expect_same(model, plain_rules(model));
  expect_same(gpu_named("A100-40GB"), with_double_memory(gpu_named("A100-40GB")));
  expect_same(gpu_named("A30"), all_rules(gpu_named("A30")));
  Rules before = with_double_memory(gpu_named("A100-40GB"));
  before.is_before_r510 = true;
  expect_same(gpu_named("A100-40GB"), before);
}

// Media variants: the 1g and 2g sizes of the RTX PRO 6000, and 1g, 1g+me and 3g of the A100.
TEST(Enumeration, AgreesWithEverySubsetOfMediaVariants) {
  const GpuModel rtx = gpu_named("RTX");
  Rules rules;
  for (const char* name : {"1g.24gb", "1g.24gb+me", "1g.24gb+me.all", "2g.48gb", "2g.48gb+me.all", "2g.48gb-me"}) {
    rules.profiles.push_back(*find_profile(rtx, name));
  }
  expect_same(rtx, rules);
  const GpuModel a100 = gpu_named("A100-80GB");
  expect_same(a100, Rules{.profiles = {*find_profile(a100, "1g.10gb"), *find_profile(a100, "1g.10gb+me"),
                                       *find_profile(a100, "3g.40gb")}});
}

TEST(Enumeration, AGpuThatCannotBeCutHasTheEmptyStateOnly) {
  std::size_t states = 0;
  for_each_state(gpu_named("T4"), all_rules(gpu_named("T4")), [&](const State& state) {
    EXPECT_TRUE(state.empty());
    ++states;
  });
  EXPECT_EQ(states, 1U);
  EXPECT_EQ(maximal_layouts(gpu_named("T4"), all_rules(gpu_named("T4"))), std::vector<State>{State{}});
}

// "4g@0 2g@4 1g@6" on an A100-80GB, in the order of the search.
TEST(MaximalLayouts, AreTheNineteenKnownOnes) {
  const GpuModel a100 = gpu_named("A100-80GB");
  std::vector<std::string> found;
  for (const State& layout : maximal_layouts(a100, plain_rules(a100))) {
    std::string text;
    for (const Placement& placement : layout) {
      text += (text.empty() ? "" : " ") + a100.profiles[placement.profile.index].name.substr(0, 2) + "@" +
              std::to_string(placement.start);
    }
    found.push_back(text);
  }
  const std::vector<std::string> expected = {
      "7g@0",
      "4g@0 3g@4",
      "4g@0 2g@4 1g@6",
      "4g@0 1g@4 1g@5 1g@6",
      "3g@0 3g@4",
      "3g@0 2g@4 1g@6",
      "3g@0 1g@4 1g@5 1g@6",
      "2g@0 2g@2 3g@4",
      "2g@0 1g@2 1g@3 3g@4",
      "1g@0 1g@1 2g@2 3g@4",
      "1g@0 1g@1 1g@2 1g@3 3g@4",
      "2g@0 2g@2 2g@4 1g@6",
      "2g@0 2g@2 1g@4 1g@5 1g@6",
      "2g@0 1g@2 1g@3 2g@4 1g@6",
      "2g@0 1g@2 1g@3 1g@4 1g@5 1g@6",
      "1g@0 1g@1 2g@2 2g@4 1g@6",
      "1g@0 1g@1 2g@2 1g@4 1g@5 1g@6",
      "1g@0 1g@1 1g@2 1g@3 2g@4 1g@6",
      "1g@0 1g@1 1g@2 1g@3 1g@4 1g@5 1g@6",
  };
  EXPECT_EQ(found, expected);
}

// How many legal states and maximal layouts contain a placement.
TEST(Enumeration, FlexibilityOfEachPlacement) {
  const GpuModel a100 = gpu_named("A100-80GB");
  const Rules rules = plain_rules(a100);
  std::map<std::string, std::pair<int, int>> found;
  for_each_state(a100, rules, [&](const State& state) {
    for (const Placement& placement : state) ++found[to_string(a100, {placement})].first;
  });
  for (const State& layout : maximal_layouts(a100, rules)) {
    for (const Placement& placement : layout) ++found[to_string(a100, {placement})].second;
  }
  const std::map<std::string, std::pair<int, int>> expected = {
      {"1g.10gb@0", {110, 6}}, {"1g.10gb@1", {110, 6}}, {"1g.10gb@2", {110, 6}},  {"1g.10gb@3", {110, 6}},
      {"1g.10gb@4", {108, 6}}, {"1g.10gb@5", {108, 6}}, {"1g.10gb@6", {135, 12}}, {"2g.20gb@0", {55, 6}},
      {"2g.20gb@2", {55, 6}},  {"2g.20gb@4", {54, 6}},  {"3g.40gb@0", {11, 3}},   {"3g.40gb@4", {27, 6}},
      {"4g.40gb@0", {11, 3}},  {"7g.80gb@0", {1, 1}}};
  EXPECT_EQ(found, expected);
}

// States with enough free units for a request, and those of them in which it still has no place.
TEST(Enumeration, FragmentationOfTheStates) {
  const GpuModel a100 = gpu_named("A100-80GB");
  std::vector<std::pair<int, int>> found;
  for (const ProfileId id : plain_rules(a100).profiles) {
    std::pair<int, int> counts;
    for_each_state(a100, plain_rules(a100), [&](const State& state) {
      const Room room = room_for(a100, state, id);
      if (room.free_units < a100.profiles[id.index].length) return;
      ++counts.first;
      if (!room.fits) ++counts.second;
    });
    found.push_back(counts);
  }
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{291, 12}, {271, 136}, {153, 116}, {153, 142}, {1, 0}}));
}

}  // namespace
}  // namespace berth::mig
