// Random job lists and trees: properties of every policy, and the laws that `berth` keeps, checked from the log and the
// inputs alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "scheduling/jobs/study.h"
#include "scheduling/jobs/testing/small_workloads.h"

namespace berth::sched {
namespace {

/// A job as the log shows it.
struct Seen {
  bool is_running = false;
  bool is_finished = false;
  Seconds since = 0;     ///< the last start
  Seconds progress = 0;  ///< kept from before the last start
  bool is_restart = false;
};

/// Follows a log and checks every line of it.
class LawCheck {
 public:
  LawCheck(const Workload& workload, const Terms& terms, Policy policy)
      : workload_(workload),
        terms_(terms),
        policy_(policy),
        jobs_(workload.jobs.size()),
        uses_(workload.tenants.size()) {}

  void follow(const std::vector<LogEntry>& log) {
    const std::vector<GpuCount> before = uses_;
    std::vector<LogType> types;
    for (const LogEntry& entry : log) {
      types.push_back(entry.type);
      if (entry.type == LogType::kFinish) finish(entry);
      if (entry.type == LogType::kPreempt) preempt(entry);
      if (entry.type == LogType::kStart) start(entry);
    }
    RC_ASSERT(std::ranges::is_sorted(types));
    if (policy_ == Policy::kBerth) check_protection(log, before);
  }
  void end() const {
    RC_ASSERT(std::ranges::all_of(jobs_, [](const Seen& job) { return job.is_finished; }));
  }

 private:
  Seen& seen(JobIndex job) { return jobs_[static_cast<std::size_t>(job)]; }
  [[nodiscard]] Seconds works_from(const Seen& job) const { return job.since + (job.is_restart ? terms_.restart : 0); }
  void use(JobIndex job, GpuCount sign) {
    free_used_ += sign * workload_.job(job).gpus;
    for_each_ancestor(workload_, workload_.job(job).tenant,
                      [&](TenantIndex at) { uses_[static_cast<std::size_t>(at)] += sign * workload_.job(job).gpus; });
  }

  void start(const LogEntry& entry) {
    const Job& job = workload_.job(entry.job);
    RC_ASSERT(entry.time >= job.submit);
    RC_ASSERT(!seen(entry.job).is_running && !seen(entry.job).is_finished);
    use(entry.job, 1);
    RC_ASSERT(free_used_ <= workload_.gpus);
    if (policy_ == Policy::kBerth || policy_ == Policy::kFair) {
      for_each_ancestor(workload_, job.tenant, [&](TenantIndex at) {
        const auto limit = workload_.tenant(at).limit;
        RC_ASSERT(!limit || uses_[static_cast<std::size_t>(at)] <= *limit);
      });
    }
    seen(entry.job).is_restart = started_before_[entry.job];
    started_before_[entry.job] = true;
    seen(entry.job).is_running = true;
    seen(entry.job).since = entry.time;
  }

  void finish(const LogEntry& entry) {
    Seen& job = seen(entry.job);
    RC_ASSERT(job.is_running);
    RC_ASSERT(works_from(job) + workload_.job(entry.job).duration - job.progress == entry.time);
    job.is_running = false;
    job.is_finished = true;
    use(entry.job, -1);
  }

  void preempt(const LogEntry& entry) {
    Seen& job = seen(entry.job);
    const Job& about = workload_.job(entry.job);
    RC_ASSERT(job.is_running && about.is_preemptible);
    RC_ASSERT(entry.time - job.since >= terms_.min_run);
    RC_ASSERT(!entry.reason.empty());
    RC_ASSERT(decides_in_rounds(policy_) != (entry.beneficiary.job || entry.beneficiary.tenant));
    const Seconds progress = job.progress + std::max<Seconds>(0, entry.time - works_from(job));
    if (entry.beneficiary.job) {
      // A job may not lose its GPUs back to a job from which it took them unless it has made progress since.
      const auto pair = std::pair(*entry.beneficiary.job, entry.job);
      const auto earlier = taken_from_.find(pair);
      if (earlier != taken_from_.end()) RC_ASSERT(progress > earlier->second);
      taken_from_[std::pair(entry.job, *entry.beneficiary.job)] = seen(*entry.beneficiary.job).progress;
    }
    job.progress = about.checkpoint > 0 ? progress / about.checkpoint * about.checkpoint : progress;
    job.is_running = false;
    use(entry.job, -1);
  }

  /// A tenant at or below its guarantee loses nothing to one that is, or would be, above its own.
  void check_protection(const std::vector<LogEntry>& log, const std::vector<GpuCount>& before) const {
    for (const LogEntry& entry : log) {
      if (entry.type != LogType::kPreempt) continue;
      const TenantIndex victim = workload_.job(entry.job).tenant;
      const TenantIndex winner =
          entry.beneficiary.job ? workload_.job(*entry.beneficiary.job).tenant : *entry.beneficiary.tenant;
      if (victim == winner) continue;
      const bool had_to_lose = before[static_cast<std::size_t>(victim)] > workload_.tenant(victim).guaranteed;
      const bool is_within = uses_[static_cast<std::size_t>(winner)] <= workload_.tenant(winner).guaranteed;
      RC_ASSERT(had_to_lose || is_within);
    }
  }

  const Workload& workload_;
  Terms terms_;
  Policy policy_;
  std::vector<Seen> jobs_;
  std::vector<GpuCount> uses_;
  GpuCount free_used_ = 0;
  std::map<JobIndex, bool> started_before_;
  std::map<std::pair<JobIndex, JobIndex>, Seconds> taken_from_;  ///< victim and taker: the victim's progress then
};

RC_GTEST_PROP(Scheduling, KeepsItsLaws, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed).split("jobs"));
  const Terms terms = testing::random_terms(Rng(seed).split("terms"));
  for (const Policy policy : kPolicies) {
    LawCheck check(workload, terms, policy);
    RunListener listener;
    listener.passed = [&](const Simulation& simulation) { check.follow(simulation.log()); };
    const auto figures = run_policy(workload, terms, policy, listener);
    // Rounds shorter than a restart: `las` may exchange jobs for ever.
    if (!figures && decides_in_rounds(policy)) continue;
    RC_ASSERT(figures.has_value());
    check.end();
  }
}

RC_GTEST_PROP(Scheduling, ACopyOfASimulationGoesOnByItself, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed));
  for (const Policy policy : kPolicies) {
    if (decides_in_rounds(policy)) continue;  // they may exchange jobs for ever
    Simulation simulation(workload, {}, policy);
    for (int i = 0; i < 10 && simulation.next_instant(); ++i) {
      simulation.begin(*simulation.next_instant());
      simulation.decide();
    }
    Simulation copy = simulation;
    std::vector<std::pair<Seconds, JobIndex>> courses[2];
    for (Simulation* each : {&copy, &simulation}) {
      while (const auto next = each->next_instant()) {
        each->begin(*next);
        each->decide();
        for (const LogEntry& entry : each->log()) courses[each == &copy ? 0 : 1].emplace_back(entry.time, entry.job);
      }
    }
    RC_ASSERT(courses[0] == courses[1]);
  }
}

}  // namespace
}  // namespace berth::sched
