#include "scheduling/jobs/victims.h"

#include <algorithm>
#include <functional>

#include "base/core/sort_stably.h"

namespace berth::sched {
namespace {

/// One search: the jobs chosen, and the GPUs still missing.
class Search {
 public:
  Search(const TakingSituation& situation, JobIndex job, TakingRule rule)
      : situation_(situation),
        world_(*situation.world),
        workload_(world_.workload()),
        job_(workload_.job(job)),
        rule_(rule),
        missing_gpus_(job_.gpus - world_.free_gpus()),
        gone_(workload_.tenants.size()) {
    for_each_ancestor(workload_, job_.tenant, [&](TenantIndex at) {
      const std::optional<GpuCount> limit = workload_.tenant(at).limit;
      path_.push_back({.tenant = at,
                       .missing = limit ? world_.use_of(at) + job_.gpus - *limit : 0,
                       .has_limit = limit.has_value()});
    });
  }

  std::optional<std::vector<JobIndex>> find(std::vector<JobIndex> candidates) {
    std::ranges::sort(candidates,
                      [&](JobIndex a, JobIndex b) { return situation_.worths->yields_before(workload_, a, b); });
    if (choose(candidates) || (rule_ == TakingRule::kGuarantee && choose_for_guarantee(candidates))) {
      let_go_of_those_not_needed();
      return chosen_;
    }
    return std::nullopt;
  }

 private:
  struct PathStep {
    TenantIndex tenant;
    GpuCount missing = 0;  ///< above its limit, with the job
    bool has_limit = false;
  };

  /// Chooses candidates in order until they suffice; false, choosing none, if they do not.
  [[nodiscard]] bool choose(const std::vector<JobIndex>& candidates) {
    // Legality depends on the jobs chosen before, so skipped ones get another chance.
    for (bool has_changed = true; is_open() && has_changed;) {
      has_changed = false;
      for (const JobIndex candidate : candidates) {
        if (!is_open()) break;
        if (is_chosen(candidate) || !helps(candidate) || !is_legal(candidate)) continue;
        chosen_.push_back(candidate);
        count(candidate, 1);
        has_changed = true;
      }
    }
    if (!is_open()) return true;
    for (const JobIndex victim : chosen_) count(victim, -1);
    chosen_.clear();
    return false;
  }

  /// A guarantee must be met even by more expensive victims: a tenant's first victim may take it below its guarantee
  /// and so protect its others, so the order decides how many GPUs it gives.
  [[nodiscard]] bool choose_for_guarantee(std::vector<JobIndex> candidates) {
    may_claim_again_ = true;
    if (choose(candidates)) return true;
    sort_stably(candidates, [&](JobIndex job) { return workload_.job(job).gpus; }, std::greater<>());
    if (choose(candidates)) return true;
    std::ranges::reverse(candidates);
    return choose(candidates);
  }

  [[nodiscard]] GpuCount gone(TenantIndex tenant) const { return gone_[static_cast<std::size_t>(tenant)]; }
  [[nodiscard]] GpuCount guaranteed(TenantIndex tenant) const { return workload_.tenant(tenant).guaranteed; }
  /// GPUs that a tenant has without the chosen jobs. What it started at this instant is borrowed from a guarantee, too,
  /// if it is more than its own; but it does not let others take more for their worth.
  [[nodiscard]] GpuCount left(TenantIndex tenant) const {
    const GpuCount uses = rule_ == TakingRule::kGuarantee ? world_.use_of(tenant) : situation_.uses->of(tenant);
    return uses - gone(tenant);
  }
  [[nodiscard]] bool is_chosen(JobIndex job) const { return std::ranges::find(chosen_, job) != chosen_.end(); }

  [[nodiscard]] bool is_open() const {
    return missing_gpus_ > 0 || std::ranges::any_of(path_, [](const PathStep& step) { return step.missing > 0; });
  }

  [[nodiscard]] bool helps(JobIndex victim) const {
    if (missing_gpus_ > 0) return true;
    return std::ranges::any_of(path_, [&](const PathStep& step) {
      return step.missing > 0 && is_below(workload_, workload_.job(victim).tenant, step.tenant);
    });
  }

  void count(JobIndex victim, GpuCount sign) {
    const Job& job = workload_.job(victim);
    missing_gpus_ -= sign * job.gpus;
    for (PathStep& step : path_) {
      if (step.has_limit && is_below(workload_, job.tenant, step.tenant)) step.missing -= sign * job.gpus;
    }
    count_gone(victim, sign);
  }
  void count_gone(JobIndex victim, GpuCount sign) {
    const Job& job = workload_.job(victim);
    for_each_ancestor(workload_, job.tenant,
                      [&](TenantIndex at) { gone_[static_cast<std::size_t>(at)] += sign * job.gpus; });
  }

