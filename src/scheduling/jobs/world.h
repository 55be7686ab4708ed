/// The pool while jobs run: which jobs run since when, their progress, and a log of events.
///
/// States of a job, and the only transitions: not submitted -> waiting -> running -> finished, and running -> waiting
/// (preempted).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/int128.h"
#include "scheduling/jobs/workload.h"

namespace berth::sched {

enum class JobState : std::uint8_t { kNotSubmitted, kWaiting, kRunning, kFinished };

/// The state of a job at an instant.
struct JobRecord {
  JobState state = JobState::kNotSubmitted;
  Seconds progress = 0;     ///< done before the last start
  Seconds started = 0;      ///< the last start
  bool is_restart = false;  ///< the last start was one after a preemption
  std::optional<Seconds> first_start = std::nullopt;
  Seconds stopped = 0;  ///< finished, or preempted the last time
  std::int32_t preemptions = 0;
  Int128 asked_at_submit = 0;  ///< GPU-seconds requested by all jobs up to its submit,
  Int128 asked_at_finish = 0;  ///< and up to its end
};

/// The job or tenant for which a job is preempted; neither: for the next round.
struct Beneficiary {
  std::optional<JobIndex> job = std::nullopt;
  std::optional<TenantIndex> tenant = std::nullopt;
};

enum class LogType : std::uint8_t { kFinish, kPreempt, kStart };

struct LogEntry {
  Seconds time = 0;
  LogType type = LogType::kStart;
  JobIndex job;
  Beneficiary beneficiary = {};  ///< of a preemption
  std::string reason = {};       ///< of a preemption
};

/// A value: a copy continues independently.
class World {
 public:
  World(const Workload& workload, const Terms& terms);

  [[nodiscard]] const Workload& workload() const { return *workload_; }
  [[nodiscard]] const Terms& terms() const { return terms_; }
  [[nodiscard]] Seconds now() const { return now_; }
  [[nodiscard]] GpuCount free_gpus() const { return free_gpus_; }
  [[nodiscard]] const JobRecord& record(JobIndex job) const { return records_[static_cast<std::size_t>(job)]; }
  [[nodiscard]] bool is_running(JobIndex job) const { return record(job).state == JobState::kRunning; }
  /// In no particular order.
  [[nodiscard]] std::span<const JobIndex> running() const { return running_; }
  /// GPUs used by a tenant, or by the members of a group.
  [[nodiscard]] GpuCount use_of(TenantIndex tenant) const { return uses_[static_cast<std::size_t>(tenant)].gpus; }
  /// GPUs on which jobs run that may not be preempted.
  [[nodiscard]] GpuCount fixed_gpus() const { return fixed_gpus_; }
  /// GPUs that a tenant may be owed at any time: what it is guaranteed, or what its jobs that may not be preempted
  /// hold, or what its members may be owed together, whichever is most.
  [[nodiscard]] GpuCount reserved_of(TenantIndex tenant) const {
    return uses_[static_cast<std::size_t>(tenant)].reserved;
  }
  /// How many GPUs more may go to jobs of a tenant that may not be preempted, so that all guarantees can be met: what
  /// the top tenants may be owed is at most the pool, and what any tenant may be owed within its limit. O(depth).
  struct FixedRoom {
    GpuCount gpus = 0;                                 ///< at least 0
    std::optional<TenantIndex> within = std::nullopt;  ///< the group whose limit it is; nothing: the pool
  };
  [[nodiscard]] FixedRoom fixed_room(TenantIndex tenant) const;
  /// Whether all guarantees can be met while the job runs. True for jobs that may be preempted.
  [[nodiscard]] bool keeps_guarantees_reachable(JobIndex job) const;
  /// GPUs asked for by submitted jobs that are not finished.
  [[nodiscard]] GpuCount asked_gpus() const { return asked_gpus_; }
  [[nodiscard]] std::int64_t unfinished_count() const { return unfinished_count_; }
  /// Seconds of progress up to now, and the part of it that a preemption now would keep.
  [[nodiscard]] Seconds progress(JobIndex job) const;
  [[nodiscard]] Seconds kept_progress(JobIndex job) const;
  /// Whether a running job may be preempted now.
  [[nodiscard]] bool may_preempt(JobIndex job) const;
  /// When a running job ends, if it is not preempted. Only the world and policies with hindsight may know.
  [[nodiscard]] Seconds end_of(JobIndex job) const;
  /// Whether a tenant and its ancestors stay within their limits with `more` additional GPUs.
  [[nodiscard]] bool is_within_limits(TenantIndex tenant, GpuCount more) const;

