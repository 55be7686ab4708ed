/// Keeps the share of promises that hold near 90 %.
///
/// Each estimate promises that a job starts by some second. The outcomes of the promises so far determine how far the
/// next ones must be widened or may be narrowed: by the share of misses in excess of 10 %, over all promises of the
/// run,
///
///     excess = (missed - 0.1 decided) / (decided + pending + 20).
///
/// A promise is decided when the job starts or when its second has passed, so that jobs which wait longer than promised
/// count as soon as that is clear. Pending ones count only in the denominator: while most outcomes are still open the
/// correction is small, which keeps a delay of thousands of jobs from making it oscillate.
///
/// Source of the idea: Gibbs and Candes, "Adaptive conformal inference under distribution shift", NeurIPS 2021, with a
/// correction in proportion to the accumulated excess instead of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "scheduling/jobs/workload.h"

namespace berth::sched {

class CoverageControl {
 public:
  explicit CoverageControl(std::size_t jobs) : is_pending_(jobs), promised_(jobs) {}

  /// Records the promise that a waiting job starts by `by`.
  void promise(JobIndex job, Seconds by);
  /// Records the start of a job; jobs without a promise are ignored.
  void started(JobIndex job, Seconds at);
  /// Counts pending promises for a second before `now` as missed.
  void pass(Seconds now);

  /// Whether the job's promise may still hold.
  [[nodiscard]] bool is_pending(JobIndex job) const { return is_pending_[static_cast<std::size_t>(job)]; }
  /// From -0.1 to 0.9.
  [[nodiscard]] double excess() const;

 private:
  using Promise = std::pair<Seconds, JobIndex>;
  void decide(JobIndex job, bool is_missed);

  std::vector<bool> is_pending_;   ///< by job
  std::vector<Seconds> promised_;  ///< by job
  std::priority_queue<Promise, std::vector<Promise>, std::greater<>> next_;
  std::int64_t pending_ = 0;
  std::int64_t decided_ = 0;
  std::int64_t missed_ = 0;
};

}  // namespace berth::sched
