#include "scheduling/jobs/queue_outlook.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace berth::sched {
namespace {

constexpr Seconds kDrainSecondsMin = 600;
constexpr double kDrainSecondsMax = 1e9;
constexpr int kDrainRefined = 2;
/// The number of jobs that projections may examine: initially, and more for each look.
constexpr std::int64_t kProjectedFirst = 2'000'000;
constexpr std::int64_t kProjectedPerLook = 32;

}  // namespace

void Projection::reset(Seconds now, GpuCount free) {
  ends_.clear();
  free_ = free;
  time_ = now;
}

void Projection::add_end(Seconds end, GpuCount gpus) {
  ends_.emplace_back(end, gpus);
  std::ranges::push_heap(ends_, std::greater<>());
}

Seconds Projection::place(GpuCount gpus, Seconds runs) {
  while (free_ < gpus && !ends_.empty()) {
    std::ranges::pop_heap(ends_, std::greater<>());
    time_ = std::max(time_, ends_.back().first);
    free_ += ends_.back().second;
    ends_.pop_back();
  }
  free_ -= gpus;
  add_end(time_ + runs, gpus);
  return time_;
}

QueueOutlook::QueueOutlook(const Workload& workload)
    : workload_(&workload),
      place_(workload.jobs.size()),
      waiting_gpus_(workload.jobs.size() + 1),
      asked_(workload.jobs.size()),
      credit_(kProjectedFirst) {
  std::vector<JobIndex> order;
  order.reserve(workload.jobs.size());
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) order.push_back(job);
  std::ranges::sort(order, [&](JobIndex a, JobIndex b) { return goes_before(workload, a, b); });
  std::size_t place = 0;
  for (const JobIndex job : order) place_[static_cast<std::size_t>(job)] = ++place;
}

void QueueOutlook::change_waiting(JobIndex job, GpuCount by) {
  waiting_total_ += by;
  for (std::size_t at = place_[static_cast<std::size_t>(job)]; at < waiting_gpus_.size(); at += at & (~at + 1)) {
    waiting_gpus_[at] += by;
  }
}

GpuCount QueueOutlook::waiting_before(JobIndex job) const {
  GpuCount sum = 0;
  for (std::size_t at = place_[static_cast<std::size_t>(job)] - 1; at > 0; at -= at & (~at + 1))
    sum += waiting_gpus_[at];
  return sum;
}

void QueueOutlook::submitted(JobIndex job) {
  change_waiting(job, workload_->job(job).gpus);
  if (!workload_->job(job).estimate) ++unestimated_;
}

void QueueOutlook::started_first(JobIndex job, Seconds now) {
  const GpuCount gpus = workload_->job(job).gpus;
  change_waiting(job, -gpus);
  // Jobs without progress do not affect the learned durations yet.
  if (!workload_->job(job).estimate) durations_.submitted(*workload_, job);
  starts_.emplace_back(now, (starts_.empty() ? 0 : starts_.back().second) + gpus);
}

void QueueOutlook::finished(JobIndex job) {
  if (workload_->job(job).estimate) return;
  durations_.finished(*workload_, job);
  --unestimated_;
}

std::optional<double> QueueOutlook::drain(Seconds now, double wanted, Seconds back) const {
  const Seconds window = std::max(kDrainSecondsMin, back);
  const auto from = std::ranges::lower_bound(starts_, now - window, {}, [](const auto& start) { return start.first; });
  if (from == starts_.end()) return std::nullopt;
  const GpuCount before = from == starts_.begin() ? 0 : std::prev(from)->second;
  return wanted * static_cast<double>(window) / static_cast<double>(starts_.back().second - before);
}

Seconds QueueOutlook::remaining(const World& world, JobIndex job) {
  const std::optional<Seconds> estimate = workload_->job(job).estimate;
  if (!estimate) return durations_.remaining(world, job).median;
  const Seconds done = world.progress(job);
  return done < *estimate ? *estimate - done : std::max<Seconds>(1, done);
}

void QueueOutlook::begin_projection(const World& world) {
  projection_.reset(world.now(), world.free_gpus());
  for (const JobIndex job : world.running()) {
    const JobRecord& record = world.record(job);
    const Seconds works_from = record.started + (record.is_restart ? world.terms().restart : 0);
    const Seconds restart = std::max<Seconds>(0, works_from - world.now());
    projection_.add_end(world.now() + restart + remaining(world, job), workload_->job(job).gpus);
  }
  is_projected_ = true;
}

