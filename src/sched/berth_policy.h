#pragma once
#include "sched/queue_policy.h"
namespace berth::sched {
class BerthPolicy {
 public:
  BerthPolicy(const Workload& workload, const Terms&) : q_(Policy::kSkip, workload) {}
  void arrived(const World& world, JobIndex job) { q_.arrived(world, job); }
  void finished(const World& world, JobIndex job) { q_.finished(world, job); }
  void decide(World& world) { q_.decide(world); }
  [[nodiscard]] std::optional<Seconds> wake() const { return std::nullopt; }
 private:
  QueuePolicy q_;
};
}  // namespace berth::sched
