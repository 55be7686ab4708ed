#include "scheduling/jobs/workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/core/count_words.h"
#include "base/core/int128.h"
#include "base/core/text.h"
#include "scheduling/jobs/world.h"

namespace berth::sched {
namespace {

/// Tenants of a workload, and those of its jobs by name.
class TenantTable {
 public:
  explicit TenantTable(const std::optional<std::vector<ListedTenant>>& listed) : is_listed_(listed.has_value()) {
    if (!listed) return;
    for (const ListedTenant& tenant : *listed) {
      places_.emplace(tenant.name, TenantIndex(tenants_.size()));
      const auto parent = tenant.parent ? std::optional(TenantIndex(*tenant.parent)) : std::nullopt;
      tenants_.push_back({.name = tenant.name,
                          .parent = parent,
                          .guaranteed = tenant.guaranteed,
                          .limit = tenant.limit,
                          .weight = tenant.weight});
    }
    has_children_.resize(tenants_.size());
    for (const Tenant& tenant : tenants_) {
      if (tenant.parent) has_children_[static_cast<std::size_t>(*tenant.parent)] = true;
    }
  }

  /// The tenant of a job, by name; the error says what is wrong with the name.
  Result<TenantIndex> find(const std::string& name) {
    const auto known = places_.find(name);
    if (!is_listed_) {
      if (known != places_.end()) return known->second;
      const TenantIndex added(tenants_.size());
      tenants_.push_back({.name = name});
      places_.emplace(name, added);
      return added;
    }
    if (known == places_.end()) return invalid("tenant: wanted one of the tenants' file, found " + in_quotes(name));
    if (has_children_[static_cast<std::size_t>(known->second)]) {
      return invalid("tenant: wanted one without children, found " + in_quotes(name));
    }
    return known->second;
  }

  std::vector<Tenant> take() { return std::move(tenants_); }

 private:
  bool is_listed_;
  std::vector<Tenant> tenants_;
  std::vector<bool> has_children_;
  std::unordered_map<std::string, TenantIndex> places_;
};

Job job_of(const ListedJob& listed, TenantIndex tenant) {
  return {.submit = listed.submit_s,
          .gpus = listed.gpus,
          .duration = listed.duration_s,
          .tenant = tenant,
          .estimate = listed.estimate_s,
          .priority = listed.priority,
          .checkpoint = listed.checkpoint_s,
          .is_preemptible = listed.is_preemptible,
          .deadline = listed.deadline_s};
}

/// Why a job can never run, or nothing.
std::optional<std::string> why_never(const Workload& workload, JobIndex index) {
  const Job& job = workload.job(index);
  const std::string& name = workload.job_names[static_cast<std::size_t>(index)];
  if (job.gpus > workload.gpus) {
    return fmt::format("job {}: gpus: wanted at most the {} of the pool, found {}", in_quotes(name), workload.gpus,
                       job.gpus);
  }
  std::optional<std::string> reason;
  for_each_ancestor(workload, job.tenant, [&](TenantIndex at) {
    const Tenant& tenant = workload.tenant(at);
    if (reason || !tenant.limit || job.gpus <= *tenant.limit) return;
    reason = fmt::format("job {}: gpus: wanted at most {}, the limit of tenant {}, found {}", in_quotes(name),
                         *tenant.limit, in_quotes(tenant.name), job.gpus);
  });
  return reason;
}

/// Why a job that may not be preempted can never start, or nothing.
std::optional<std::string> why_never_fixed(const Workload& workload, const World& empty_pool, JobIndex index) {
  if (empty_pool.keeps_guarantees_reachable(index)) return std::nullopt;
  const TenantIndex tenant = workload.job(index).tenant;
  const World::FixedRoom room = empty_pool.fixed_room(tenant);
  std::vector<std::string> guarantees;
  for (const TenantIndex other : guaranteed_beside(workload, tenant, room.within)) {
    guarantees.push_back(
        fmt::format("{} ({})", in_quotes(workload.tenant(other).name), workload.tenant(other).guaranteed));
  }
  const std::string or_fewer = room.gpus > 0 ? fmt::format(", or at most {}", counted_noun(room.gpus, "GPU")) : "";
  return fmt::format(
      "job {}: preemptible: wanted true{}, so that what others are guaranteed can be given back ({}), found false with "
      "{}",
      in_quotes(workload.job_names[static_cast<std::size_t>(index)]), or_fewer, fmt::join(guarantees, ", "),
      workload.job(index).gpus);
}

}  // namespace

Result<Workload> make_workload(const std::vector<ListedJob>& jobs, std::string_view jobs_file,
                               const std::optional<std::vector<ListedTenant>>& tenants, GpuCount gpus) {
  const auto fail_job = [&](const ListedJob& job, const std::string& message) {
    return tl::unexpected(error_at(jobs_file, {.line = job.line, .column = 1}, message));
  };
  TenantTable table(tenants);
  Workload workload{.jobs = {}, .job_names = {}, .tenants = {}, .gpus = gpus};
  for (const ListedJob& job : jobs) {
    const auto tenant = table.find(job.tenant);
    if (!tenant) return fail_job(job, fmt::format("job {}: {}", in_quotes(job.name), tenant.error().message));
    workload.jobs.push_back(job_of(job, *tenant));
    workload.job_names.push_back(job.name);
  }
  workload.tenants = table.take();
  const World empty_pool(workload, {});
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) {
    auto reason = why_never(workload, job);
    if (!reason) reason = why_never_fixed(workload, empty_pool, job);
    if (reason) return fail_job(jobs[static_cast<std::size_t>(job)], *reason);
  }
  return workload;
}

bool goes_before(const Workload& workload, JobIndex a, JobIndex b) {
  const Job& first = workload.job(a);
  const Job& second = workload.job(b);
  return std::tuple(-first.priority, first.submit, a) < std::tuple(-second.priority, second.submit, b);
}

std::vector<JobIndex> jobs_by_submit(const Workload& workload) {
  std::vector<JobIndex> order;
  order.reserve(workload.jobs.size());
  for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) order.push_back(job);
  std::ranges::sort(order, {}, [&](JobIndex job) { return std::tuple(workload.job(job).submit, job); });
  return order;
}

bool is_below(const Workload& workload, TenantIndex tenant, TenantIndex group) {
  bool is_found = false;
  for_each_ancestor(workload, tenant, [&](TenantIndex at) { is_found = is_found || at == group; });
  return is_found;
}

std::vector<TenantIndex> guaranteed_beside(const Workload& workload, TenantIndex tenant,
                                           const std::optional<TenantIndex>& group) {
  std::vector<TenantIndex> found;
  for (const TenantIndex other : indices_of<TenantIndex>(workload.tenants)) {
    const Tenant& at = workload.tenant(other);
    const bool is_beside = !is_below(workload, tenant, other) && (!at.parent || is_below(workload, tenant, *at.parent));
    const bool is_inside = !group || (at.parent && is_below(workload, *at.parent, *group));
    if (at.guaranteed > 0 && is_beside && is_inside) found.push_back(other);
  }
  return found;
}

Seconds makespan_bound(const Workload& workload) {
  Int128 work = 0;
  Seconds longest = 0;
  for (const Job& job : workload.jobs) {
    work += Int128(job.gpus) * job.duration;
    longest = std::max(longest, job.submit + job.duration);
  }
  return std::max(longest, static_cast<Seconds>((work + workload.gpus - 1) / workload.gpus));
}

}  // namespace berth::sched
