#include "scheduling/jobs/world.h"

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::sched {

World::World(const Workload& workload, const Terms& terms)
    : workload_(&workload),
      terms_(terms),
      free_gpus_(workload.gpus),
      records_(workload.jobs.size()),
      running_place_(workload.jobs.size()),
      uses_(workload.tenants.size()) {
  for (const TenantIndex tenant : indices_of<TenantIndex>(workload.tenants)) {
    const GpuCount guaranteed = workload.tenant(tenant).guaranteed;
    uses_[static_cast<std::size_t>(tenant)].reserved = guaranteed;
    const auto parent = workload.tenant(tenant).parent;
    (parent ? uses_[static_cast<std::size_t>(*parent)].fixed : reserved_gpus_) += guaranteed;
  }
}

Seconds World::progress(JobIndex job) const {
  const JobRecord& record = this->record(job);
  if (record.state != JobState::kRunning) return record.progress;
  const Seconds works_from = record.started + (record.is_restart ? terms_.restart : 0);
  return record.progress + std::max<Seconds>(0, now_ - works_from);
}

Seconds World::kept_progress(JobIndex job) const {
  const Seconds checkpoint = workload_->job(job).checkpoint;
  const Seconds done = progress(job);
  return checkpoint > 0 ? done / checkpoint * checkpoint : done;
}

bool World::may_preempt(JobIndex job) const {
  return is_running(job) && workload_->job(job).is_preemptible && now_ - record(job).started >= terms_.min_run;
}

Seconds World::end_of(JobIndex job) const {
  const JobRecord& record = this->record(job);
  return record.started + (record.is_restart ? terms_.restart : 0) + workload_->job(job).duration - record.progress;
}

bool World::is_within_limits(TenantIndex tenant, GpuCount more) const {
  for (std::optional<TenantIndex> at = tenant; at; at = workload_->tenant(*at).parent) {
    const std::optional<GpuCount> limit = workload_->tenant(*at).limit;
    if (limit && use_of(*at) + more > *limit) return false;
  }
  return true;
}

World::FixedRoom World::fixed_room(TenantIndex tenant) const {
  const Use& use = uses_[static_cast<std::size_t>(tenant)];
  const std::optional<TenantIndex> parent = workload_->tenant(tenant).parent;
  FixedRoom room = parent ? fixed_room(*parent) : FixedRoom{.gpus = workload_->gpus - reserved_gpus_};
  const std::optional<GpuCount> limit = workload_->tenant(tenant).limit;
  if (limit && *limit - use.reserved < room.gpus) room = {.gpus = *limit - use.reserved, .within = tenant};
  room.gpus += use.reserved - use.fixed;  // up to its guarantee nothing more is owed
  return room;
}

bool World::keeps_guarantees_reachable(JobIndex index) const {
  const Job& job = workload_->job(index);
  return job.is_preemptible || job.gpus <= fixed_room(job.tenant).gpus;
}

void World::advance(Seconds to) {
  ENSURE(to >= now_);
  asked_gpu_seconds_ += Int128(asked_gpus_) * (to - now_);
  now_ = to;
}

void World::submit(JobIndex job) {
  JobRecord& record = at(job);
  ENSURE(record.state == JobState::kNotSubmitted);
  record.state = JobState::kWaiting;
  record.asked_at_submit = asked_gpu_seconds_;
  asked_gpus_ += workload_->job(job).gpus;
  ++unfinished_count_;
}

void World::start(JobIndex job) {
  JobRecord& record = at(job);
  ENSURE(record.state == JobState::kWaiting && workload_->job(job).gpus <= free_gpus_);
  record.state = JobState::kRunning;
  record.is_restart = record.first_start.has_value();
  record.started = now_;
  if (!record.first_start) record.first_start = now_;
  running_place_[static_cast<std::size_t>(job)] = static_cast<std::int32_t>(running_.size());
  running_.push_back(job);
  change_use(job, workload_->job(job).gpus);
  log_.push_back({.time = now_, .type = LogType::kStart, .job = job});
}

void World::preempt(JobIndex job, const Beneficiary& beneficiary, std::string reason) {
  ENSURE(may_preempt(job));
  const Seconds kept = kept_progress(job);
  stop(job);
  JobRecord& record = at(job);
  record.state = JobState::kWaiting;
  stopped_progress_ += kept - record.progress;
  record.progress = kept;
  ++record.preemptions;
  ++preemption_count_;
  log_.push_back(
      {.time = now_, .type = LogType::kPreempt, .job = job, .beneficiary = beneficiary, .reason = std::move(reason)});
}

void World::finish(JobIndex job) {
  ENSURE(is_running(job) && end_of(job) == now_);
  stop(job);
  JobRecord& record = at(job);
  record.state = JobState::kFinished;
  stopped_progress_ += workload_->job(job).duration - record.progress;
  record.progress = workload_->job(job).duration;
  record.asked_at_finish = asked_gpu_seconds_;
  asked_gpus_ -= workload_->job(job).gpus;
  --unfinished_count_;
  log_.push_back({.time = now_, .type = LogType::kFinish, .job = job});
}

void World::stop(JobIndex job) {
  JobRecord& record = at(job);
  const GpuCount gpus = workload_->job(job).gpus;
  if (record.is_restart) restart_gpu_seconds_ += Int128(gpus) * std::min(now_ - record.started, terms_.restart);
  record.stopped = now_;
  const std::int32_t place = running_place_[static_cast<std::size_t>(job)];
  running_[static_cast<std::size_t>(place)] = running_.back();
  running_place_[static_cast<std::size_t>(running_.back())] = place;
  running_.pop_back();
  change_use(job, -gpus);
}

void World::change_use(JobIndex job, GpuCount by) {
  free_gpus_ -= by;
  for_each_ancestor(*workload_, workload_->job(job).tenant, [&](TenantIndex tenant) {
    Use& use = uses_[static_cast<std::size_t>(tenant)];
    const Seconds held = now_ - use.since;
    use.gpu_seconds += Int128(use.gpus) * held;
    use.borrowed_gpu_seconds += Int128(std::max<GpuCount>(0, use.gpus - workload_->tenant(tenant).guaranteed)) * held;
    use.since = now_;
    use.gpus += by;
  });
  if (!workload_->job(job).is_preemptible) change_fixed(workload_->job(job).tenant, by);
}

void World::change_fixed(TenantIndex tenant, GpuCount by) {
  fixed_gpus_ += by;
  for_each_ancestor(*workload_, tenant, [&](TenantIndex at) {
    Use& use = uses_[static_cast<std::size_t>(at)];
    use.fixed += by;
    const GpuCount reserved = std::max(workload_->tenant(at).guaranteed, use.fixed);
    by = reserved - use.reserved;
    use.reserved = reserved;
  });
  reserved_gpus_ += by;
}

void World::rebase(const Workload& workload) {
  ENSURE(workload.jobs.size() == records_.size() && workload.tenants.size() == uses_.size());
  free_gpus_ += workload.gpus - workload_->gpus;
  ENSURE(free_gpus_ >= 0);
  workload_ = &workload;
}

std::vector<LogEntry> World::take_log() { return std::exchange(log_, {}); }

}  // namespace berth::sched
