#include "scheduling/jobs/berth_policy.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduling/jobs/takeable.h"
#include "scheduling/jobs/victims.h"

namespace berth::sched {
namespace {

/// Seconds between decisions while jobs wait.
constexpr Seconds kDecisionGrid = 60;
/// A longer step, in whole minutes, if little changes until then for all waiting jobs: a hundredth of the time until a
/// job is patient, and after that of its waited plus remaining time; a thousandth of the time to its deadline.
constexpr Seconds kStepShare = 100;
constexpr Seconds kDeadlineStepShare = 1'000;
/// A job may take GPUs after waiting this many restarts, from jobs that have run for as many.
constexpr Seconds kPatienceRestarts = 5;
constexpr Seconds kProtectedRestarts = 5;
/// A running job is nearly done if the urgent one that wants its GPUs will run this many times as long.
constexpr Seconds kNearlyDone = 5;
/// A job reserves GPUs that become free once it has waited this many times its remaining time.
constexpr Seconds kStarvation = 10;
constexpr Seconds kShortestWait = 60;

constexpr const char* kOverdue = "overdue, and submitted before";
constexpr const char* kHigherPriority = "higher priority";
constexpr const char* kMoreUrgentReason = "more urgent";
constexpr const char* kEndsSooner = "expected to end sooner";
constexpr const char* kGuaranteeReason = "its guarantee";

/// GPUs reserved for a job that has waited very long: when they are expected to suffice, and how many more are free
/// then.
struct Reservation {
  Seconds start = 0;
  GpuCount beside = 0;
};

/// An overdue job that waits: jobs that were submitted later, of the same or a lower priority, do not start before it.
struct OverdueJob {
  JobIndex job;
  std::optional<TenantIndex> scope = std::nullopt;  ///< only those of that group: its limit is what the job waits for
  bool is_for_fixed = false;  ///< only those that may not be preempted: with them a guarantee could not be met
};

}  // namespace

/// The decision of one instant.
class BerthInstant {
 public:
  BerthInstant(BerthPolicy& policy, World& world)
      : policy_(policy),
        world_(world),
        workload_(world.workload()),
        uses_(world),
        order_(policy.waiting_),
        is_within_(workload_.jobs.size()) {
    for (const JobIndex job : order_) is_within_[static_cast<std::size_t>(job)] = is_within_guarantee(job);
    sort_by_service(order_);
    for (const JobIndex job : world_.running()) {
      if (workload_.job(job).is_preemptible && world_.record(job).started < world_.now()) preemptible_.push_back(job);
    }
  }

  void decide() {
    find_claimants();
    give_back();
    std::vector<JobIndex> held_back;
    for (const JobIndex job : order_) {
      if (world_.is_running(job)) continue;
      if (is_blocked(job) || !may_borrow_now(job)) {
        held_back.push_back(job);
      } else {
        serve(job);
      }
      if (is_overdue(job) && !world_.is_running(job)) block_later_ones(job);
    }
    start_held_back(held_back);
    if (!stopped_.empty()) give_back();
    std::erase_if(policy_.waiting_, [&](JobIndex job) { return world_.is_running(job); });
    for (const JobIndex job : stopped_) {
      if (!world_.is_running(job)) policy_.waiting_.push_back(job);
    }
    leave_order();
    update_claims();
  }

  [[nodiscard]] const std::vector<JobIndex>& order() const { return order_; }

 private:
  [[nodiscard]] const Worth& worth(JobIndex job) const { return policy_.worths_.of(job); }

  /// Whether the job fits into its tenant's unused guarantee.
  [[nodiscard]] bool is_within_guarantee(JobIndex index) const {
    const Job& job = workload_.job(index);
    return world_.use_of(job.tenant) + job.gpus <= workload_.tenant(job.tenant).guaranteed;
  }

