#include "sched/why.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace berth::sched {
namespace {

constexpr double kSecondsPerHour = 3600;

/// A run as it stands before the decision of a second.
struct Moment {
  Simulation run;
  bool has_event = false;
};

Moment moment_at(const Workload& workload, const Terms& terms, Policy policy, Seconds at) {
  Simulation run(workload, terms, policy);
  std::optional<Seconds> next = run.next_instant();
  for (; next && *next < at; next = run.next_instant()) {
    run.begin(*next);
    run.decide();
  }
  run.begin(at);
  return {.run = std::move(run), .has_event = next == at};
}

/// Tries changes of one moment.
class Probe {
 public:
  Probe(const Workload& workload, const Simulation& before, JobIndex job) : workload_(workload), before_(before), job_(job) {}

  /// Whether the job starts at the decision when this is changed.
  [[nodiscard]] bool starts(const Change& change) const {
    Workload changed = workload_;
    apply(changed, change);
    Simulation run = before_;
    run.rebase(changed);
    for (const JobIndex victim : change.jobs) run.world().preempt(victim, {.job = job_}, "what if");
    run.decide();
    return run.world().is_running(job_);
  }
  [[nodiscard]] bool starts_unchanged() const { return starts({.kind = ChangeKind::kPreempt}); }

  /// The least change by 1 to `most` that makes it start; one less does not. Nothing if even the most does not.
  [[nodiscard]] std::optional<Change> least(Change change, std::int64_t most) const {
    change.by = most;
    if (most < 1 || !starts(change)) return std::nullopt;
    std::int64_t too_little = 0;
    std::int64_t enough = most;
    while (enough - too_little > 1) {
      change.by = too_little + (enough - too_little) / 2;
      (starts(change) ? enough : too_little) = change.by;
    }
    change.by = enough;
    return change;
  }

 private:
  void apply(Workload& changed, const Change& change) const {
    if (change.kind == ChangeKind::kGpus) changed.gpus += change.by;
    if (change.kind == ChangeKind::kPriority) changed.jobs[static_cast<std::size_t>(job_)].priority += change.by;
    if (change.kind != ChangeKind::kLimit) return;
    for (Tenant& tenant : changed.tenants) {
      if (tenant.name == change.where && tenant.limit) *tenant.limit += change.by;
    }
  }

  const Workload& workload_;
  const Simulation& before_;
  JobIndex job_;
};

/// All that explains one job at one moment.
class Explainer {
 public:
  Explainer(const Workload& workload, const Moment& moment, JobIndex job)
      : workload_(workload), moment_(moment), job_(job), probe_(workload, moment.run, job), behind_(moment.run) {
    if (moment.has_event) behind_.decide();
  }

  Explanation explain() {
    Explanation explanation{.job = job_, .as_of = world().now(), .verdict = verdict()};
    if (explanation.verdict != Verdict::kWaiting) return explanation;
    explanation.ahead = ahead();
    explanation.blockers = blockers(explanation.ahead);
    explanation.changes = changes();
    return explanation;
  }

 private:
  [[nodiscard]] const World& world() const { return behind_.world(); }
  [[nodiscard]] const Job& job() const { return workload_.job(job_); }

  [[nodiscard]] Verdict verdict() const {
    switch (world().record(job_).state) {
      case JobState::kNotSubmitted:
        return Verdict::kNotSubmitted;
      case JobState::kRunning:
        return Verdict::kRunning;
      case JobState::kFinished:
        return Verdict::kFinished;
      case JobState::kWaiting:
        break;
    }
    return probe_.starts_unchanged() ? Verdict::kStartable : Verdict::kWaiting;
  }

  [[nodiscard]] Ahead ahead() const {
    Ahead ahead;
    for (const JobIndex other : behind_.waiting()) {
      if (other == job_) break;
      ahead.jobs.push_back(other);
      ahead.gpu_hours += static_cast<double>(workload_.job(other).gpus) * expected_seconds(other) / kSecondsPerHour;
    }
    return ahead;
  }

  /// What a waiting job still takes: by its estimate, or as policies with hindsight know; else by the mean of those that have
  /// finished.
  [[nodiscard]] double expected_seconds(JobIndex other) const {
    const Job& about = workload_.job(other);
    const auto progress = static_cast<double>(world().record(other).progress);
    if (has_hindsight(behind_.name())) return static_cast<double>(about.duration) - progress;
    if (about.estimate) return std::max(1.0, static_cast<double>(*about.estimate) - progress);
    return mean_finished();
  }

  [[nodiscard]] double mean_finished() const {
    double sum = 0;
    double count = 0;
    for (const JobIndex other : indices_of<JobIndex>(workload_.jobs)) {
      if (world().record(other).state != JobState::kFinished) continue;
      sum += static_cast<double>(workload_.job(other).duration);
      count += 1;
    }
    return count > 0 ? sum / count : 86'400;
  }

