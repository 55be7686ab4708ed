#include "scheduling/jobs/round_policy.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "base/core/int128.h"

namespace berth::sched {
namespace {

/// The GPUs given to tenants in a round, and the jobs that each may still run.
class FairRound {
 public:
  explicit FairRound(const Workload& workload)
      : workload_(workload),
        given_(workload.tenants.size()),
        waiting_(workload.tenants.size()),
        next_(workload.tenants.size()) {}

  void give(TenantIndex tenant, GpuCount gpus) {
    for_each_ancestor(workload_, tenant, [&](TenantIndex at) { given_[static_cast<std::size_t>(at)] += gpus; });
  }
  /// To be called in the order of the tenant's jobs.
  void add_waiting(std::size_t candidate, JobIndex job) {
    waiting_[static_cast<std::size_t>(workload_.job(job).tenant)].push_back({.candidate = candidate, .job = job});
  }

  /// The candidates that get the free GPUs: repeatedly the next fitting job of the tenant with the least GPUs per
  /// weight. To be called once, after all GPUs in use are counted and all waiting jobs are added. O(n log t), n waiting
  /// jobs of t tenants.
  [[nodiscard]] std::vector<std::size_t> share(GpuCount free) {
    // Jobs belong to tenants without children: GPUs given to one make no other tenant here richer.
    const auto is_richer = [&](TenantIndex a, TenantIndex b) { return is_poorer(b, a); };
    std::priority_queue<TenantIndex, std::vector<TenantIndex>, decltype(is_richer)> poorest_first(is_richer);
    for (const TenantIndex tenant : indices_of<TenantIndex>(waiting_)) {
      if (has_fitting(tenant, free)) poorest_first.push(tenant);
    }
    std::vector<std::size_t> taken;
    while (!poorest_first.empty()) {
      const TenantIndex poorest = poorest_first.top();
      poorest_first.pop();
      if (!has_fitting(poorest, free)) continue;
      const auto place = static_cast<std::size_t>(poorest);
      const Waiting& next = waiting_[place][next_[place]++];
      taken.push_back(next.candidate);
      free -= workload_.job(next.job).gpus;
      give(poorest, workload_.job(next.job).gpus);
      poorest_first.push(poorest);
    }
    return taken;
  }

 private:
  struct Waiting {
    std::size_t candidate = 0;
    JobIndex job;
  };

  [[nodiscard]] bool fits(JobIndex job, GpuCount free) const {
    const GpuCount gpus = workload_.job(job).gpus;
    bool is_within = gpus <= free;
    for_each_ancestor(workload_, workload_.job(job).tenant, [&](TenantIndex at) {
      const std::optional<GpuCount> limit = workload_.tenant(at).limit;
      is_within = is_within && (!limit || given_[static_cast<std::size_t>(at)] + gpus <= *limit);
    });
    return is_within;
  }

  /// Advances to the tenant's next job that fits: a job that does not fit now will not fit later in this round.
  bool has_fitting(TenantIndex tenant, GpuCount free) {
    const auto place = static_cast<std::size_t>(tenant);
    while (next_[place] < waiting_[place].size() && !fits(waiting_[place][next_[place]].job, free)) ++next_[place];
    return next_[place] < waiting_[place].size();
  }

  [[nodiscard]] bool is_poorer(TenantIndex a, TenantIndex b) const {
    const Tenant& first = workload_.tenant(a);
    const Tenant& second = workload_.tenant(b);
    const Int128 left = Int128(given_[static_cast<std::size_t>(a)]) * second.weight;
    const Int128 right = Int128(given_[static_cast<std::size_t>(b)]) * first.weight;
    return left != right ? left < right : first.name < second.name;
  }

  const Workload& workload_;
  std::vector<GpuCount> given_;
  std::vector<std::vector<Waiting>> waiting_;
  std::vector<std::size_t> next_;
};

}  // namespace

RoundPolicy::RoundPolicy(Policy policy, const Workload& workload) : policy_(policy), workload_(&workload) {}

std::vector<RoundPolicy::Candidate> RoundPolicy::candidates(const World& world) const {
  std::vector<Candidate> all;
  all.reserve(unfinished_.size());
  for (const JobIndex index : unfinished_) {
    const Job& job = workload_->job(index);
    const Seconds progress = policy_ == Policy::kFair ? 0 : world.progress(index);
    const std::int64_t key = policy_ == Policy::kLas    ? job.gpus * progress
                             : policy_ == Policy::kSrpt ? job.duration - progress
                                                        : 0;
    all.push_back({.job = index, .key = key});
  }
  std::ranges::sort(all, {}, [&](const Candidate& candidate) {
    const Job& job = workload_->job(candidate.job);
    return std::tuple(-job.priority, candidate.key, job.submit, candidate.job);
  });
  return all;
}

void RoundPolicy::take_in_order(std::vector<Candidate>& candidates, GpuCount free) const {
  for (Candidate& candidate : candidates) {
    if (free == 0) return;
    const GpuCount gpus = workload_->job(candidate.job).gpus;
    if (candidate.is_taken || gpus > free) continue;
    candidate.is_taken = true;
    free -= gpus;
  }
}

void RoundPolicy::take_fairly(const World& /*world*/, std::vector<Candidate>& candidates, GpuCount free) const {
  FairRound round(*workload_);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Job& job = workload_->job(candidates[i].job);
    if (candidates[i].is_taken) {
      round.give(job.tenant, job.gpus);
    } else {
      round.add_waiting(i, candidates[i].job);
    }
  }
  for (const std::size_t taken : round.share(free)) candidates[taken].is_taken = true;
}

std::vector<JobIndex> RoundPolicy::waiting(const World& world) const {
  std::vector<JobIndex> jobs;
  for (const Candidate& candidate : candidates(world)) {
    if (world.record(candidate.job).state == JobState::kWaiting) jobs.push_back(candidate.job);
  }
  return jobs;
}

void RoundPolicy::decide(World& world) {
  std::erase_if(unfinished_, [&](JobIndex job) { return world.record(job).state == JobState::kFinished; });
  std::vector<Candidate> all = candidates(world);
  GpuCount free = world.free_gpus();
  for (Candidate& candidate : all) {
    if (!world.is_running(candidate.job)) continue;
    candidate.is_taken = !world.may_preempt(candidate.job);
    if (!candidate.is_taken) free += workload_->job(candidate.job).gpus;
  }
  if (policy_ == Policy::kFair) {
    take_fairly(world, all, free);
  } else {
    take_in_order(all, free);
  }
  for (const Candidate& candidate : all) {
    if (!candidate.is_taken && world.is_running(candidate.job)) {
      world.preempt(candidate.job, {}, "another job runs in this round");
    }
  }
  for (const Candidate& candidate : all) {
    if (candidate.is_taken && !world.is_running(candidate.job)) world.start(candidate.job);
  }
}

}  // namespace berth::sched