bool QueueOutlook::may_renew(std::size_t jobs) {
  credit_ += kProjectedPerLook;
  if (static_cast<std::int64_t>(jobs) > credit_) return false;
  credit_ -= static_cast<std::int64_t>(jobs);
  return true;
}

void QueueOutlook::project(const Simulation& simulation, const std::vector<JobIndex>& queue,
                           const std::vector<JobIndex>& jobs, std::vector<Outlook>& outlooks) {
  const World& world = simulation.world();
  begin_projection(world);
  std::size_t found = 0;
  for (const JobIndex job : queue) {
    const Seconds start = projection_.place(workload_->job(job).gpus, remaining(world, job));
    Outlook* outlook = outlook_of(job, outlooks);
    if (outlook == nullptr) continue;
    outlook->projection = static_cast<double>(start - world.now());
    if (++found == jobs.size() && simulation.name() == Policy::kBerth) return;
  }
}

std::vector<Outlook> QueueOutlook::look(const Simulation& simulation, const std::vector<JobIndex>& jobs) {
  std::vector<Outlook> outlooks(jobs.size());
  if (jobs.empty()) return outlooks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    asked_[static_cast<std::size_t>(jobs[i])] = static_cast<std::uint32_t>(i + 1);
  }
  if (simulation.name() == Policy::kBerth) {
    look_at_order(simulation, jobs, outlooks);
  } else {
    look_at_queue(simulation, jobs, outlooks);
  }
  for (const JobIndex job : jobs) asked_[static_cast<std::size_t>(job)] = 0;
  return outlooks;
}

Outlook* QueueOutlook::outlook_of(JobIndex job, std::vector<Outlook>& outlooks) const {
  const std::uint32_t place = asked_[static_cast<std::size_t>(job)];
  return place == 0 ? nullptr : &outlooks[place - 1];
}

void QueueOutlook::look_at_queue(const Simulation& simulation, const std::vector<JobIndex>& jobs,
                                 std::vector<Outlook>& outlooks) {
  const World& world = simulation.world();
  const Seconds now = world.now();
  const JobIndex head = *std::get<QueuePolicy>(simulation.policy()).first();
  const Seconds head_wait = now - workload_->job(head).submit;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    Outlook& outlook = outlooks[i];
    outlook.gpus_ahead = waiting_before(jobs[i]);
    outlook.head = static_cast<double>(head_wait);
    const auto wanted = static_cast<double>(outlook.gpus_ahead + workload_->job(jobs[i]).gpus);
    outlook.drain = drain(now, wanted, head_wait);
    // An answer longer than the time looked back over is recomputed over more of the past.
    for (int again = 0; again < kDrainRefined && outlook.drain; ++again) {
      const auto longer = static_cast<Seconds>(std::min(*outlook.drain, kDrainSecondsMax));
      outlook.drain = drain(now, wanted, std::max(head_wait, longer));
    }
  }
  if (may_renew(static_cast<std::size_t>(world.unfinished_count()))) {
    project(simulation, simulation.waiting(), jobs, outlooks);
    return;
  }
  // Behind all other jobs the projection is extended; anywhere else it would have to be recomputed.
  GpuCount asked = 0;
  for (const JobIndex job : jobs) asked += workload_->job(job).gpus;
  if (waiting_before(jobs.front()) + asked != waiting_total_) return;
  if (!is_projected_) begin_projection(world);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Seconds start = projection_.place(workload_->job(jobs[i]).gpus, remaining(world, jobs[i]));
    outlooks[i].projection = static_cast<double>(std::max<Seconds>(0, start - now));
  }
}

void QueueOutlook::look_at_order(const Simulation& simulation, const std::vector<JobIndex>& jobs,
                                 std::vector<Outlook>& outlooks) {
  const World& world = simulation.world();
  const std::vector<JobIndex>& order = std::get<BerthPolicy>(simulation.policy()).order();
  Seconds oldest = 0;
  GpuCount ahead = 0;
  for (const JobIndex job : order) {
    oldest = std::max(oldest, world.now() - workload_->job(job).submit);
    if (Outlook* outlook = outlook_of(job, outlooks)) outlook->gpus_ahead = ahead;
    ahead += workload_->job(job).gpus;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto wanted = static_cast<double>(outlooks[i].gpus_ahead + workload_->job(jobs[i]).gpus);
    outlooks[i].drain = drain(world.now(), wanted, oldest);
  }
  if (may_renew(order.size() + world.running().size())) project(simulation, order, jobs, outlooks);
}

}  // namespace berth::sched
