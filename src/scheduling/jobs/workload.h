/// Jobs and the pool of equal GPUs on which they are to run, ready for deciding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/index.h"
#include "base/core/result.h"
#include "domain/lists/job_list.h"
#include "domain/lists/tenant_list.h"

namespace berth::sched {

using JobIndex = Index<struct JobTag>;        ///< the row of the job in its list
using TenantIndex = Index<struct TenantTag>;  ///< of `Workload::tenants`

/// Whole seconds; 0 is the earliest submit.
using Seconds = std::int64_t;
using GpuCount = std::int64_t;

struct Job {
  Seconds submit = 0;
  GpuCount gpus = 1;
  Seconds duration = 1;
  TenantIndex tenant;
  std::optional<Seconds> estimate = std::nullopt;
  std::int64_t priority = 0;  ///< higher goes first
  Seconds checkpoint = 0;     ///< progress is kept in multiples of it; 0: all of it
  bool is_preemptible = true;
  std::optional<Seconds> deadline = std::nullopt;
};

/// A tenant or a group of them. A group's figures are the sums over its members.
struct Tenant {
  std::string name;
  std::optional<TenantIndex> parent = std::nullopt;
  GpuCount guaranteed = 0;
  std::optional<GpuCount> limit = std::nullopt;
  std::int64_t weight = 1;
};

struct Workload {
  std::vector<Job> jobs;
  std::vector<std::string> job_names;
  std::vector<Tenant> tenants;
  GpuCount gpus = 0;

  [[nodiscard]] const Job& job(JobIndex index) const { return jobs[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Tenant& tenant(TenantIndex index) const { return tenants[static_cast<std::size_t>(index)]; }
};

/// The costs of changes, and how often policies with rounds decide.
struct Terms {
  Seconds round = 300;
  Seconds restart = 60;   ///< without progress, at each start after a preemption
  Seconds min_run = 0;    ///< before which no job is preempted
  Seconds reclaim = 600;  ///< within which lent GPUs come back
};

/// Without a list of tenants each tenant of the jobs has no guarantee, no limit and weight 1. `jobs_file` is for
/// messages. Errors: a job with more GPUs than there are, or than a limit above it, or that may not be preempted and
/// with which a guarantee could never be met (World::keeps_guarantees_reachable on an empty pool); a tenant that is not
/// in the list, or has children.
[[nodiscard]] Result<Workload> make_workload(const std::vector<ListedJob>& jobs, std::string_view jobs_file,
                                             const std::optional<std::vector<ListedTenant>>& tenants, GpuCount gpus);

/// Whether `a` goes before `b`: priority descending, then submit, then row.
[[nodiscard]] bool goes_before(const Workload& workload, JobIndex a, JobIndex b);

/// All jobs by submit, then row.
[[nodiscard]] std::vector<JobIndex> jobs_by_submit(const Workload& workload);

/// Whether a tenant is a group or one of its members, at any depth.
[[nodiscard]] bool is_below(const Workload& workload, TenantIndex tenant, TenantIndex group);

/// Others with a guarantee that a tenant's jobs could put out of reach: of its siblings and of those of its ancestors,
/// as far up as the members of a group (nothing: the top tenants).
[[nodiscard]] std::vector<TenantIndex> guaranteed_beside(const Workload& workload, TenantIndex tenant,
                                                         const std::optional<TenantIndex>& group);

/// The makespan that no schedule undercuts: all work on all GPUs, or the last job alone.
[[nodiscard]] Seconds makespan_bound(const Workload& workload);

/// Visits the tenant, its parent and so on.
template <class Visit>
void for_each_ancestor(const Workload& workload, TenantIndex tenant, const Visit& visit) {
  for (std::optional<TenantIndex> at = tenant; at; at = workload.tenant(*at).parent) visit(*at);
}

}  // namespace berth::sched
