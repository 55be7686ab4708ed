/// The smallest count that holds, where every question costs a replay and nothing says that more GPUs are never worse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"

namespace berth::study {

/// What a count with one seed gave.
struct Verdict {
  bool holds = false;
  std::int64_t work =
      1;  ///< what it cost to know, >= 1, in a unit that depends on the question alone (never on a clock)
};

/// Whether a count holds with one seed. Asked at most once for each pair; the seeds of a count in order.
using CountJudge = std::function<Result<Verdict>(std::int64_t count, std::size_t seed_index)>;

struct CountLimits {
  std::int64_t count_max = 1;  ///< >= 1
  std::size_t seed_count = 1;  ///< >= 1
  std::int64_t work_max = 1;   ///< >= 1: once so much is spent no further count is tried for the sake of a proof
};

struct SmallestCount {
  std::optional<std::int64_t> count;  ///< absent: no count that was tried holds with every seed
  /// Every smaller count was tried and does not hold; without a count: every count up to count_max.
  bool is_proven = false;
  /// For each seed the smallest count that holds with it alone; absent where a smaller count was not tried with it.
  /// Empty without a count.
  std::vector<std::optional<std::int64_t>> count_by_seed;
  /// Each seed alone has `count` as its smallest; absent where that is not known, and with one seed only.
  std::optional<bool> is_stable;
};

/// So many counts below an answer are tried with every seed, whatever that costs.
inline constexpr std::int64_t kNeighboursBelow = 2;

/// A count holds when it does so with every seed. In this order:
/// - Every count from 1 on until one holds, while `work_max` lasts; the first seed that fails ends a count.
/// - Where it did not last: counts on a grid (m * 2^k, m from 4 to 7) until one holds, and bisection below that one.
/// - The counts below the answer, downward, with all seeds: the neighbours, and more while `work_max` lasts. One that
///   holds is the new answer.
/// - The count above the answer, so that an answer by luck can be seen.
/// No step depends on count_max but by leaving out what lies above it: a larger count_max never turns a count into a
/// larger one or into none. Error: the judge's.
[[nodiscard]] Result<SmallestCount> smallest_count(const CountJudge& judge, CountLimits limits);

}  // namespace berth::study