  void sort_by_service(std::vector<JobIndex>& jobs) const {
    std::vector<Worths::ServiceKey> keys;
    keys.reserve(jobs.size());
    for (const JobIndex job : jobs) {
      keys.push_back(policy_.worths_.service_key(
          workload_, job,
          {.is_overdue = is_overdue(job), .is_within_guarantee = is_within_[static_cast<std::size_t>(job)]}));
    }
    std::ranges::sort(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) jobs[i] = std::get<JobIndex>(keys[i]);
  }

  [[nodiscard]] bool has_room(JobIndex index) const {
    const Job& job = workload_.job(index);
    return job.gpus <= world_.free_gpus() && world_.is_within_limits(job.tenant, job.gpus) &&
           world_.keeps_guarantees_reachable(index);
  }
  [[nodiscard]] const std::optional<Seconds>& claim_of(JobIndex job) const {
    return policy_.claims_[static_cast<std::size_t>(workload_.job(job).tenant)];
  }
  [[nodiscard]] bool is_claim_due(JobIndex job) const {
    return world_.now() - claim_of(job).value_or(world_.now()) >= world_.terms().reclaim;
  }

  void appoint(Seconds at) {
    if (at <= world_.now()) return;
    if (!policy_.appointment_ || at < *policy_.appointment_) policy_.appointment_ = at;
  }

  // ---- Jobs that have waited as long as they may for later ones

  [[nodiscard]] bool is_overdue(JobIndex job) const { return policy_.bounds_.is_overdue(world_, job); }

  /// Whether one job goes before another that was submitted later, once it is overdue.
  [[nodiscard]] bool has_precedence(JobIndex job, JobIndex later) const {
    const Job& first = workload_.job(job);
    const Job& second = workload_.job(later);
    return std::pair(first.submit, job) < std::pair(second.submit, later) && second.priority <= first.priority;
  }

  /// Keeps later jobs from starting before an overdue one that could not be started now, as far as that is of use to
  /// it: not where jobs that may not be preempted leave it too few GPUs anyway.
  void block_later_ones(JobIndex index) {
    const Job& job = workload_.job(index);
    if (world_.fixed_gpus() + job.gpus > workload_.gpus) return;
    OverdueJob overdue{.job = index};
    for_each_ancestor(workload_, job.tenant, [&](TenantIndex at) {
      const std::optional<GpuCount> limit = workload_.tenant(at).limit;
      if (limit && world_.use_of(at) + job.gpus > *limit) overdue.scope = at;
    });
    if (!overdue.scope) overdue.is_for_fixed = !world_.keeps_guarantees_reachable(index);
    overdue_.push_back(overdue);
  }

  /// Whether an overdue job waits that goes before this one. What another tenant is guaranteed is its own.
  [[nodiscard]] bool is_blocked(JobIndex index) const {
    const Job& job = workload_.job(index);
    return std::ranges::any_of(overdue_, [&](const OverdueJob& overdue) {
      if (world_.is_running(overdue.job) || !has_precedence(overdue.job, index)) return false;
      if (overdue.scope && !is_below(workload_, job.tenant, *overdue.scope)) return false;
      if (overdue.is_for_fixed && job.is_preemptible) return false;
      return job.tenant == workload_.job(overdue.job).tenant || !is_within_guarantee(index);
    });
  }

  // ---- Preempting

  /// Whether a running job may lose its GPUs: if forced, at all; else only outside the time in which it is protected.
  [[nodiscard]] bool may_stop(JobIndex victim, bool is_forced) const {
    if (!world_.may_preempt(victim)) return false;
    const JobRecord& record = world_.record(victim);
    const Seconds held = world_.now() - record.started;
    const Seconds restart = record.is_restart ? world_.terms().restart : 0;
    return held >= 1 &&
           (is_forced || (held > restart && held >= restart + kProtectedRestarts * world_.terms().restart));
  }

  /// Whether a victim that took the job's GPUs has made progress since then.
  [[nodiscard]] bool has_got_further(JobIndex victim, JobIndex job, bool is_forced) const {
    const BerthPolicy::Taken& taken = policy_.taken_[static_cast<std::size_t>(job)];
    if (taken.by != victim) return true;
    return (is_forced ? world_.progress(victim) : world_.kept_progress(victim)) > taken.progress;
  }

