/// What a run looks like over time: who has how many GPUs, how long the queue is, when each job runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/core/int128.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/simulation.h"
#include "scheduling/jobs/workload.h"

namespace berth::sched {

/// A course has at most so many columns of equal width. Even: when a run goes beyond them they are joined in pairs.
inline constexpr std::int64_t kCourseColumnsMax = 480;
/// Jobs are followed one by one in lists of at most so many, and until they have started so often.
inline constexpr std::size_t kCourseJobsMax = 2'000;
inline constexpr std::size_t kCourseRunsMax = 400'000;
/// Tenants with jobs that are followed, and at most as many groups above them.
inline constexpr std::size_t kCourseTenantsMax = 24;

/// A tenant whose GPUs are followed.
struct FollowedTenant {
  TenantIndex tenant;
  std::size_t depth = 0;  ///< 0: at the top of the tree
  bool is_group = false;
};

/// In the order of the tree (a group before its members, siblings as listed): the tenants with the most work, and their
/// groups.
[[nodiscard]] std::vector<FollowedTenant> tenants_to_follow(const Workload& workload);

/// A whole number over time, as exact integrals by column.
struct CourseSeries {
  std::int64_t value = 0;
  Seconds since = 0;
  std::vector<Int128> integrals = {};  ///< value x seconds; columns after the last are 0
};

/// From one start of a job to its end.
struct JobRun {
  JobIndex job;
  Seconds start = 0;
  Seconds end = 0;
  bool is_restart = false;    ///< it begins with a restart
  bool is_preempted = false;  ///< it ends with a preemption
};

/// Collects a run instant by instant. O(what happens at it); memory is bounded by the constants above, and by the waits
/// of all jobs.
class RunCourse {
 public:
  /// The workload must outlive it.
  RunCourse(const Workload& workload, Policy policy);

  /// Behind each instant of the run (RunListener::passed).
  void add(const Simulation& simulation);

  [[nodiscard]] Policy policy() const { return policy_; }
  /// The last instant.
  [[nodiscard]] Seconds end() const { return end_; }
  /// The width of the columns; the last one may end later than the run.
  [[nodiscard]] Seconds column_seconds() const { return width_; }
  /// At least 1.
  [[nodiscard]] std::size_t columns() const;
  /// The mean of a series in a column, as far as that lies within the run.
  [[nodiscard]] double mean(const CourseSeries& series, std::size_t column) const;
  /// The same of the whole run.
  [[nodiscard]] double mean(const CourseSeries& series) const;

  /// Jobs that wait, and the GPUs that they ask for.
  [[nodiscard]] const CourseSeries& queued_jobs() const { return queued_jobs_; }
  [[nodiscard]] const CourseSeries& queued_gpus() const { return queued_gpus_; }
  /// GPUs that jobs hold.
  [[nodiscard]] const CourseSeries& used_gpus() const { return used_gpus_; }
  [[nodiscard]] std::span<const FollowedTenant> tenants() const { return tenants_; }
  /// GPUs that a tenant or group holds; `place`: in tenants().
  [[nodiscard]] const CourseSeries& use_of(std::size_t place) const { return uses_[place]; }
  /// From submit to the first start, of each job that has finished; in no particular order.
  [[nodiscard]] std::span<const Seconds> waits() const { return waits_; }
  /// Whether jobs are followed one by one.
  [[nodiscard]] bool has_runs() const { return has_runs_; }
  /// In the order of their starts.
  [[nodiscard]] std::span<const JobRun> runs() const { return runs_; }

 private:
  void change(CourseSeries& series, std::int64_t value, Seconds now) const;
  void widen(Seconds now);
  void follow(const Simulation& simulation);
  void follow_job(const LogEntry& entry, const JobRecord& record);

  const Workload* workload_;
  Policy policy_;
  Seconds end_ = 0;
  Seconds width_ = 1;
  CourseSeries queued_jobs_;
  CourseSeries queued_gpus_;
  CourseSeries used_gpus_;
  std::vector<FollowedTenant> tenants_;
  std::vector<CourseSeries> uses_;  ///< of tenants_
  std::vector<Seconds> waits_;
  bool has_runs_ = true;
  std::vector<JobRun> runs_;
  std::vector<std::size_t> last_run_;  ///< by job: its last in runs_
};

}  // namespace berth::sched
