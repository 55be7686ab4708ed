// Random truths, monotone and not: the answer is what was seen, and exact where counts are monotone.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "sim/size_search.h"

namespace berth::sim {
namespace {

using Truth = std::vector<std::vector<bool>>;  // [count - 1][seed]

struct Asked {
  SmallestCount found;
  std::map<std::int64_t, std::vector<bool>> answers;
};

Asked ask(const Truth& truth) {
  Asked asked;
  const CountJudge judge = [&](std::int64_t count, std::size_t seed_index) -> Result<bool> {
    std::vector<bool>& seen = asked.answers[count];
    RC_ASSERT(seen.size() == seed_index);
    seen.push_back(truth.at(static_cast<std::size_t>(count - 1)).at(seed_index));
    return seen.back();
  };
  asked.found = *smallest_count(
      judge, {.count_max = static_cast<std::int64_t>(truth.size()), .seed_count = truth.front().size()});
  return asked;
}

bool holds(const std::vector<bool>& seeds) { return std::find(seeds.begin(), seeds.end(), false) == seeds.end(); }

RC_GTEST_PROP(SizeSearch, MonotoneTruthsAreExact, ()) {
  const auto count_max = *rc::gen::inRange<std::int64_t>(1, 200);
  const auto first_by_seed = *rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(1, count_max + 20)));
  Truth truth;
  for (std::int64_t count = 1; count <= count_max; ++count) {
    std::vector<bool> seeds;
    for (const std::int64_t first : first_by_seed) seeds.push_back(count >= first);
    truth.push_back(seeds);
  }
  const std::int64_t largest = *std::max_element(first_by_seed.begin(), first_by_seed.end());
  const Asked asked = ask(truth);
  RC_ASSERT(asked.found.count.has_value() == (largest <= count_max));
  if (!asked.found.count) return;
  RC_ASSERT(*asked.found.count == largest);
  const bool is_alone = first_by_seed.size() == 1;
  RC_ASSERT(asked.found.is_stable.has_value() != is_alone);
  const bool are_equal = std::equal(first_by_seed.begin() + 1, first_by_seed.end(), first_by_seed.begin());
  if (!is_alone) RC_ASSERT(*asked.found.is_stable == are_equal);
}

RC_GTEST_PROP(SizeSearch, AnyTruthIsAnsweredByWhatWasSeen, ()) {
  const auto seed_count = *rc::gen::inRange<std::size_t>(1, 4);
  const auto truth = *rc::gen::nonEmpty(rc::gen::container<Truth>(
      rc::gen::container<std::vector<bool>>(seed_count, rc::gen::weightedElement<bool>({{3, true}, {1, false}}))));
  const Asked asked = ask(truth);
  for (const auto& [count, seen] : asked.answers) {
    if (!asked.found.count || count < *asked.found.count) RC_ASSERT(!holds(seen));
  }
  if (!asked.found.count) {
    RC_ASSERT(!holds(truth.back()));
    return;
  }
  const std::int64_t count = *asked.found.count;
  RC_ASSERT(holds(truth.at(static_cast<std::size_t>(count - 1))));
  for (std::int64_t below = std::max<std::int64_t>(1, count - kNeighboursBelow); below < count; ++below) {
    RC_ASSERT(asked.answers.at(below).size() == seed_count);
  }
  if (count < static_cast<std::int64_t>(truth.size())) RC_ASSERT(asked.answers.contains(count + 1));
}

}  // namespace
}  // namespace berth::sim