  /// Why a waiting job may take a running job's GPUs; nothing if it may not.
  [[nodiscard]] const char* reason_to_take(JobIndex job, JobIndex victim) const {
    const std::int64_t priority = workload_.job(job).priority;
    const std::int64_t other = workload_.job(victim).priority;
    if (other > priority || (is_overdue(victim) && has_precedence(victim, job))) return nullptr;
    if (!may_stop(victim, other < priority) || !has_got_further(victim, job, false)) return nullptr;
    if (other < priority) return world_.progress(victim) > world_.record(victim).progress ? kHigherPriority : nullptr;
    if (is_overdue(job) && has_precedence(job, victim)) return kOverdue;
    if (!has_gained(victim) || !TakeableJobs::may_take(taker(job), worth(victim))) return nullptr;
    if (!worth(job).is_urgent) return kEndsSooner;
    return is_nearly_done(victim, job) ? nullptr : kMoreUrgentReason;
  }

  /// Whether a running job ends so soon that an urgent job can wait for it.
  [[nodiscard]] bool is_nearly_done(JobIndex victim, JobIndex job) const {
    return worth(victim).remaining * kNearlyDone <= worth(job).remaining;
  }

  [[nodiscard]] TakeableJobs::Taker taker(JobIndex job) const {
    return {.priority = workload_.job(job).priority, .worth = worth(job), .is_patient = is_patient(job)};
  }

  /// Whether a running job that was preempted before has secured more progress since: otherwise it could be preempted
  /// for ever.
  [[nodiscard]] bool has_gained(JobIndex running) const {
    const JobRecord& record = world_.record(running);
    return !record.is_restart || world_.kept_progress(running) > record.progress;
  }

  [[nodiscard]] bool is_patient(JobIndex job) const {
    const Seconds waits_since = std::max(workload_.job(job).submit, world_.record(job).stopped);
    return world_.now() - waits_since >= kPatienceRestarts * world_.terms().restart;
  }

  /// Running jobs that could lose their GPUs to this one. For most waiting jobs these hold too few GPUs, which their
  /// sum shows without examining each.
  [[nodiscard]] std::span<const TakeableJobs::Entry> takeable(JobIndex job) {
    if (!takeable_) {
      takeable_.emplace();
      for (const JobIndex victim : preemptible_) {
        if (!world_.is_running(victim) || !may_stop(victim, true)) continue;
        takeable_->add(workload_, victim, worth(victim), !may_stop(victim, false) || !has_gained(victim));
      }
    }
    return takeable_->for_taker(workload_, taker(job));
  }

  template <class MayTake>
  [[nodiscard]] std::optional<std::vector<JobIndex>> victims(JobIndex job, TakingRule rule,
                                                             const std::vector<JobIndex>& among,
                                                             const MayTake& may_take) const {
    std::vector<JobIndex> candidates;
    GpuCount possible = world_.free_gpus();
    for (const JobIndex victim : among) {
      if (!world_.is_running(victim) || !may_take(victim)) continue;
      candidates.push_back(victim);
      possible += workload_.job(victim).gpus;
    }
    if (possible < workload_.job(job).gpus) return std::nullopt;
    const bool is_due = claim_of(job).has_value() && is_claim_due(job);
    return find_victims({.world = &world_, .worths = &policy_.worths_, .uses = &uses_, .is_claim_due = is_due}, job,
                        std::move(candidates), rule);
  }

  void stop(JobIndex victim, JobIndex job, const Beneficiary& beneficiary, const char* reason) {
    policy_.taken_[static_cast<std::size_t>(victim)] = {.by = job, .progress = world_.record(job).progress};
    uses_.take(workload_, workload_.job(victim).tenant, workload_.job(victim).gpus);
    policy_.bounds_.stopped(world_, victim);
    world_.preempt(victim, beneficiary, reason);
    stopped_.push_back(victim);
    if (is_overdue(victim)) block_later_ones(victim);
  }

  // ---- Guarantees

