#include "engine/conflict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace berth {
namespace {

using Names = std::vector<std::string>;

/// Constraints cannot be met as soon as they contain one of the cores.
struct Cores {
  std::vector<std::set<std::string>> cores;
  int calls = 0;

  [[nodiscard]] IsFeasible predicate() {
    return [this](std::span<const std::string> names) {
      ++calls;
      const std::set<std::string> asked(names.begin(), names.end());
      return std::ranges::none_of(cores, [&](const auto& core) { return std::ranges::includes(asked, core); });
    };
  }
};

Names letters(char last) {
  Names names;
  for (char letter = 'a'; letter <= last; ++letter) names.emplace_back(1, letter);
  return names;
}

TEST(Conflict, NothingWhereAllCanBeMet) {
  Cores cores;
  EXPECT_FALSE(find_conflict(letters('h'), cores.predicate(), {}).has_value());
  EXPECT_EQ(cores.calls, 1);
  EXPECT_FALSE(find_conflict({}, cores.predicate(), {}).has_value());
}

TEST(Conflict, TheSmallestIsFound) {
  struct Case {
    const char* name;
    std::vector<std::set<std::string>> cores;
    Names conflict;
  };
  const std::vector<Case> cases = {
      {"one", {{"d"}}, {"d"}},
      {"two", {{"b", "g"}}, {"b", "g"}},
      {"all", {{"a", "b", "c", "d", "e", "f", "g", "h"}}, letters('h')},
      {"the deletion filter ends at a larger one", {{"e", "f", "g", "h"}, {"a", "c"}}, {"a", "c"}},
      {"one of one among larger ones", {{"f", "g", "h"}, {"e", "f", "g"}, {"b"}, {"a", "h"}}, {"b"}},
      {"three", {{"e", "f", "g", "h"}, {"a", "d", "g"}}, {"a", "d", "g"}},
      {"without any", {{}}, {}},
  };
  for (const Case& each : cases) {
    Cores cores{.cores = each.cores};
    const auto found = find_conflict(letters('h'), cores.predicate(), {});
    ASSERT_TRUE(found.has_value()) << each.name;
    EXPECT_EQ(found->names, each.conflict) << each.name;
    EXPECT_TRUE(found->is_minimal && found->is_smallest) << each.name;
    EXPECT_EQ(found->calls, cores.calls) << each.name;
  }
}

TEST(Conflict, TheLimitHoldsAndTheAnswerIsAConflictAllTheSame) {
  const std::vector<std::set<std::string>> sets = {{"e", "k", "p", "u"}, {"b", "f", "t"}};
  int exact_count = 0;
  for (int calls_max = 1; calls_max < 120; ++calls_max) {
    Cores cores{.cores = sets};
    const auto found = find_conflict(letters('x'), cores.predicate(), {.calls_max = calls_max});
    ASSERT_TRUE(found.has_value());
    EXPECT_LE(cores.calls, calls_max);
    EXPECT_FALSE(cores.predicate()(found->names)) << calls_max;
    EXPECT_TRUE(!found->is_minimal || found->names.size() <= 4U) << calls_max;
    if (!found->is_smallest) continue;
    ++exact_count;
    EXPECT_EQ(found->names, (Names{"b", "f", "t"})) << calls_max;
  }
  EXPECT_GT(exact_count, 0);
}

TEST(Conflict, AHundredConstraintsTakeFewCalls) {
  Names names;
  for (int i = 0; i < 100; ++i) names.push_back(std::to_string(i) + ".floor");
  Cores cores{.cores = {{"17.floor", "80.floor"}}};
  const auto found = find_conflict(names, cores.predicate(), {.calls_max = 30});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->names, (Names{"17.floor", "80.floor"}));
  EXPECT_TRUE(found->is_minimal);
}

TEST(Conflict, SaysWhatCannotBeMet) {
  Conflict conflict;
  conflict.names = {"a.floor"};
  EXPECT_EQ(to_text(conflict), "a.floor cannot be met");
  conflict.names = {"a.floor", "b.floor"};
  EXPECT_EQ(to_text(conflict), "a.floor and b.floor cannot all be met");
  conflict.names = {"a.floor", "b.floor", "frozen"};
  EXPECT_EQ(to_text(conflict), "a.floor, b.floor and frozen cannot all be met");
  conflict.is_minimal = false;
  EXPECT_EQ(to_text(conflict), "a.floor, b.floor and frozen cannot all be met (a smaller conflict may exist)");
  conflict.names.clear();
  EXPECT_EQ(to_text(conflict), "no plan exists, whatever the constraints");
  conflict.why = "GPU 0: wanted x, found y";
  EXPECT_EQ(to_text(conflict), "GPU 0: wanted x, found y");
}

}  // namespace
}  // namespace berth
