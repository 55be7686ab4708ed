#include "engine/loop/conflict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "domain/values/scenario.h"

namespace berth {
namespace {

using Ids = std::vector<ConstraintId>;

/// A letter as a constraint: 'a' is the floor of service 0.
ConstraintId id_of(char letter) {
  return constraint_of({static_cast<std::uint32_t>(letter - 'a')}, ConstraintKind::kFloor);
}

Ids ids_of(std::string_view letters) {
  Ids ids;
  for (const char letter : letters) ids.push_back(id_of(letter));
  return ids;
}

/// A set of constraints cannot be met if it contains one of the cores; of these sets, those with more than
/// `decided_max` constraints are not decided.
struct Cores {
  std::vector<std::string> cores;
  std::size_t decided_max = 1000;
  int calls = 0;

  [[nodiscard]] FeasibilityQuestion question() {
    return [this](std::span<const ConstraintId> asked) {
      ++calls;
      const bool is_met = std::ranges::none_of(
          cores, [&](const std::string& core) { return std::ranges::includes(asked, ids_of(core)); });
      if (is_met) return Finding::kCanBeMet;
      return asked.size() > decided_max ? Finding::kNotDecided : Finding::kCannotBeMet;
    };
  }
};

Conflict conflict_in(const ConflictSearchResult& result) { return std::get<Conflict>(result); }

TEST(Conflict, NothingWhereAllCanBeMet) {
  Cores cores;
  EXPECT_EQ(find_conflict(ids_of("abcdefgh"), cores.question(), {}), ConflictSearchResult(CanBeMet{}));
  EXPECT_EQ(cores.calls, 1);
  EXPECT_EQ(find_conflict({}, cores.question(), {}), ConflictSearchResult(CanBeMet{}));
}

TEST(Conflict, TheSmallestIsFound) {
  struct Case {
    const char* name;
    std::vector<std::string> cores;
    std::string conflict;
  };
  const std::vector<Case> cases = {
      {"one", {"d"}, "d"},
      {"two", {"bg"}, "bg"},
      {"all", {"abcdefgh"}, "abcdefgh"},
      {"the deletion filter ends at a larger one", {"efgh", "ac"}, "ac"},
      {"one of one among larger ones", {"fgh", "efg", "b", "ah"}, "b"},
      {"three", {"efgh", "adg"}, "adg"},
      {"without any", {""}, ""},
  };
  for (const Case& each : cases) {
    Cores cores{.cores = each.cores};
    const Conflict found = conflict_in(find_conflict(ids_of("abcdefgh"), cores.question(), {}));
    EXPECT_EQ(found.constraints, ids_of(each.conflict)) << each.name;
    EXPECT_TRUE(found.is_minimal && found.is_smallest) << each.name;
    EXPECT_EQ(found.calls, cores.calls) << each.name;
  }
}

TEST(Conflict, TheLimitHoldsAndTheAnswerIsAConflictAllTheSame) {
  int exact_count = 0;
  for (int calls_max = 1; calls_max < 120; ++calls_max) {
    Cores cores{.cores = {"ekpu", "bft"}};
    const auto found =
        conflict_in(find_conflict(ids_of("abcdefghijklmnopqrstuvwx"), cores.question(), {.calls_max = calls_max}));
    EXPECT_LE(cores.calls, calls_max);
    EXPECT_EQ(cores.question()(found.constraints), Finding::kCannotBeMet) << calls_max;
    EXPECT_TRUE(!found.is_minimal || found.constraints.size() <= 4U) << calls_max;
    if (!found.is_smallest) continue;
    ++exact_count;
    EXPECT_EQ(found.constraints, ids_of("bft")) << calls_max;
  }
  EXPECT_GT(exact_count, 0);
}

TEST(Conflict, AHundredConstraintsTakeFewCalls) {
  Ids ids;
  for (std::uint32_t i = 0; i < 100; ++i) ids.push_back(constraint_of({i}, ConstraintKind::kFloor));
  const auto ask = [&](std::span<const ConstraintId> asked) {
    const auto has = [&](std::size_t i) { return std::ranges::find(asked, ids[i]) != asked.end(); };
    return has(17) && has(80) ? Finding::kCannotBeMet : Finding::kCanBeMet;
  };
  const Conflict found = conflict_in(find_conflict(ids, ask, {.calls_max = 30}));
  EXPECT_EQ(found.constraints, (Ids{ids[17], ids[80]}));
  EXPECT_TRUE(found.is_minimal);
}

TEST(Conflict, WhatIsNotDecidedIsNoConflict) {
  // Nothing is ever proven.
  Cores silent{.cores = {"bd"}, .decided_max = 0};
  EXPECT_EQ(find_conflict(ids_of("abcd"), silent.question(), {}), ConflictSearchResult(NotDecided{}));
  // Only small sets are decided: the conflict is still found.
  Cores small{.cores = {"bd"}, .decided_max = 2};
  const Conflict found = conflict_in(find_conflict(ids_of("abcdefgh"), small.question(), {}));
  EXPECT_EQ(found.constraints, ids_of("bd"));
  EXPECT_TRUE(found.is_minimal && found.is_smallest);
  // Only large sets are decided: the smallest of them is a conflict, but not known to be minimal.
  const auto large = [](std::span<const ConstraintId> asked) {
    if (!std::ranges::includes(asked, ids_of("bd"))) return Finding::kCanBeMet;
    return asked.size() >= 4 ? Finding::kCannotBeMet : Finding::kNotDecided;
  };
  const Conflict wide = conflict_in(find_conflict(ids_of("abcdefgh"), large, {}));
  EXPECT_GE(wide.constraints.size(), 4U);
  EXPECT_TRUE(std::ranges::includes(wide.constraints, ids_of("bd")));
  EXPECT_FALSE(wide.is_minimal || wide.is_smallest);
}

TEST(Conflict, SaysWhatCannotBeMet) {
  Scenario scenario;
  scenario.services.resize(2);
  scenario.services[0].name = "a";
  scenario.services[1].name = "b";
  Conflict conflict;
  conflict.constraints = ids_of("a");
  EXPECT_EQ(to_text(scenario, conflict), "a.floor cannot be met");
  conflict.constraints = ids_of("ab");
  EXPECT_EQ(to_text(scenario, conflict), "a.floor and b.floor cannot all be met");
  conflict.constraints.push_back(kFrozenConstraint);
  EXPECT_EQ(to_text(scenario, conflict), "a.floor, b.floor and frozen cannot all be met");
  conflict.is_minimal = false;
  EXPECT_EQ(to_text(scenario, conflict),
            "a.floor, b.floor and frozen cannot all be met (a smaller conflict may exist)");
  conflict.constraints.clear();
  EXPECT_EQ(to_text(scenario, conflict), "no plan exists, whatever the constraints");
  conflict.why = "gpu-0: wanted x, found y";
  EXPECT_EQ(to_text(scenario, conflict), "gpu-0: wanted x, found y");
}

}  // namespace
}  // namespace berth