  void find_claimants() {
    for (const JobIndex job : order_) {
      if (is_within_[static_cast<std::size_t>(job)]) claimants_.push_back(job);
    }
    std::ranges::sort(claimants_, {}, [&](JobIndex job) { return std::pair(due_of(job), job); });
  }
  [[nodiscard]] Seconds due_of(JobIndex job) const {
    return claim_of(job).value_or(world_.now()) + world_.terms().reclaim;
  }

  /// When the earliest claim to a guarantee falls due: GPUs lent until then must be returned by then.
  [[nodiscard]] std::optional<Seconds> next_due() {
    while (next_claimant_ < claimants_.size()) {
      const JobIndex job = claimants_[next_claimant_];
      if (!world_.is_running(job) && is_within_guarantee(job)) return due_of(job);
      ++next_claimant_;
    }
    return std::nullopt;
  }

  /// Whether a job may start on GPUs that others may claim soon: only if it can be preempted by then. During a restart,
  /// and until a checkpoint, it secures no progress, and is protected from jobs whose GPUs it once took.
  [[nodiscard]] bool may_borrow_now(JobIndex index) {
    if (is_within_guarantee(index)) return true;
    const std::optional<Seconds> due = next_due();
    if (!due) return true;
    const Job& job = workload_.job(index);
    const bool restarts = world_.record(index).first_start.has_value();
    const Seconds gains = restarts ? world_.terms().restart + std::max<Seconds>(1, job.checkpoint) : 0;
    return job.is_preemptible && world_.now() + std::max(world_.terms().min_run, gains) <= *due;
  }

  /// Starts jobs that were held back for claims whose jobs have started since.
  void start_held_back(const std::vector<JobIndex>& jobs) {
    for (const JobIndex job : jobs) {
      if (!is_blocked(job) && may_borrow_now(job) && has_room(job) && fits_beside_reservation(job)) world_.start(job);
    }
  }

  /// Returns GPUs to tenants whose claim is due.
  void give_back() {
    for (const JobIndex job : order_) {
      if (world_.is_running(job) || !is_within_guarantee(job) || !is_claim_due(job)) continue;
      if (has_room(job)) {
        world_.start(job);
        continue;
      }
      auto found = victims(job, TakingRule::kGuarantee, preemptible_, [&](JobIndex victim) {
        return may_stop(victim, true) && has_got_further(victim, job, false);
      });
      if (!found) {
        found = victims(job, TakingRule::kGuarantee, preemptible_,
                        [&](JobIndex victim) { return may_stop(victim, true) && has_got_further(victim, job, true); });
      }
      if (!found) {
        wait_for_min_run();
        continue;
      }
      for (const JobIndex victim : *found) stop(victim, job, {.tenant = workload_.job(job).tenant}, kGuaranteeReason);
      world_.start(job);
    }
  }

  /// Decides again as soon as the next running job may be preempted.
  void wait_for_min_run() {
    for (const JobIndex job : world_.running()) {
      if (!workload_.job(job).is_preemptible) continue;
      appoint(world_.record(job).started + std::max<Seconds>(1, world_.terms().min_run));
    }
  }

  /// Updates, after the decision, since when tenants have waited for GPUs within their guarantee.
  void update_claims() {
    std::vector<bool> is_claiming(policy_.claims_.size());
    for (const JobIndex job : policy_.waiting_) {
      if (is_within_guarantee(job)) is_claiming[static_cast<std::size_t>(workload_.job(job).tenant)] = true;
    }
    for (std::size_t tenant = 0; tenant < is_claiming.size(); ++tenant) {
      std::optional<Seconds>& claim = policy_.claims_[tenant];
      if (!is_claiming[tenant]) {
        claim.reset();
        continue;
      }
      if (!claim) claim = world_.now();
      const Seconds due = *claim + world_.terms().reclaim;
      appoint(due <= world_.now() && !stopped_.empty() ? world_.now() + 1 : due);
    }
  }

