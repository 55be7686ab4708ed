/// Keeps the share of promises that hold near 90 %.
///
/// Each estimate promises that a job starts by some second. What became of the promises so far says how far the next
/// ones must be widened or may be narrowed: the share of misses in excess of 10 %, of all promises of the run,
///
///     excess = (missed - 0.1 decided) / (decided + pending + 20).
///
/// A promise is decided when the job starts or when its second has passed, so that jobs which wait longer than promised
/// count as soon as that is clear. Pending ones count in the denominator alone: as long as most outcomes lie ahead, the
/// correction is small, which keeps a delay of thousands of jobs from swinging it up and down.
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

  /// It is said that a waiting job starts by `by`.
  void promise(JobIndex job, Seconds by);
  /// A job starts; others than promised ones count nothing.
  void started(JobIndex job, Seconds at);
  /// What was promised for a second before `now` is missed.
  void pass(Seconds now);

  /// Whether what was promised may still hold.
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
