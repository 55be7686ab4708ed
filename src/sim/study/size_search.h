/// The search for the smallest count that holds, where each question costs a replay and more GPUs may be worse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/core/result.h"

namespace berth::study {

/// The result of a count with one seed.
struct Verdict {
  bool holds = false;
  std::int64_t work =
      1;  ///< the work of the replay, >= 1, in a unit that depends on the question alone (never on a clock)
};

/// Whether a count holds with one seed. Asked at most once for each pair; the seeds of a count in order.
using CountJudge = std::function<Result<Verdict>(std::int64_t count, std::size_t seed_index)>;

struct CountLimits {
  std::int64_t count_max = 1;  ///< >= 1
  std::size_t seed_count = 1;  ///< >= 1
  std::int64_t work_max = 1;   ///< >= 1: once this much is spent, no further count is tried for a proof
};

struct SmallestCount {
  std::optional<std::int64_t> count;  ///< absent: no count that was tried holds with every seed
  /// Whether every smaller count was tried and does not hold; without a `count`: every count up to count_max.
  bool is_proven = false;
  /// For each seed the smallest count that holds with that seed alone; absent if some smaller count was not tried with
  /// it. Empty without a `count`.
  std::vector<std::optional<std::int64_t>> count_by_seed;
  /// Whether `count` is the smallest for each seed alone; absent if that is not known, or with one seed only.
  std::optional<bool> is_stable;
};

/// This many counts below an answer are always tried with every seed, whatever that costs.
inline constexpr std::int64_t kNeighboursBelow = 2;

/// A count holds if it does with every seed. Tried, in this order:
/// - every count from 1 on until one holds, while `work_max` lasts; the first seed that fails ends a count;
/// - if `work_max` ran out: counts on a grid (m * 2^k, m from 4 to 7) until one holds, then bisection below that one;
/// - the counts below the answer, downward, with all seeds: its kNeighboursBelow neighbours, and more while `work_max`
///   lasts. One that holds is the new answer;
/// - the count above the answer, so that an answer due to chance can be seen.
/// A step depends on count_max only in that larger counts are left out: a larger count_max never turns a count into a
/// larger one or into none. Errors are those of the judge.
[[nodiscard]] Result<SmallestCount> smallest_count(const CountJudge& judge, CountLimits limits);

}  // namespace berth::study