  /// Stores the jobs that still wait, in the order of service.
  void leave_order() {
    policy_.order_ = order_;
    std::erase_if(policy_.order_, [&](JobIndex job) { return world_.is_running(job); });
    if (stopped_.empty()) return;
    for (const JobIndex job : stopped_) {
      if (!world_.is_running(job)) policy_.order_.push_back(job);
    }
    sort_by_service(policy_.order_);
  }

  // ---- Serving

  void serve(JobIndex job) {
    if (stopped_.size() > settled_ && !is_within_guarantee(job)) start_those_within_guarantees();
    if (has_room(job)) {
      if (fits_beside_reservation(job)) return world_.start(job);
    } else if (take_from_others(job)) {
      return;
    }
    if (!reservation_) reserve_if_starving(job);
  }

  /// GPUs taken from borrowers go to guarantees first. Until more are taken no further job can start this way, because
  /// starts only leave less room.
  void start_those_within_guarantees() {
    settled_ = stopped_.size();
    for (const JobIndex job : order_) {
      if (!world_.is_running(job) && is_within_guarantee(job) && !is_blocked(job) && has_room(job)) world_.start(job);
    }
  }

  /// Running jobs of which some may have to yield to this one; nobody if they are too few.
  [[nodiscard]] std::vector<JobIndex> those_who_may_yield(JobIndex job) {
    if (is_overdue(job)) return preemptible_;
    const auto entries = takeable(job);
    if (entries.empty() || world_.free_gpus() + entries.back().gpus_up_to < workload_.job(job).gpus) return {};
    std::vector<JobIndex> among;
    among.reserve(entries.size());
    for (const TakeableJobs::Entry& entry : entries) among.push_back(entry.job);
    return among;
  }

  bool take_from_others(JobIndex job) {
    if (!world_.keeps_guarantees_reachable(job)) return false;
    const std::vector<JobIndex> among = those_who_may_yield(job);
    if (among.empty()) return false;
    const auto found = victims(job, TakingRule::kGoesBefore, among,
                               [&](JobIndex victim) { return reason_to_take(job, victim) != nullptr; });
    if (!found) return false;
    for (const JobIndex victim : *found) stop(victim, job, {.job = job}, reason_to_take(job, victim));
    world_.start(job);
    return true;
  }

  [[nodiscard]] bool fits_beside_reservation(JobIndex job) {
    if (!reservation_) return true;
    const Seconds end = world_.now() + worth(job).total - world_.progress(job);
    if (end <= reservation_->start) return true;
    const GpuCount gpus = workload_.job(job).gpus;
    if (gpus > reservation_->beside) return false;
    reservation_->beside -= gpus;
    return true;
  }

  void reserve_if_starving(JobIndex index) {
    const Job& job = workload_.job(index);
    if (job.gpus <= world_.free_gpus() || !world_.is_within_limits(job.tenant, job.gpus)) return;
    if (!world_.keeps_guarantees_reachable(index)) return;
    const Seconds waited = world_.now() - job.submit - world_.progress(index);
    if (!worth(index).is_urgent && waited <= kStarvation * (worth(index).remaining + kShortestWait)) return;
    std::vector<std::pair<Seconds, GpuCount>> ends;
    for (const JobIndex running : world_.running()) {
      const Seconds left = std::max<Seconds>(1, worth(running).total - world_.progress(running));
      ends.emplace_back(world_.now() + left, workload_.job(running).gpus);
    }
    std::ranges::sort(ends);
    GpuCount free = world_.free_gpus();
    Seconds start = world_.now();
    for (std::size_t i = 0; i < ends.size() && (free < job.gpus || ends[i].first == start); ++i) {
      start = ends[i].first;
      free += ends[i].second;
    }
    if (free >= job.gpus) reservation_ = {.start = start, .beside = free - job.gpus};
  }

