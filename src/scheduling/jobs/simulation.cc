#include "scheduling/jobs/simulation.h"

#include <algorithm>

#include "base/core/sort_stably.h"

namespace berth::sched {
namespace {

AnyPolicy make_policy(Policy policy, const Workload& workload) {
  if (policy == Policy::kBerth) return BerthPolicy(workload);
  if (decides_in_rounds(policy)) return RoundPolicy(policy, workload);
  return QueuePolicy(policy, workload);
}

std::optional<Seconds> earlier(std::optional<Seconds> a, std::optional<Seconds> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Simulation::Simulation(const Workload& workload, const Terms& terms, Policy policy)
    : workload_(&workload),
      world_(workload, terms),
      name_(policy),
      policy_(make_policy(policy, workload)),
      arrivals_(std::make_shared<const std::vector<JobIndex>>(jobs_by_submit(workload))) {}

bool Simulation::is_current(const End& end) const {
  return world_.is_running(end.job) && world_.end_of(end.job) == end.time;
}

std::optional<Seconds> Simulation::next_instant() const {
  std::optional<Seconds> next;
  if (!ends_.empty()) next = ends_.top().time;
  if (next_arrival_ < arrivals_->size()) next = earlier(next, workload_->job((*arrivals_)[next_arrival_]).submit);
  if (decides_in_rounds(name_)) {
    const Seconds round = world_.terms().round;
    if (world_.unfinished_count() > 0) next = earlier(next, (world_.now() / round + 1) * round);
  } else {
    next = earlier(next, wake_);
  }
  return next;
}

void Simulation::begin(Seconds to) {
  log_.clear();
  world_.advance(to);
  finish_jobs();
  for (; next_arrival_ < arrivals_->size(); ++next_arrival_) {
    const JobIndex job = (*arrivals_)[next_arrival_];
    if (workload_->job(job).submit > to) break;
    world_.submit(job);
    std::visit([&](auto& policy) { policy.arrived(world_, job); }, policy_);
  }
}

void Simulation::finish_jobs() {
  while (!ends_.empty() && ends_.top().time <= world_.now()) {
    const End end = ends_.top();
    ends_.pop();
    if (!is_current(end)) continue;
    world_.finish(end.job);
    std::visit([&](auto& policy) { policy.finished(world_, end.job); }, policy_);
  }
  // Drops the ends of preempted jobs, so that something happens at the next instant.
  while (!ends_.empty() && !is_current(ends_.top())) ends_.pop();
}

bool Simulation::is_decision_instant() const {
  return !decides_in_rounds(name_) || world_.now() % world_.terms().round == 0;
}

std::vector<JobIndex> Simulation::waiting() const {
  return std::visit([&](const auto& policy) { return policy.waiting(world_); }, policy_);
}

void Simulation::rebase(const Workload& workload) {
  workload_ = &workload;
  world_.rebase(workload);
  std::visit([&](auto& policy) { policy.rebase(workload); }, policy_);
  ends_ = {};
  for (const JobIndex job : world_.running()) push_end(job);
}

void Simulation::reorder() {
  std::visit([](auto& policy) { policy.reorder(); }, policy_);
}

void Simulation::decide() {
  if (is_decision_instant()) {
    std::visit([&](auto& policy) { policy.decide(world_); }, policy_);
    if (auto* berth = std::get_if<BerthPolicy>(&policy_)) wake_ = berth->wake(world_);
  }
  collect_log();
}

void Simulation::push_end(JobIndex job) {
  ends_.push({.time = world_.end_of(job), .submit = workload_->job(job).submit, .job = job});
}

void Simulation::collect_log() {
  log_ = world_.take_log();
  sort_stably(log_, &LogEntry::type);
  for (const LogEntry& entry : log_) {
    if (entry.type == LogType::kStart) push_end(entry.job);
  }
  while (!ends_.empty() && !is_current(ends_.top())) ends_.pop();
}

}  // namespace berth::sched
