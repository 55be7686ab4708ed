/// Policies that decide at multiples of the round, with preemption: las, srpt, fair. docs/reference/scheduling.md
/// states their rules.
#pragma once

#include <cstdint>
#include <vector>

#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

class RoundPolicy {
 public:
  /// One of the three.
  RoundPolicy(Policy policy, const Workload& workload);

  void arrived(const World& /*world*/, JobIndex job) { unfinished_.push_back(job); }
  void finished(const World& /*world*/, JobIndex /*job*/) {}
  /// O(u log u), u the jobs that are not finished.
  void decide(World& world);

  /// Waiting jobs, in the order in which they are considered (under `fair` poorer tenants take precedence).
  [[nodiscard]] std::vector<JobIndex> waiting(const World& world) const;
  /// As World::rebase.
  void rebase(const Workload& workload) { workload_ = &workload; }
  /// To be called when priorities have changed: they are read at each decision.
  void reorder() {}

 private:
  /// A job that may run in the next round.
  struct Candidate {
    JobIndex job;
    std::int64_t key = 0;  ///< lower goes first, among jobs of equal priority
    bool is_taken = false;
  };
  [[nodiscard]] std::vector<Candidate> candidates(const World& world) const;
  void take_in_order(std::vector<Candidate>& candidates, GpuCount free) const;
  void take_fairly(const World& world, std::vector<Candidate>& candidates, GpuCount free) const;

  Policy policy_;
  const Workload* workload_;
  std::vector<JobIndex> unfinished_;
};

}  // namespace berth::sched
