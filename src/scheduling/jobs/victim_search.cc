#include "scheduling/jobs/victim_search.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduling/jobs/moment.h"

namespace berth::sched {
namespace {

/// Finds the fewest running jobs without which a job would start.
///
/// The GPUs that are missing in each group above the job that is at its limit, and in the pool, are nested needs: the
/// search takes the largest jobs of the innermost group until its need is met, then the largest of the next. No smaller
/// number meets them all, because any choice can be exchanged for the largest of the same group. A queue in front of
/// the job may need more: then the next largest.
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
    // If others may start first, the largest jobs need not be the right choice.
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

  /// The largest first; ties: those that lose least, then the latest rows.
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

  /// Takes as few more as needed for the job to start; false, taking none, if even all do not help.
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

  /// Tries sets of jobs, few first, at most kSetsMax.
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

  /// The next combination of indices below `count` in lexicographic order; false after the last.
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

  /// Exchanges victims for others that would lose less, while the job still starts.
  void prefer_cheaper() {
    std::ranges::sort(candidates_, {}, [&](JobIndex job) { return std::tuple(lost(job), gpus(job), -job); });
    std::int64_t left = kExchangesMax;
    for (JobIndex& victim : change_.jobs) {
      const std::size_t count = std::min(candidates_.size(), kExchangesOfOneMax);
      for (std::size_t i = 0; i < count && left > 0 && lost(candidates_[i]) < lost(victim); ++i, --left) {
        std::swap(victim, candidates_[i]);
        if (what_if_.starts(change_)) break;
        std::swap(victim, candidates_[i]);
      }
    }
  }

  /// Drops unneeded victims: `berth` also preempts on its own and may need fewer; other policies, if not all sets were
  /// tried.
  void drop_needless() {
    std::int64_t left = kOmissionsMax;
    for (std::size_t i = 0; i < change_.jobs.size() && change_.jobs.size() > 1 && left > 0; --left) {
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

  // Limits on the decisions tried.
  static constexpr std::int64_t kSetsMax = 1'000;
  static constexpr std::int64_t kExchangesMax = 400;
  static constexpr std::size_t kExchangesOfOneMax = 8;
  static constexpr std::int64_t kOmissionsMax = 400;

  const World& world_;
  const Workload& workload_;
  Policy policy_;
  JobIndex job_;
  WhatIf what_if_;
  std::vector<JobIndex> candidates_;
  Change change_{.kind = ChangeKind::kPreempt, .where = "pool"};
};

}  // namespace

std::optional<Change> fewest_to_preempt(const Moment& moment, JobIndex job) { return VictimSearch(moment, job).find(); }

}  // namespace berth::sched
