/// A policy and a pool that advance from instant to instant: jobs finish, jobs arrive, the policy decides.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <tuple>
#include <variant>
#include <vector>

#include "scheduling/jobs/berth_policy.h"
#include "scheduling/jobs/policy_name.h"
#include "scheduling/jobs/queue_policy.h"
#include "scheduling/jobs/round_policy.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {

using AnyPolicy = std::variant<QueuePolicy, RoundPolicy, BerthPolicy>;

/// A value: a copy continues independently. The workload must outlive it.
class Simulation {
 public:
  Simulation(const Workload& workload, const Terms& terms, Policy policy);

  /// The next instant at which something happens or the policy decides; nothing when all jobs have finished.
  [[nodiscard]] std::optional<Seconds> next_instant() const;
  /// Advances to an instant and applies its finishes and arrivals. Requires: `to` is not later than next_instant().
  void begin(Seconds to);
  /// Makes the decision of the instant that has begun, if the policy decides at it.
  void decide();
  /// Whether the policy decides now.
  [[nodiscard]] bool is_decision_instant() const;

  /// Waiting jobs, in the order in which the policy considers them.
  [[nodiscard]] std::vector<JobIndex> waiting() const;
  /// What-if: continues with a workload in which limits, priorities, durations or the number of GPUs differ
  /// (World::rebase).
  void rebase(const Workload& workload);
  /// To be called after it when priorities have changed. O(n log n), n all jobs.
  void reorder();
  /// What-if: no more jobs arrive.
  void stop_arrivals() { next_arrival_ = arrivals_->size(); }

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] Policy name() const { return name_; }
  [[nodiscard]] const AnyPolicy& policy() const { return policy_; }
  /// The events of the instant, after its decision, in the order in which they happened.
  [[nodiscard]] const std::vector<LogEntry>& log() const { return log_; }

 private:
  struct End {
    Seconds time = 0;
    Seconds submit = 0;
    JobIndex job;
    friend bool operator>(const End& a, const End& b) {
      return std::tuple(a.time, a.submit, a.job) > std::tuple(b.time, b.submit, b.job);
    }
  };
  void finish_jobs();
  void collect_log();
  void push_end(JobIndex job);
  [[nodiscard]] bool is_current(const End& end) const;

  const Workload* workload_;
  World world_;
  Policy name_;
  AnyPolicy policy_;
  std::shared_ptr<const std::vector<JobIndex>> arrivals_;  ///< by submit, then row
  std::size_t next_arrival_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::optional<Seconds> wake_;
  std::vector<LogEntry> log_;
};

}  // namespace berth::sched
