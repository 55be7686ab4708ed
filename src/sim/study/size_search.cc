#include "sim/study/size_search.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/core/ensure.h"

namespace berth::study {
namespace {

/// The smallest m * 2^k above `count`, with m from 4 to 7; below 8 that is the next count.
std::int64_t next_on_grid(std::int64_t count) {
  std::int64_t step = 1;
  while (count / step >= 8) step *= 2;
  return (count / step + 1) * step;
}

class CountSearch {
 public:
  CountSearch(const CountJudge& judge, CountLimits limits) : judge_(judge), limits_(limits) {}

  Result<SmallestCount> run() {
    std::int64_t count = scan();
    if (count == 0) count = bracket();
    if (count != 0) count = descend(count);
    if (count != 0 && count < limits_.count_max) (void)holds(count + 1, false);
    if (error_) return pass_on(*error_);
    return answer(count);
  }

 private:
  [[nodiscard]] bool may_spend() const { return !error_ && spent_ < limits_.work_max; }

  /// Judges the seeds that were not judged yet, all of them or until one fails. Once the judge has returned an error,
  /// no count holds.
  bool holds(std::int64_t count, bool asks_all) {
    std::vector<bool>& seeds = seeds_of_[count];
    const auto has_failed = [&seeds] { return std::ranges::find(seeds, false) != seeds.end(); };
    while (!error_ && seeds.size() < limits_.seed_count && (asks_all || !has_failed())) {
      const Result<Verdict> verdict = judge_(count, seeds.size());
      if (!verdict) {
        error_ = verdict.error();
        break;
      }
      spent_ += verdict->work;
      seeds.push_back(verdict->holds);
    }
    return seeds.size() == limits_.seed_count && !has_failed();
  }

  /// The first count from 1 on that holds; 0: none, or the work ran out before.
  std::int64_t scan() {
    for (std::int64_t count = 1; count <= limits_.count_max && may_spend(); ++count) {
      if (holds(count, false)) return count;
      failed_ = count;
    }
    return 0;
  }

  /// A count above the scan that holds and whose neighbour below does not, by the grid and bisection; 0: none.
  std::int64_t bracket() {
    std::int64_t held = 0;
    for (std::int64_t count = next_on_grid(failed_); count <= limits_.count_max && !error_;
         count = next_on_grid(count)) {
      if (holds(count, false)) {
        held = count;
        break;
      }
      failed_ = count;
    }
    while (held - failed_ > 1 && !error_) {
      const std::int64_t middle = failed_ + (held - failed_) / 2;
      (holds(middle, false) ? held : failed_) = middle;
    }
    return held;
  }

  std::int64_t descend(std::int64_t count) {
    for (std::int64_t below = count - 1; below >= 1 && !error_; --below) {
      if (count - below > kNeighboursBelow && !may_spend()) break;
      if (holds(below, true)) count = below;
    }
    return count;
  }

  [[nodiscard]] SmallestCount answer(std::int64_t count) const {
    const std::int64_t all_below = count != 0 ? count - 1 : limits_.count_max;
    const auto tried_below = std::distance(seeds_of_.begin(), seeds_of_.upper_bound(all_below));
    SmallestCount found{
        .count = std::nullopt, .is_proven = tried_below == all_below, .count_by_seed = {}, .is_stable = std::nullopt};
    if (count == 0) return found;
    found.count = count;
    found.count_by_seed.reserve(limits_.seed_count);
    for (std::size_t seed = 0; seed < limits_.seed_count; ++seed) {
      found.count_by_seed.push_back(smallest_with(seed, count));
    }
    found.is_stable = stability(found);
    return found;
  }

  /// The smallest count that holds with the seed alone, if all below it were tried with it. Requires: `count` holds.
  [[nodiscard]] std::optional<std::int64_t> smallest_with(std::size_t seed, std::int64_t count) const {
    for (std::int64_t smaller = 1; smaller < count; ++smaller) {
      const auto tried = seeds_of_.find(smaller);
      if (tried == seeds_of_.end() || tried->second.size() <= seed) return std::nullopt;
      if (tried->second[seed]) return smaller;
    }
    return count;
  }

  [[nodiscard]] std::optional<bool> stability(const SmallestCount& found) const {
    if (limits_.seed_count == 1) return std::nullopt;
    const bool has_smaller = std::any_of(seeds_of_.begin(), seeds_of_.lower_bound(*found.count), [](const auto& tried) {
      return std::ranges::find(tried.second, true) != tried.second.end();
    });
    if (has_smaller) return false;
    const bool is_known = std::ranges::all_of(found.count_by_seed, [](const auto& known) { return known.has_value(); });
    return is_known ? std::optional(true) : std::nullopt;
  }

  const CountJudge& judge_;
  CountLimits limits_;
  std::map<std::int64_t, std::vector<bool>> seeds_of_;  ///< by count: the answers so far, in the order of the seeds
  std::int64_t failed_ = 0;  ///< the largest count known to fail, of those tried in ascending order
  std::int64_t spent_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<SmallestCount> smallest_count(const CountJudge& judge, CountLimits limits) {
  ENSURE(limits.count_max >= 1 && limits.seed_count >= 1 && limits.work_max >= 1);
  return CountSearch(judge, limits).run();
}

}  // namespace berth::study