  [[nodiscard]] std::vector<Blocker> blockers(const Ahead& ahead) const {
    std::vector<Blocker> found;
    for_each_ancestor(workload_, job().tenant, [&](TenantIndex at) {
      const Tenant& tenant = workload_.tenant(at);
      if (!tenant.limit || world().use_of(at) + job().gpus <= *tenant.limit) return;
      found.push_back({BlockerCode::kLimit, job().gpus, *tenant.limit - world().use_of(at), tenant.name});
    });
    if (job().gpus > world().free_gpus()) found.push_back({BlockerCode::kCapacity, job().gpus, world().free_gpus(), "pool"});
    if (found.empty() && !ahead.jobs.empty()) {
      const JobIndex first = ahead.jobs.front();
      found.push_back({BlockerCode::kOrder, workload_.job(first).gpus, world().free_gpus(),
                       workload_.job_names[static_cast<std::size_t>(first)]});
    }
    if (!moment_.run.is_decision_instant()) {
      const Seconds round = world().terms().round;
      found.push_back({BlockerCode::kRound, (world().now() / round + 1) * round, world().now(), "pool"});
    }
    return found;
  }

  [[nodiscard]] std::vector<Change> changes() const {
    std::vector<Change> found;
    const auto add = [&](std::optional<Change> change) {
      if (change) found.push_back(std::move(*change));
    };
    GpuCount asked = 0;
    std::int64_t highest = job().priority;
    for (const JobIndex other : indices_of<JobIndex>(workload_.jobs)) {
      const JobState state = world().record(other).state;
      if (state != JobState::kWaiting && state != JobState::kRunning) continue;
      asked += workload_.job(other).gpus;
      highest = std::max(highest, workload_.job(other).priority);
    }
    add(probe_.least({.kind = ChangeKind::kGpus, .where = "pool"}, asked));
    for_each_ancestor(workload_, job().tenant, [&](TenantIndex at) {
      const Tenant& tenant = workload_.tenant(at);
      if (tenant.limit) add(probe_.least({.kind = ChangeKind::kLimit, .where = tenant.name}, asked));
    });
    const std::string& name = workload_.job_names[static_cast<std::size_t>(job_)];
    add(probe_.least({.kind = ChangeKind::kPriority, .where = name}, highest - job().priority + 1));
    if (!decides_in_rounds(behind_.name())) add(preemption());
    return found;
  }

  /// Running jobs without which it would start; with one of them less it would not.
  [[nodiscard]] std::optional<Change> preemption() const {
    const World& before = moment_.run.world();
    std::vector<JobIndex> candidates;
    for (const JobIndex running : before.running()) {
      if (before.may_preempt(running)) candidates.push_back(running);
    }
    // Those that lose least first.
    std::ranges::sort(candidates, {}, [&](JobIndex other) {
      return std::pair(workload_.job(other).gpus * (before.progress(other) - before.kept_progress(other)), -other);
    });
    Change change{.kind = ChangeKind::kPreempt, .where = workload_.job_names[static_cast<std::size_t>(job_)]};
    GpuCount free = before.free_gpus();
    bool is_enough = false;
    for (std::size_t i = 0; i < candidates.size() && !is_enough; ++i) {
      change.jobs.push_back(candidates[i]);
      free += workload_.job(candidates[i]).gpus;
      is_enough = free >= job().gpus && probe_.starts(change);
    }
    if (!is_enough) return std::nullopt;
    leave_out_those_not_needed(change);
    change.by = std::ssize(change.jobs);
    return change;
  }

  void leave_out_those_not_needed(Change& change) const {
    for (std::size_t i = change.jobs.size(); i > 0; --i) {
      Change fewer = change;
      fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(i - 1));
      if (!fewer.jobs.empty() && probe_.starts(fewer)) change = fewer;
    }
  }

  const Workload& workload_;
  const Moment& moment_;
  JobIndex job_;
  Probe probe_;
  Simulation behind_;
};

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotSubmitted:
      return "not_submitted";
    case Verdict::kStartable:
      return "startable";
    case Verdict::kRunning:
      return "running";
    case Verdict::kFinished:
      return "finished";
    case Verdict::kWaiting:
      break;
  }
  return "waiting";
}

std::string_view name_of(BlockerCode code) {
  switch (code) {
    case BlockerCode::kLimit:
      return "limit";
    case BlockerCode::kOrder:
      return "order";
    case BlockerCode::kRound:
      return "round";
    case BlockerCode::kCapacity:
      break;
  }
  return "capacity";
}

std::string_view name_of(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kLimit:
      return "limit";
    case ChangeKind::kPriority:
      return "priority";
    case ChangeKind::kPreempt:
      return "preempt";
    case ChangeKind::kGpus:
      break;
  }
  return "gpus";
}

Explanation explain(const Workload& workload, const Terms& terms, Policy policy, JobIndex job, Seconds at) {
  const Moment moment = moment_at(workload, terms, policy, at);
  return Explainer(workload, moment, job).explain();
}

bool would_start(const Workload& workload, const Terms& terms, Policy policy, JobIndex job, Seconds at, const Change& change) {
  const Moment moment = moment_at(workload, terms, policy, at);
  return Probe(workload, moment.run, job).starts(change);
}

}  // namespace berth::sched
