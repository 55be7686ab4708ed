#include "scheduling/jobs/what_if.h"

#include <algorithm>
#include <array>
#include <utility>

#include "scheduling/jobs/moment.h"

namespace berth::sched {
namespace {

constexpr std::array<std::string_view, 4> kChangeNames = {"gpus", "limit", "priority", "preempt"};

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
  // If no job overtakes the first of the queue, a larger amount always helps at least as much.
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

}  // namespace berth::sched