  [[nodiscard]] bool is_legal(JobIndex index) const {
    const Job& victim = workload_.job(index);
    if (victim.tenant == job_.tenant) return is_legal_among_its_own(victim);
    if (!has_to_lose(victim)) return false;
    return rule_ == TakingRule::kGoesBefore ||
           (stays_within_guarantee(victim) && (may_claim_again_ || !could_claim_again(victim)));
  }

  [[nodiscard]] bool is_legal_among_its_own(const Job& victim) const {
    if (rule_ == TakingRule::kGuarantee || situation_.is_claim_due) return false;
    const TenantIndex tenant = job_.tenant;
    const bool gives_back_at_once = world_.terms().reclaim == 0;
    const bool is_above = left(tenant) > guaranteed(tenant);
    if (is_above && (!gives_back_at_once || left(tenant) - victim.gpus >= guaranteed(tenant))) return true;
    return !gives_back_at_once && world_.use_of(tenant) - gone(tenant) - victim.gpus + job_.gpus <= guaranteed(tenant);
  }

  /// Whether the victim's side, below the common ancestor, has GPUs to lose.
  [[nodiscard]] bool has_to_lose(const Job& victim) const {
    for (std::optional<TenantIndex> at = victim.tenant; at && !is_below(workload_, job_.tenant, *at);
         at = workload_.tenant(*at).parent) {
      if (rule_ == TakingRule::kGuarantee ? left(*at) <= guaranteed(*at) : left(*at) - victim.gpus < guaranteed(*at))
        return false;
    }
    return true;
  }

  /// Whether the job's side, below the common ancestor, stays within its guarantees.
  [[nodiscard]] bool stays_within_guarantee(const Job& victim) const {
    for (std::optional<TenantIndex> at = job_.tenant; at && !is_below(workload_, victim.tenant, *at);
         at = workload_.tenant(*at).parent) {
      // A group is owed more than its guarantee where jobs that may not be preempted hold so much of it.
      const GpuCount owed = *at == job_.tenant ? guaranteed(*at) : world_.reserved_of(*at);
      if (world_.use_of(*at) - gone(*at) + job_.gpus > owed) return false;
    }
    return true;
  }

  /// Whether one of the tenant's victims, including this one, would fit into its unused guarantee and so claim GPUs
  /// again.
  [[nodiscard]] bool could_claim_again(const Job& victim) const {
    GpuCount least = victim.gpus;
    for (const JobIndex chosen : chosen_) {
      const Job& other = workload_.job(chosen);
      if (other.tenant == victim.tenant) least = std::min(least, other.gpus);
    }
    return left(victim.tenant) - victim.gpus + least <= guaranteed(victim.tenant);
  }

  void let_go_of_those_not_needed() {
    std::vector<JobIndex> by_loss = chosen_;
    std::ranges::sort(by_loss, [&](JobIndex a, JobIndex b) {
      const double left_loss = situation_.worths->of(a).loss;
      const double right_loss = situation_.worths->of(b).loss;
      return left_loss != right_loss ? left_loss > right_loss : situation_.worths->yields_before(workload_, b, a);
    });
    for (const JobIndex victim : by_loss) {
      count(victim, -1);
      if (is_open() || !are_legal_without(victim)) {
        count(victim, 1);
      } else {
        std::erase(chosen_, victim);
      }
    }
  }

  /// Whether the others would have been legal in the order in which they were chosen.
  [[nodiscard]] bool are_legal_without(JobIndex left_out) {
    const std::vector<GpuCount> kept = gone_;
    std::ranges::fill(gone_, 0);
    bool are_legal = true;
    for (const JobIndex victim : chosen_) {
      if (victim == left_out) continue;
      are_legal = are_legal && is_legal(victim);
      count_gone(victim, 1);
    }
    gone_ = kept;
    return are_legal;
  }

  const TakingSituation& situation_;
  const World& world_;
  const Workload& workload_;
  const Job& job_;
  TakingRule rule_;
  GpuCount missing_gpus_;
  std::vector<GpuCount> gone_;  ///< by tenant: GPUs of the chosen jobs
  std::vector<PathStep> path_;  ///< the job's tenant and its ancestors
  std::vector<JobIndex> chosen_;
  bool may_claim_again_ = false;  ///< jobs preempted for a guarantee may get a claim themselves
};

}  // namespace

TenantUses::TenantUses(const World& world) {
  for (const TenantIndex tenant : indices_of<TenantIndex>(world.workload().tenants))
    uses_.push_back(world.use_of(tenant));
}

void TenantUses::take(const Workload& workload, TenantIndex tenant, GpuCount gpus) {
  for_each_ancestor(workload, tenant, [&](TenantIndex at) { uses_[static_cast<std::size_t>(at)] -= gpus; });
}

std::optional<std::vector<JobIndex>> find_victims(const TakingSituation& situation, JobIndex job,
                                                  std::vector<JobIndex> candidates, TakingRule rule) {
  return Search(situation, job, rule).find(std::move(candidates));
}

}  // namespace berth::sched
