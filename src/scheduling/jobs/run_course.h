/// The timeline of a run: the GPUs of each tenant, the length of the queue, when each job runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/core/int128.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/simulation.h"
#include "scheduling/jobs/workload.h"

namespace berth::sched {

/// The most columns of a timeline, of equal width. Even, because columns are joined in pairs when a run outgrows them.
inline constexpr std::int64_t kCourseColumnsMax = 480;
/// Jobs are recorded one by one only in lists of at most this many, and up to this many starts.
inline constexpr std::size_t kCourseJobsMax = 2'000;
inline constexpr std::size_t kCourseRunsMax = 400'000;
/// The most tenants with jobs that are recorded, and the most groups above them.
inline constexpr std::size_t kCourseTenantsMax = 24;

/// A tenant whose GPUs are recorded.
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

/// One run of a job, from a start to the end or a preemption.
struct JobRun {
  JobIndex job;
  Seconds start = 0;
  Seconds end = 0;
  bool is_restart = false;    ///< it begins with a restart
  bool is_preempted = false;  ///< it ends with a preemption
};

/// Records a run instant by instant. O(events of the instant); memory is bounded by the constants above and the waits
/// of all jobs.
class RunCourse {
 public:
  /// The workload must outlive it.
  RunCourse(const Workload& workload, Policy policy);

  /// To be called after each instant of the run (RunListener::passed).
  void add(const Simulation& simulation);

  [[nodiscard]] Policy policy() const { return policy_; }
  /// The last instant.
  [[nodiscard]] Seconds end() const { return end_; }
  /// The width of the columns; the last one may end later than the run.
  [[nodiscard]] Seconds column_seconds() const { return width_; }
  /// At least 1.
  [[nodiscard]] std::size_t columns() const;
  /// The mean of a series over the part of a column that lies within the run.
  [[nodiscard]] double mean(const CourseSeries& series, std::size_t column) const;
  /// The mean over the whole run.
  [[nodiscard]] double mean(const CourseSeries& series) const;

  /// Waiting jobs, and the GPUs that they request.
  [[nodiscard]] const CourseSeries& queued_jobs() const { return queued_jobs_; }
  [[nodiscard]] const CourseSeries& queued_gpus() const { return queued_gpus_; }
  /// GPUs that jobs hold.
  [[nodiscard]] const CourseSeries& used_gpus() const { return used_gpus_; }
  [[nodiscard]] std::span<const FollowedTenant> tenants() const { return tenants_; }
  /// GPUs that a tenant or group holds; `place`: index into tenants().
  [[nodiscard]] const CourseSeries& use_of(std::size_t place) const { return uses_[place]; }
  /// From submit to the first start, of each job that has finished; in no particular order.
  [[nodiscard]] std::span<const Seconds> waits() const { return waits_; }
  /// Whether jobs are recorded one by one.
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
