#include "sched/what_if.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace berth::sched {
namespace {

constexpr std::array<std::string_view, 4> kChangeNames = {"gpus", "limit", "priority", "preempt"};

/// Finds the fewest running jobs without which a job would start.
///
/// What is missing, in each group above the job that is at its limit and in the pool, are nested needs: of the jobs of
/// the innermost the largest until its need is met, then the largest of the next. No smaller number meets them all,
/// because any choice can be exchanged for the largest of the same group. A queue in front of the job may need more:
/// the next largest then.
class VictimSearch {
 public:
  VictimSearch(const Moment& moment, JobIndex job)
      : world_(moment.before.world()),
        workload_(world_.workload()),
        policy_(moment.before.name()),
        job_(job),
        what_if_(moment, job) {}

  [[nodiscard]] std::optional<Change> find() {
    collect_candidates();
    const std::vector<JobIndex> all = candidates_;
    if (obeys_limits(policy_)) {
      for_each_ancestor(workload_, workload_.job(job_).tenant, [&](TenantIndex at) {
        const std::optional<GpuCount> limit = workload_.tenant(at).limit;
        if (limit) take_largest(at, world_.use_of(at) + workload_.job(job_).gpus - *limit);
      });
    }
    take_largest(std::nullopt, workload_.job(job_).gpus - world_.free_gpus());
    const std::size_t fewest = std::max<std::size_t>(1, change_.jobs.size());
    const bool is_found = take_more();
    // Where others may start first, what suits the job need not be the largest.
    if (!is_found || change_.jobs.size() > fewest)
      try_all(all, fewest, is_found ? change_.jobs.size() - 1 : all.size());
    if (change_.jobs.empty()) return std::nullopt;
    prefer_cheaper();
    drop_needless();
    change_.by = std::ssize(change_.jobs);
    return change_;
  }

 private:
  [[nodiscard]] GpuCount gpus(JobIndex job) const { return workload_.job(job).gpus; }
  [[nodiscard]] GpuCount lost(JobIndex job) const {
    return gpus(job) * (world_.progress(job) - world_.kept_progress(job));
  }

  /// The largest first; of equals those that lose least, then the latest rows.
  void collect_candidates() {
    for (const JobIndex running : world_.running()) {
      if (running != job_ && world_.may_preempt(running)) candidates_.push_back(running);
    }
    std::ranges::sort(candidates_, {}, [&](JobIndex job) { return std::tuple(-gpus(job), lost(job), -job); });
  }

  [[nodiscard]] bool counts(JobIndex job, std::optional<TenantIndex> group) const {
    return !group || is_below(workload_, workload_.job(job).tenant, *group);
  }

  void take_largest(std::optional<TenantIndex> group, GpuCount missing) {
    for (const JobIndex taken : change_.jobs) missing -= counts(taken, group) ? gpus(taken) : 0;
    for (auto it = candidates_.begin(); it != candidates_.end() && missing > 0;) {
      if (!counts(*it, group)) {
        ++it;
        continue;
      }
      missing -= gpus(*it);
      change_.jobs.push_back(*it);
      it = candidates_.erase(it);
    }
  }

  /// Takes the fewest more with which the job starts; false, and nobody, if all do not help.
  bool take_more() {
    const std::vector<JobIndex> needed = change_.jobs;
    const auto with = [&](std::size_t more) {
      change_.jobs = needed;
      change_.jobs.insert(change_.jobs.end(), candidates_.begin(),
                          candidates_.begin() + static_cast<std::ptrdiff_t>(more));
      return !change_.jobs.empty() && what_if_.starts(change_);
    };
    if (with(0)) return true;
    std::size_t too_few = 0;
    std::size_t enough = candidates_.size();
    if (!with(enough)) {
      change_.jobs.clear();
      return false;
    }
    while (enough - too_few > 1) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      (with(middle) ? enough : too_few) = middle;
    }
    (void)with(enough);
    std::erase_if(candidates_,
                  [&](JobIndex job) { return std::ranges::find(change_.jobs, job) != change_.jobs.end(); });
    return true;
  }

