#include "scheduling/jobs/why.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scheduling/jobs/eta.h"
#include "scheduling/jobs/moment.h"
#include "scheduling/jobs/smallest_changes.h"
#include "scheduling/jobs/why_message.h"

namespace berth::sched {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr std::array<std::string_view, 5> kVerdictNames = {"not_submitted", "waiting", "startable", "running",
                                                           "finished"};
constexpr std::array<std::string_view, 5> kBlockerNames = {"limit", "order", "guarantee", "capacity", "round"};

/// Explains one job at one moment.
class Explainer {
 public:
  Explainer(const Moment& moment, JobIndex job)
      : moment_(moment), world_(moment.after.world()), workload_(world_.workload()), job_(job) {}

  Explanation explain() {
    const Policy policy = moment_.after.name();
    Explanation explanation{.job = job_, .policy = policy, .as_of = world_.now(), .verdict = verdict()};
    if (explanation.verdict == Verdict::kWaiting) {
      explanation.ahead = ahead();
      explanation.changes = smallest_changes(moment_, job_);
      explanation.blockers = blockers(explanation.ahead, explanation.changes);
    }
    explanation.eta = eta_of(moment_, job_);
    explanation.message = why_message(world_, explanation);
    return explanation;
  }

 private:
  [[nodiscard]] const Job& job() const { return workload_.job(job_); }

  [[nodiscard]] Verdict verdict() const {
    switch (world_.record(job_).state) {
      case JobState::kNotSubmitted:
        return Verdict::kNotSubmitted;
      case JobState::kRunning:
        return Verdict::kRunning;
      case JobState::kFinished:
        return Verdict::kFinished;
      case JobState::kWaiting:
        break;
    }
    // A policy may decide again at this very second.
    const bool starts = WhatIf(moment_, job_).starts({.kind = ChangeKind::kGpus, .where = "pool", .by = 0});
    return starts ? Verdict::kStartable : Verdict::kWaiting;
  }

  [[nodiscard]] Ahead ahead() const {
    Ahead ahead;
    RunTimes run_times = moment_.run_times;
    for (const JobIndex other : moment_.after.waiting()) {
      if (other == job_) break;
      ahead.jobs.push_back(other);
      ahead.gpus += workload_.job(other).gpus;
      const Seconds takes = has_hindsight(moment_.after.name()) ? workload_.job(other).duration - world_.progress(other)
                                                                : run_times.remaining(world_, other);
      ahead.gpu_hours += static_cast<double>(workload_.job(other).gpus) * static_cast<double>(takes) / kSecondsPerHour;
    }
    return ahead;
  }

  [[nodiscard]] std::vector<Blocker> blockers(const Ahead& ahead, const std::vector<Change>& changes) const {
    const Policy policy = moment_.after.name();
    std::vector<Blocker> found;
    if (obeys_limits(policy)) {
      for_each_ancestor(workload_, job().tenant, [&](TenantIndex at) {
        const Tenant& tenant = workload_.tenant(at);
        if (!tenant.limit || world_.use_of(at) + job().gpus <= *tenant.limit) return;
        found.push_back({BlockerCode::kLimit, job().gpus, *tenant.limit - world_.use_of(at), tenant.name});
      });
    }
    if (policy == Policy::kBerth) {
      if (const auto guarantee = out_of_reach()) found.push_back(*guarantee);
    }
    const GpuCount free = world_.free_gpus();
    const bool has_room = job().gpus <= free && found.empty();
    const bool is_short = ahead.gpus + job().gpus > free;
    const bool is_in_order = !ahead.jobs.empty() && !decides_in_rounds(policy);
    const bool keeps = has_room && policy == Policy::kBerth;
    const std::optional<std::string> claims = keeps ? claimant() : std::nullopt;
    // Where nothing is kept for a guarantee, the job waits for one ahead of it that is overdue below the same limit.
    const bool waits_for_overdue = keeps && !claims;
    if (is_in_order && ((is_short && (has_room || are_served_first(changes))) || waits_for_overdue)) {
      const std::string& first = workload_.job_names[static_cast<std::size_t>(ahead.jobs.front())];
      found.push_back({BlockerCode::kOrder, ahead.gpus + job().gpus, free, first});
    } else if (keeps) {
      found.push_back({BlockerCode::kGuarantee, job().gpus, 0, claims.value_or("pool")});
    }
    if (job().gpus > free) found.push_back({BlockerCode::kCapacity, job().gpus, free, "pool"});
    if (!moment_.after.is_decision_instant()) {
      const Seconds round = world_.terms().round;
      found.push_back({BlockerCode::kRound, (world_.now() / round + 1) * round, world_.now(), "pool"});
    }
    return found;
  }

  /// The guarantee that could not be met any more. Nothing where no other is guaranteed anything: jobs that may not be
  /// preempted then hold the GPUs themselves, or all below a limit, which are blockers of their own.
  [[nodiscard]] std::optional<Blocker> out_of_reach() const {
    if (world_.keeps_guarantees_reachable(job_)) return std::nullopt;
    const World::FixedRoom room = world_.fixed_room(job().tenant);
    const std::vector<TenantIndex> others = guaranteed_beside(workload_, job().tenant, room.within);
    if (others.empty()) return std::nullopt;
    return Blocker{.code = BlockerCode::kGuarantee,
                   .needed = job().gpus,
                   .available = std::max<GpuCount>(0, room.gpus),
                   .where = workload_.tenant(others.front()).name};
  }

  /// Whether others would take the GPUs that the job is short of.
  [[nodiscard]] bool are_served_first(const std::vector<Change>& changes) const {
    const GpuCount missing = std::max<GpuCount>(0, job().gpus - world_.free_gpus());
    const auto more = std::ranges::find(changes, ChangeKind::kGpus, &Change::kind);
    return more == changes.end() || more->by > missing;
  }

  /// The tenant for whose unused guarantee GPUs are kept, because a job of it waits; nothing if none does.
  [[nodiscard]] std::optional<std::string> claimant() const {
    for (const JobIndex other : moment_.after.waiting()) {
      const Job& waiting = workload_.job(other);
      const Tenant& tenant = workload_.tenant(waiting.tenant);
      const bool fits = world_.use_of(waiting.tenant) + waiting.gpus <= tenant.guaranteed;
      if (waiting.tenant != job().tenant && fits) return tenant.name;
    }
    return std::nullopt;
  }

  const Moment& moment_;
  const World& world_;
  const Workload& workload_;
  JobIndex job_;
};

}  // namespace

std::string_view name_of(Verdict verdict) { return kVerdictNames[static_cast<std::size_t>(verdict)]; }
std::string_view name_of(BlockerCode code) { return kBlockerNames[static_cast<std::size_t>(code)]; }

Explanation explain(const Moment& moment, JobIndex job) { return Explainer(moment, job).explain(); }

}  // namespace berth::sched
