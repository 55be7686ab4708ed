#include "scheduling/jobs/queue_policy.h"

#include <algorithm>
#include <tuple>

#include "base/core/ensure.h"

namespace berth::sched {
namespace {

std::vector<JobIndex> order_of(Policy policy, const Workload& workload) {
  std::vector<JobIndex> order;
  order.reserve(workload.jobs.size());
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) order.push_back(job);
  const auto key = [&](JobIndex index) {
    const Job& job = workload.job(index);
    return std::tuple(-job.priority, policy == Policy::kSjf ? job.duration : 0, job.submit, index);
  };
  std::ranges::sort(order, {}, key);
  return order;
}

}  // namespace

QueuePolicy::QueuePolicy(Policy policy, const Workload& workload)
    : policy_(policy), workload_(&workload), waiting_(workload, order_of(policy, workload)) {
  if (policy == Policy::kEasy) estimates_.resize(workload.jobs.size());
}

void QueuePolicy::rebase(const Workload& workload) {
  workload_ = &workload;
  waiting_.rebase(workload);
}

void QueuePolicy::reorder() { waiting_.reorder(order_of(policy_, *workload_)); }

void QueuePolicy::arrived(const World& /*world*/, JobIndex index) {
  const Job& job = workload_->job(index);
  if (policy_ != Policy::kEasy) return waiting_.add(index, 0);
  const Seconds estimate = job.estimate ? *job.estimate : usual_durations_.of(job);
  estimates_[static_cast<std::size_t>(index)] = estimate;
  waiting_.add(index, estimate);
}

void QueuePolicy::finished(const World& /*world*/, JobIndex index) {
  if (policy_ == Policy::kEasy) usual_durations_.finished(workload_->job(index));
}

void QueuePolicy::start(World& world, JobIndex job) {
  world.start(job);
  waiting_.remove(job);
}

void QueuePolicy::start_while_first_fits(World& world) {
  for (auto first = waiting_.first(); first; first = waiting_.first()) {
    if (workload_->job(*first).gpus > world.free_gpus()) return;
    start(world, *first);
  }
}

void QueuePolicy::decide(World& world) {
  if (policy_ != Policy::kSkip) {
    start_while_first_fits(world);
    if (policy_ == Policy::kEasy && !waiting_.is_empty() && world.free_gpus() > 0) backfill(world);
    return;
  }
  std::optional<JobIndex> last;
  for (;;) {
    last = waiting_.first_that_fits({.gpus = world.free_gpus()}, last);
    if (!last) return;
    start(world, *last);
  }
}

void QueuePolicy::backfill(World& world) {
  const JobIndex head = *waiting_.first();
  const GpuCount wanted = workload_->job(head).gpus;
  // When running jobs are expected to end: overdue ones after as long again as they have run.
  std::vector<std::pair<Seconds, GpuCount>> ends;
  ends.reserve(world.running().size());
  for (const JobIndex job : world.running()) {
    const Seconds started = world.record(job).started;
    const Seconds expected = started + estimates_[static_cast<std::size_t>(job)];
    ends.emplace_back(expected > world.now() ? expected : 2 * world.now() - started, workload_->job(job).gpus);
  }
  std::ranges::sort(ends);
  GpuCount free = world.free_gpus();
  Seconds shadow = world.now();
  for (std::size_t i = 0; i < ends.size() && (free < wanted || ends[i].first == shadow); ++i) {
    shadow = ends[i].first;
    free += ends[i].second;
  }
  ENSURE(free >= wanted);
  GpuCount extra = free - wanted;
  std::optional<JobIndex> last = head;
  for (;;) {
    last = waiting_.first_that_fits({.gpus = world.free_gpus(), .seconds = shadow - world.now(), .gpus_longer = extra},
                                    last);
    if (!last) return;
    if (world.now() + estimates_[static_cast<std::size_t>(*last)] > shadow) extra -= workload_->job(*last).gpus;
    start(world, *last);
  }
}

}  // namespace berth::sched
