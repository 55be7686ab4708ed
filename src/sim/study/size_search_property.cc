// Random outcomes, monotone and not: an answer that claims to be the smallest is, and a larger limit never makes it
// worse.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sim/study/size_search.h"

namespace berth::study {
namespace {

using Truth = std::vector<std::vector<bool>>;  // [count - 1][seed]

struct Asked {
  SmallestCount found;
  std::map<std::int64_t, std::vector<bool>> answers;
};

/// Questions about larger counts cost more, as replays do.
Asked ask(const Truth& truth, std::int64_t count_max, std::int64_t work_max) {
  Asked asked;
  const CountJudge judge = [&](std::int64_t count, std::size_t seed_index) -> Result<Verdict> {
    std::vector<bool>& seen = asked.answers[count];
    RC_ASSERT(count <= count_max);
    RC_ASSERT(seen.size() == seed_index);
    seen.push_back(truth.at(static_cast<std::size_t>(count - 1)).at(seed_index));
    return Verdict{.holds = seen.back(), .work = 1 + count / 4};
  };
  asked.found =
      *smallest_count(judge, {.count_max = count_max, .seed_count = truth.front().size(), .work_max = work_max});
  return asked;
}

bool holds(const std::vector<bool>& seeds) { return std::ranges::find(seeds, false) == seeds.end(); }

std::int64_t size_of(const Truth& truth) { return static_cast<std::int64_t>(truth.size()); }

/// The first count that holds with every seed, or with one; 0: none.
std::int64_t first_that_holds(const Truth& truth, std::int64_t count_max, std::optional<std::size_t> seed = {}) {
  for (std::int64_t count = 1; count <= count_max; ++count) {
    const std::vector<bool>& seeds = truth.at(static_cast<std::size_t>(count - 1));
    if (seed ? seeds[*seed] : holds(seeds)) return count;
  }
  return 0;
}

Truth any_truth() {
  const auto seed_count = *rc::gen::inRange<std::size_t>(1, 4);
  const int odds = *rc::gen::elementOf(std::vector<int>{1, 4, 16});
  const auto bit = rc::gen::weightedElement<bool>({{1, true}, {static_cast<std::size_t>(odds), false}});
  return *rc::gen::nonEmpty(
      rc::gen::scale(2, rc::gen::container<Truth>(rc::gen::container<std::vector<bool>>(seed_count, bit))));
}

constexpr std::int64_t kPlenty = 1'000'000'000;

RC_GTEST_PROP(SizeSearch, WithEnoughWorkTheAnswerIsTheSmallest, ()) {
  const Truth truth = any_truth();
  const Asked asked = ask(truth, size_of(truth), kPlenty);
  const std::int64_t smallest = first_that_holds(truth, size_of(truth));
  RC_ASSERT(asked.found.is_proven);
  RC_ASSERT(asked.found.count.value_or(0) == smallest);
  if (smallest == 0) return;
  for (std::size_t seed = 0; seed < truth.front().size(); ++seed) {
    RC_ASSERT(asked.found.count_by_seed.at(seed) == first_that_holds(truth, smallest, seed));
  }
  const bool are_equal = std::ranges::all_of(asked.found.count_by_seed, [&](auto count) { return count == smallest; });
  RC_ASSERT(asked.found.is_stable == (truth.front().size() > 1 ? std::optional(are_equal) : std::nullopt));
  if (smallest < size_of(truth)) RC_ASSERT(asked.answers.contains(smallest + 1));
}

RC_GTEST_PROP(SizeSearch, ALargerLimitNeverGivesMoreOrNone, ()) {
  const Truth truth = any_truth();
  const auto work_max = *rc::gen::inRange<std::int64_t>(1, 200);
  std::optional<std::int64_t> before;
  for (std::int64_t count_max = 1; count_max <= size_of(truth); ++count_max) {
    const auto found = ask(truth, count_max, work_max).found.count;
    if (before) RC_ASSERT(found == before);
    before = found;
  }
}

RC_GTEST_PROP(SizeSearch, WhatIsSaidWithLittleWorkWasSeen, ()) {
  const Truth truth = any_truth();
  const Asked asked = ask(truth, size_of(truth), *rc::gen::inRange<std::int64_t>(1, 60));
  const std::int64_t count = asked.found.count.value_or(size_of(truth) + 1);
  const std::int64_t smallest = first_that_holds(truth, size_of(truth));
  if (asked.found.is_proven) RC_ASSERT(asked.found.count.value_or(0) == smallest);
  for (const auto& [tried, seen] : asked.answers) {
    if (tried < count) RC_ASSERT(!holds(seen));
  }
  if (!asked.found.count) return;
  RC_ASSERT(asked.answers.at(count).size() == truth.front().size());
  RC_ASSERT(holds(asked.answers.at(count)));
  for (std::int64_t below = std::max<std::int64_t>(1, count - kNeighboursBelow); below < count; ++below) {
    RC_ASSERT(asked.answers.at(below).size() == truth.front().size());
  }
  for (std::size_t seed = 0; seed < truth.front().size(); ++seed) {
    const auto known = asked.found.count_by_seed.at(seed);
    if (known) RC_ASSERT(*known == first_that_holds(truth, count, seed));
    if (known && *known < count) RC_ASSERT(asked.found.is_stable == false);
  }
}

RC_GTEST_PROP(SizeSearch, MonotoneTruthsAreExactWhateverTheWork, ()) {
  const auto first_by_seed =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, 200)));
  const std::int64_t largest = std::ranges::max(first_by_seed);
  Truth truth;
  for (std::int64_t count = 1; count <= 256; ++count) {  // 256 lies on the grid
    std::vector<bool> seeds;
    seeds.reserve(first_by_seed.size());
    for (const std::int64_t first : first_by_seed) seeds.push_back(count >= first);
    truth.push_back(seeds);
  }
  RC_ASSERT(ask(truth, 256, *rc::gen::inRange<std::int64_t>(1, 500)).found.count == largest);
}

}  // namespace
}  // namespace berth::study