  BerthPolicy& policy_;
  World& world_;
  const Workload& workload_;
  TenantUses uses_;
  std::vector<JobIndex> order_;        ///< those that waited at the beginning, by worth
  std::vector<bool> is_within_;        ///< by job: fitted into its tenant's guarantee at the beginning
  std::vector<JobIndex> preemptible_;  ///< running at the beginning
  std::vector<JobIndex> stopped_;      ///< preempted at this instant; none of order_
  std::size_t settled_ = 0;            ///< of stopped_: those whose GPUs were offered to guarantees
  std::vector<JobIndex> claimants_;    ///< of order_: within their guarantee at the beginning, the earliest due first
  std::size_t next_claimant_ = 0;      ///< of claimants_: those before it have started, or no longer fit
  std::optional<TakeableJobs> takeable_;  ///< of those preemptible, once needed
  std::optional<Reservation> reservation_;
  std::vector<OverdueJob> overdue_;
};

BerthPolicy::BerthPolicy(const Workload& workload)
    : workload_(&workload),
      worths_(workload),
      bounds_(workload),
      taken_(workload.jobs.size()),
      claims_(workload.tenants.size()) {}

void BerthPolicy::arrived(const World& world, JobIndex job) {
  bounds_.submitted(world, job);
  if (!workload_->job(job).estimate) durations_.submitted(*workload_, job);
  waiting_.push_back(job);
}

void BerthPolicy::finished(const World& world, JobIndex job) {
  bounds_.stopped(world, job);
  if (!workload_->job(job).estimate) durations_.finished(*workload_, job);
}

void BerthPolicy::decide(World& world) {
  appointment_.reset();
  order_.clear();
  if (waiting_.empty()) return;
  worths_.update(world, durations_, waiting_);
  BerthInstant(*this, world).decide();
}

std::vector<JobIndex> BerthPolicy::waiting(const World& world) const {
  BerthPolicy now = *this;
  World copy = world;
  now.worths_.update(copy, now.durations_, now.waiting_);
  return BerthInstant(now, copy).order();
}

std::optional<Seconds> BerthPolicy::latest_start(const World& world, JobIndex index, GpuCount gpus_ahead) const {
  const Job& job = workload_->job(index);
  if (!world.is_within_limits(job.tenant, job.gpus)) return std::nullopt;
  GpuCount possible = world.free_gpus() - gpus_ahead;
  for (const JobIndex running : world.running()) {
    const Job& victim = workload_->job(running);
    const Worth& its = worths_.of(running);
    const bool is_borrowed =
        victim.tenant == job.tenant || world.use_of(victim.tenant) > workload_->tenant(victim.tenant).guaranteed;
    const bool yields = victim.priority < job.priority || (victim.priority == job.priority && !its.is_urgent &&
                                                           TakeableJobs::outranks(worths_.of(index), its));
    if (victim.is_preemptible && is_borrowed && yields) possible += victim.gpus;
  }
  if (possible < job.gpus) return std::nullopt;
  const Seconds patient = std::max(job.submit, world.record(index).stopped) + kPatienceRestarts * world.terms().restart;
  return std::max(world.now(), (patient + kDecisionGrid - 1) / kDecisionGrid * kDecisionGrid);
}

Seconds BerthPolicy::decision_step(const World& world) const {
  Seconds least = std::numeric_limits<Seconds>::max();
  for (const JobIndex index : waiting_) {
    const Job& job = workload_->job(index);
    const Seconds waited = world.now() - std::max(job.submit, world.record(index).stopped);
    const Seconds patient = kPatienceRestarts * world.terms().restart;
    const Seconds changes = waited < patient ? patient - waited : worths_.of(index).remaining + waited;
    least = std::min(least, changes / kStepShare);
    if (job.deadline && *job.deadline > world.now())
      least = std::min(least, (*job.deadline - world.now()) / kDeadlineStepShare);
  }
  return std::max(kDecisionGrid, least / kDecisionGrid * kDecisionGrid);
}

std::optional<Seconds> BerthPolicy::wake(const World& world) const {
  if (waiting_.empty()) return std::nullopt;
  const Seconds step = decision_step(world);
  const Seconds next = (world.now() / step + 1) * step;
  return appointment_ ? std::min(next, *appointment_) : next;
}

}  // namespace berth::sched