  /// Tries sets of jobs, few first, as far as there is time.
  void try_all(const std::vector<JobIndex>& all, std::size_t fewest, std::size_t most) {
    std::int64_t left = kSetsMax;
    for (std::size_t size = fewest; size <= most && left > 0; ++size) {
      std::vector<std::size_t> chosen(size);
      std::iota(chosen.begin(), chosen.end(), std::size_t{0});
      for (bool has_next = size <= all.size(); has_next && left > 0; has_next = advance(chosen, all.size()), --left) {
        Change change{.kind = ChangeKind::kPreempt, .where = "pool"};
        for (const std::size_t index : chosen) change.jobs.push_back(all[index]);
        if (!what_if_.starts(change)) continue;
        change_ = std::move(change);
        candidates_ = all;
        std::erase_if(candidates_, [&](JobIndex job) { return is_chosen(job); });
        return;
      }
    }
  }

  /// The next combination of places below `count` in lexicographic order; false behind the last.
  static bool advance(std::vector<std::size_t>& chosen, std::size_t count) {
    for (std::size_t i = chosen.size(); i > 0; --i) {
      if (chosen[i - 1] + 1 > count - (chosen.size() - i) - 1) continue;
      ++chosen[i - 1];
      for (std::size_t k = i; k < chosen.size(); ++k) chosen[k] = chosen[k - 1] + 1;
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_chosen(JobIndex job) const {
    return std::ranges::find(change_.jobs, job) != change_.jobs.end();
  }

  /// Exchanges victims for others that would lose less, as long as the job still starts.
  void prefer_cheaper() {
    std::ranges::sort(candidates_, {}, [&](JobIndex job) { return std::tuple(lost(job), gpus(job), -job); });
    for (JobIndex& victim : change_.jobs) {
      for (std::size_t i = 0; i < std::min(candidates_.size(), kExchangesMax) && lost(candidates_[i]) < lost(victim);
           ++i) {
        std::swap(victim, candidates_[i]);
        if (what_if_.starts(change_)) break;
        std::swap(victim, candidates_[i]);
      }
    }
  }

  /// `berth` preempts by itself too, and may then need fewer.
  void drop_needless() {
    for (std::size_t i = 0; i < change_.jobs.size() && change_.jobs.size() > 1;) {
      Change fewer = change_;
      fewer.jobs.erase(fewer.jobs.begin() + static_cast<std::ptrdiff_t>(i));
      if (what_if_.starts(fewer)) {
        change_ = std::move(fewer);
        i = 0;
      } else {
        ++i;
      }
    }
  }

  static constexpr std::size_t kExchangesMax = 8;
  static constexpr std::int64_t kSetsMax = 1'000;

  const World& world_;
  const Workload& workload_;
  Policy policy_;
  JobIndex job_;
  WhatIf what_if_;
  std::vector<JobIndex> candidates_;
  Change change_{.kind = ChangeKind::kPreempt, .where = "pool"};
};

/// By how much a job's priority must grow to pass others: to be level with each that is above it, or before it.
std::vector<std::int64_t> priority_steps(const World& world, JobIndex job) {
  const Workload& workload = world.workload();
  const std::int64_t own = workload.job(job).priority;
  std::vector<std::int64_t> steps = {1};
  for (const JobIndex other : indices_of<JobIndex>(workload.jobs)) {
    const JobState state = world.record(other).state;
    if (state != JobState::kWaiting && state != JobState::kRunning) continue;
    const std::int64_t above = workload.job(other).priority - own;
    if (above > 0) steps.push_back(above);
    if (above >= 0) steps.push_back(above + 1);
  }
  std::ranges::sort(steps);
  const auto repeated = std::ranges::unique(steps);
  steps.erase(repeated.begin(), repeated.end());
  return steps;
}

}  // namespace

std::string_view name_of(ChangeKind kind) { return kChangeNames[static_cast<std::size_t>(kind)]; }

WhatIf::WhatIf(const Moment& moment, JobIndex job)
    : moment_(&moment), job_(job), workload_(moment.before.world().workload()) {}

void WhatIf::apply(const Change& change, std::int64_t sign) {
  const std::int64_t by = sign * change.by;
  if (change.kind == ChangeKind::kGpus) workload_.gpus += by;
  if (change.kind == ChangeKind::kPriority) workload_.jobs[static_cast<std::size_t>(job_)].priority += by;
  if (change.kind != ChangeKind::kLimit) return;
  for (Tenant& tenant : workload_.tenants) {
    if (tenant.name == change.where && tenant.limit) *tenant.limit += by;
  }
}

bool WhatIf::starts(const Change& change) {
  apply(change, 1);
  const bool does_start = starts_now(change);
  apply(change, -1);
  return does_start;
}

bool WhatIf::starts_now(const Change& change) const {
  Simulation run = moment_->before;
  run.rebase(workload_);
  if (change.kind == ChangeKind::kPriority) run.reorder();
  for (const JobIndex victim : change.jobs) run.world().preempt(victim, {.job = job_}, "what if");
  run.decide();
  if (!run.world().is_running(job_)) return false;
  return change.kind != ChangeKind::kPreempt || preempted_for_it(run) == std::ssize(change.jobs);
}

std::int64_t WhatIf::preempted_for_it(const Simulation& run) const {
  const TenantIndex tenant = run.world().workload().job(job_).tenant;
  return std::ranges::count_if(run.log(), [&](const LogEntry& entry) {
    return entry.type == LogType::kPreempt && (entry.beneficiary.job == job_ || entry.beneficiary.tenant == tenant);
  });
}

template <class AmountOf>
std::optional<Change> WhatIf::least_step(Change change, std::int64_t count, const AmountOf& amount_of) {
  const auto helps = [&](std::int64_t step) {
    change.by = amount_of(step);
    return starts(change);
  };
  // Where nobody passes the first of the queue, what is more helps more.
  const Policy policy = moment_->before.name();
  const std::int64_t tried = policy == Policy::kFifo || policy == Policy::kSjf ? 0 : std::min(count, kTriedOneByOne);
  for (std::int64_t step = 0; step < tried; ++step) {
    if (helps(step)) return change;
  }
  if (count <= tried || !helps(count - 1)) return std::nullopt;
  std::int64_t too_little = tried - 1;
  std::int64_t enough = count - 1;
  while (enough - too_little > 1) {
    const std::int64_t middle = too_little + (enough - too_little) / 2;
    (helps(middle) ? enough : too_little) = middle;
  }
  change.by = amount_of(enough);
  return change;
}

std::optional<Change> WhatIf::least_of(Change change, std::span<const std::int64_t> amounts) {
  return least_step(std::move(change), std::ssize(amounts),
                    [&](std::int64_t step) { return amounts[static_cast<std::size_t>(step)]; });
}

std::optional<Change> WhatIf::least(Change change, std::int64_t least, std::int64_t most) {
  return least_step(std::move(change), most - least + 1, [&](std::int64_t step) { return least + step; });
}

std::vector<Change> smallest_changes(const Moment& moment, JobIndex job) {
  const World& world = moment.before.world();
  const Workload& workload = world.workload();
  WhatIf what_if(moment, job);
  const Policy policy = moment.before.name();
  std::vector<Change> changes;
  const auto add = [&](std::optional<Change> change) {
    if (change) changes.push_back(std::move(*change));
  };
  const std::int64_t most = std::max<std::int64_t>(1, world.asked_gpus());
  const bool never_preempts = !decides_in_rounds(policy) && policy != Policy::kBerth;
  const GpuCount missing = never_preempts ? std::max<GpuCount>(1, workload.job(job).gpus - world.free_gpus()) : 1;
  add(what_if.least({.kind = ChangeKind::kGpus, .where = "pool"}, missing, most));
  if (obeys_limits(policy)) {
    for_each_ancestor(workload, workload.job(job).tenant, [&](TenantIndex at) {
      const Tenant& tenant = workload.tenant(at);
      if (tenant.limit) add(what_if.least({.kind = ChangeKind::kLimit, .where = tenant.name}, 1, most));
    });
  }
  add(what_if.least_of({.kind = ChangeKind::kPriority, .where = workload.job_names[static_cast<std::size_t>(job)]},
                       priority_steps(world, job)));
  if (!decides_in_rounds(policy)) add(VictimSearch(moment, job).find());
  return changes;
}

}  // namespace berth::sched
