// Random job lists and trees: properties of every policy, and the laws that `berth` keeps, checked from the log and the
// inputs alone.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
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
  bool is_within_guarantee = false;  ///< its tenant, when it started
};

/// Follows a log and checks every line of it.
class LawCheck {
 public:
  LawCheck(const Workload& workload, const Terms& terms, Policy policy)
      : workload_(workload),
        terms_(terms),
        policy_(policy),
        jobs_(workload.jobs.size()),
        uses_(workload.tenants.size()),
        overdue_from_(workload.jobs.size()) {}

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
    if (policy_ != Policy::kBerth) return;
    check_protection(log, before);
    check_reach();
  }
  /// Follows an instant: who waits behind it is known then.
  void follow(const Simulation& simulation) {
    if (policy_ == Policy::kBerth) submit_until(simulation.world().now());
    uses_before_ = uses_;
    follow(simulation.log());
    if (policy_ == Policy::kBerth) check_precedence(simulation.log());
  }
  void end() const {
    RC_ASSERT(std::ranges::all_of(jobs_, [](const Seen& job) { return job.is_finished; }));
  }

 private:
  /// The bounds of docs/reference/scheduling.md, of those that are submitted by now. To be called before their instant
  /// is followed, but ends of jobs come before submits.
  void submit_until(Seconds now) {
    for (const JobIndex index : jobs_by_submit(workload_)) {
      const Job& job = workload_.job(index);
      if (job.submit > now || overdue_from_[static_cast<std::size_t>(index)]) continue;
      GpuCount asked = 0;
      longest_ = std::max(longest_, job.estimate.value_or(0));
      for (const JobIndex other : indices_of<JobIndex>(workload_.jobs)) {
        const Seen& known = seen(other);
        if (overdue_from_[static_cast<std::size_t>(other)] && !ends_by(other, job.submit)) {
          asked += workload_.job(other).gpus;
        }
        if (known.is_running) {
          const Seconds done = known.progress + std::max<Seconds>(0, job.submit - works_from(known));
          longest_ = std::max(longest_, std::min(done, workload_.job(other).duration));
        }
      }
      const Seconds turns = 4 * longest_ * (workload_.gpus + asked + job.gpus);
      overdue_from_[static_cast<std::size_t>(index)] = job.submit + (turns + workload_.gpus - 1) / workload_.gpus;
    }
  }
  [[nodiscard]] bool ends_by(JobIndex index, Seconds now) {
    const Seen& job = seen(index);
    return job.is_finished || (job.is_running && works_from(job) + workload_.job(index).duration - job.progress <= now);
  }

  /// No job starts or takes GPUs before an overdue one that was submitted earlier and goes first.
  void check_precedence(const std::vector<LogEntry>& log) {
    for (const LogEntry& entry : log) {
      if (entry.type == LogType::kPreempt && entry.beneficiary.job) {
        RC_ASSERT(!goes_before_when_overdue(entry.job, *entry.beneficiary.job, entry.time));
      }
      if (entry.type != LogType::kStart) continue;
      for (const JobIndex other : indices_of<JobIndex>(workload_.jobs)) {
        if (seen(other).is_running || seen(other).is_finished || workload_.job(other).submit > entry.time) continue;
        if (goes_before_when_overdue(other, entry.job, entry.time)) RC_ASSERT(is_excused(other, entry.job));
      }
    }
  }
  [[nodiscard]] bool goes_before_when_overdue(JobIndex first, JobIndex second, Seconds now) const {
    const Job& one = workload_.job(first);
    const Job& other = workload_.job(second);
    const auto from = overdue_from_[static_cast<std::size_t>(first)];
    return from && now >= *from && one.submit < other.submit && other.priority <= one.priority;
  }
  /// Guarantees, limits, and jobs that may not be preempted.
  [[nodiscard]] bool is_excused(JobIndex overdue, JobIndex started) {
    const Job& job = workload_.job(overdue);
    if (seen(started).is_within_guarantee) return true;
    bool is_limited = false;
    for_each_ancestor(workload_, job.tenant, [&](TenantIndex at) {
      const auto limit = workload_.tenant(at).limit;
      const GpuCount most = std::max(uses_[static_cast<std::size_t>(at)], uses_before_[static_cast<std::size_t>(at)]);
      is_limited = is_limited || (limit && most + job.gpus > *limit);
    });
    GpuCount fixed = 0;
    for (const JobIndex index : indices_of<JobIndex>(workload_.jobs)) {
      if (seen(index).is_running && !workload_.job(index).is_preemptible) fixed += workload_.job(index).gpus;
    }
    return is_limited || !job.is_preemptible || fixed + job.gpus > workload_.gpus;
  }

  /// Guarantees stay reachable: what tenants may be owed, with what their jobs hold that may not be preempted.
  void check_reach() {
    std::vector<GpuCount> owed(workload_.tenants.size());
    for (const JobIndex index : indices_of<JobIndex>(workload_.jobs)) {
      const Job& job = workload_.job(index);
      if (seen(index).is_running && !job.is_preemptible) owed[static_cast<std::size_t>(job.tenant)] += job.gpus;
    }
    GpuCount together = 0;
    // Parents come before their members in these lists.
    for (std::size_t at = workload_.tenants.size(); at-- > 0;) {
      const Tenant& tenant = workload_.tenants[at];
      owed[at] = std::max(owed[at], tenant.guaranteed);
      RC_ASSERT(!tenant.limit || owed[at] <= *tenant.limit);
      (tenant.parent ? owed[static_cast<std::size_t>(*tenant.parent)] : together) += owed[at];
    }
    RC_ASSERT(together <= workload_.gpus);
  }

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
    const GpuCount held = uses_[static_cast<std::size_t>(job.tenant)];
    seen(entry.job).is_within_guarantee = held <= workload_.tenant(job.tenant).guaranteed;
  }

  void finish(const LogEntry& entry) {
    Seen& job = seen(entry.job);
    RC_ASSERT(job.is_running);
    RC_ASSERT(works_from(job) + workload_.job(entry.job).duration - job.progress == entry.time);
    longest_ = std::max(longest_, workload_.job(entry.job).duration);
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
    longest_ = std::max(longest_, progress);
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
  std::vector<GpuCount> uses_before_;  ///< the instant that is followed
  GpuCount free_used_ = 0;
  std::vector<std::optional<Seconds>> overdue_from_;  ///< by job: once it is submitted
  Seconds longest_ = 600;                             ///< that is known to run, or expected to
  std::map<JobIndex, bool> started_before_;
  std::map<std::pair<JobIndex, JobIndex>, Seconds> taken_from_;  ///< victim and taker: the victim's progress then
};

RC_GTEST_PROP(Scheduling, KeepsItsLaws, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed).split("jobs"));
  const Terms terms = testing::random_terms(Rng(seed).split("terms"));
  for (const Policy policy : kPolicies) {
    LawCheck check(workload, terms, policy);
    RunListener listener;
    listener.passed = [&](const Simulation& simulation) { check.follow(simulation); };
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