  /// Requires: not before now.
  void advance(Seconds to);
  /// Requires: not submitted yet.
  void submit(JobIndex job);
  /// Requires: it waits, and enough GPUs are free.
  void start(JobIndex job);
  /// Requires: may_preempt(job).
  void preempt(JobIndex job, const Beneficiary& beneficiary, std::string reason);
  /// Requires: it runs, and end_of(job) is now.
  void finish(JobIndex job);

  /// The events since the last call, in order.
  [[nodiscard]] std::vector<LogEntry> take_log();

  // Sums, up to now.
  /// Seconds of progress of all jobs before their last starts.
  [[nodiscard]] Int128 stopped_progress() const { return stopped_progress_; }
  [[nodiscard]] Int128 asked_gpu_seconds() const { return asked_gpu_seconds_; }
  [[nodiscard]] std::int64_t preemption_count() const { return preemption_count_; }
  [[nodiscard]] Int128 restart_gpu_seconds() const { return restart_gpu_seconds_; }
  /// GPU-seconds held by a tenant or group, and those of them above its guarantee.
  [[nodiscard]] Int128 gpu_seconds(TenantIndex tenant) const {
    return uses_[static_cast<std::size_t>(tenant)].gpu_seconds;
  }
  [[nodiscard]] Int128 borrowed_gpu_seconds(TenantIndex tenant) const {
    return uses_[static_cast<std::size_t>(tenant)].borrowed_gpu_seconds;
  }

  /// What-if: continues with a workload in which limits, priorities, durations or the number of GPUs differ. Requires:
  /// the same jobs and tenants, no fewer GPUs than are in use, and no running job that would have ended.
  void rebase(const Workload& workload);

 private:
  struct Use {
    GpuCount gpus = 0;
    GpuCount fixed = 0;     ///< of jobs that may not be preempted; of groups: what their members may be owed
    GpuCount reserved = 0;  ///< reserved_of
    Seconds since = 0;
    Int128 gpu_seconds = 0;
    Int128 borrowed_gpu_seconds = 0;
  };
  JobRecord& at(JobIndex job) { return records_[static_cast<std::size_t>(job)]; }
  void change_use(JobIndex job, GpuCount by);
  void change_fixed(TenantIndex tenant, GpuCount by);
  void stop(JobIndex job);

  const Workload* workload_;
  Terms terms_;
  Seconds now_ = 0;
  GpuCount free_gpus_ = 0;
  GpuCount fixed_gpus_ = 0;
  GpuCount reserved_gpus_ = 0;  ///< of the top tenants
  GpuCount asked_gpus_ = 0;     ///< of submitted jobs that are not finished
  std::vector<JobRecord> records_;
  std::vector<JobIndex> running_;
  std::vector<std::int32_t> running_place_;  ///< by job: its index in `running_`
  std::vector<Use> uses_;                    ///< by tenant
  std::vector<LogEntry> log_;
  Int128 asked_gpu_seconds_ = 0;
  Int128 restart_gpu_seconds_ = 0;
  Int128 stopped_progress_ = 0;
  std::int64_t preemption_count_ = 0;
  std::int64_t unfinished_count_ = 0;  ///< of submitted jobs
};

}  // namespace berth::sched
