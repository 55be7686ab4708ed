#include "sim/size_search.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/ensure.h"

namespace berth::sim {
namespace {

class CountSearch {
 public:
  CountSearch(const CountJudge& judge, CountLimits limits) : judge_(judge), limits_(limits) {}

  Result<SmallestCount> run() {
    std::int64_t count = bracket();
    if (count == 0) return answer(std::nullopt);
    count = descend(count);
    if (count < limits_.count_max) (void)holds(count + 1, false);
    return answer(count);
  }

 private:
  /// Asks the seeds that were not asked yet, all of them or until one fails. Nothing holds once the judge has failed.
  bool holds(std::int64_t count, bool asks_all) {
    std::vector<bool>& seeds = seeds_of_[count];
    const auto has_failed = [&seeds] { return std::find(seeds.begin(), seeds.end(), false) != seeds.end(); };
    while (!error_ && seeds.size() < limits_.seed_count && (asks_all || !has_failed())) {
      const Result<bool> answer = judge_(count, seeds.size());
      if (!answer) {
        error_ = answer.error();
        break;
      }
      seeds.push_back(*answer);
    }
    return seeds.size() == limits_.seed_count && !has_failed();
  }

  /// A count that holds and whose neighbour below does not, where there is one by doubling and bisection; 0: none.
  std::int64_t bracket() {
    std::int64_t failed = 0;
    std::int64_t held = 0;
    for (std::int64_t count = 1; held == 0 && !error_; count = std::min(2 * count, limits_.count_max)) {
      if (holds(count, false)) {
        held = count;
      } else if (count == limits_.count_max) {
        return smallest_of_neighbours(count, false);
      } else {
        failed = count;
      }
    }
    while (held - failed > 1 && !error_) {
      const std::int64_t middle = failed + (held - failed) / 2;
      if (holds(middle, false)) {
        held = middle;
      } else {
        failed = middle;
      }
    }
    return held;
  }

  /// The smallest of the neighbours below that holds; 0: none does.
  std::int64_t smallest_of_neighbours(std::int64_t count, bool asks_all) {
    std::int64_t smallest = 0;
    for (std::int64_t below = count - 1; below >= std::max<std::int64_t>(1, count - kNeighboursBelow); --below) {
      if (holds(below, asks_all)) smallest = below;
    }
    return smallest;
  }

  std::int64_t descend(std::int64_t count) {
    while (const std::int64_t below = smallest_of_neighbours(count, true)) count = below;
    return count;
  }

  Result<SmallestCount> answer(std::optional<std::int64_t> count) {
    if (error_) return pass_on(*error_);
    SmallestCount found{.count = count, .is_stable = std::nullopt};
    if (count && limits_.seed_count > 1) found.is_stable = !has_smaller_by_one_seed(*count);
    return found;
  }

  [[nodiscard]] bool has_smaller_by_one_seed(std::int64_t count) const {
    return std::any_of(seeds_of_.begin(), seeds_of_.lower_bound(count), [](const auto& tried) {
      const auto& [unused, seeds] = tried;
      return std::find(seeds.begin(), seeds.end(), true) != seeds.end();
    });
  }

  const CountJudge& judge_;
  CountLimits limits_;
  std::map<std::int64_t, std::vector<bool>> seeds_of_;  ///< by count: the answers so far, in the order of the seeds
  std::optional<Error> error_;
};

}  // namespace

Result<SmallestCount> smallest_count(const CountJudge& judge, CountLimits limits) {
  ENSURE(limits.count_max >= 1 && limits.seed_count >= 1);
  return CountSearch(judge, limits).run();
}

}  // namespace berth::sim
