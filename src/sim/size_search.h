/// The smallest count that holds, where every question costs a replay and nothing says that more GPUs are never worse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"

namespace berth::sim {

/// Whether a count holds with one seed. Asked at most once for each pair; the seeds of a count in order.
using CountJudge = std::function<Result<bool>(std::int64_t count, std::size_t seed_index)>;

struct CountLimits {
  std::int64_t count_max = 1;  ///< >= 1
  std::size_t seed_count = 1;  ///< >= 1
};

struct SmallestCount {
  std::optional<std::int64_t> count;  ///< absent: no count that was tried holds with every seed
  /// Each seed alone has the same smallest count among those tried; absent without a count, or with one seed only.
  std::optional<bool> is_stable;
};

/// So many counts below an answer are tried with every seed, whatever the bisection says.
inline constexpr std::int64_t kNeighboursBelow = 2;

/// A count holds when it does so with every seed; the first seed that fails ends it. Doubling from 1 finds a count that
/// holds (at the end `count_max` and its neighbours below), bisection one whose neighbour below does not. Then the
/// neighbours below are tried with all seeds, and where one holds the search goes on from it; last the neighbour above,
/// so that an answer by luck can be seen. Exact where the counts that hold are monotone; else every count tried below
/// the answer is known not to hold. O(log(answer)) counts, and kNeighboursBelow for each step down. Error: the judge's.
[[nodiscard]] Result<SmallestCount> smallest_count(const CountJudge& judge, CountLimits limits);

}  // namespace berth::sim
