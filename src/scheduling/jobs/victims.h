/// Which running jobs are preempted so that another can start.
#pragma once

#include <optional>
#include <vector>

#include "scheduling/jobs/world.h"
#include "scheduling/jobs/worth.h"

namespace berth::sched {

/// GPUs of tenants and groups, as `World::use_of`.
class TenantUses {
 public:
  explicit TenantUses(const World& world);

  [[nodiscard]] GpuCount of(TenantIndex tenant) const { return uses_[static_cast<std::size_t>(tenant)]; }
  void take(const Workload& workload, TenantIndex tenant, GpuCount gpus);

 private:
  std::vector<GpuCount> uses_;
};

/// Why GPUs are taken: because the job goes before the victims, or because its tenant is guaranteed them and has waited
/// long enough.
enum class TakingRule { kGoesBefore, kGuarantee };

/// The input of a search for victims.
struct TakingSituation {
  const World* world = nullptr;
  const Worths* worths = nullptr;
  const TenantUses* uses = nullptr;  ///< at the beginning of the instant, minus jobs preempted since; for kGoesBefore
  bool is_claim_due = false;         ///< the job's tenant has waited long enough for its guarantee
};

/// Victims among the candidates that let a job start, with few GPUs in total: enough GPUs, and limits kept. Those that
/// yield first are chosen first; then unneeded ones are dropped, the most expensive first. Nothing if they do not
/// suffice.
///
/// Protection by the tree: below the common ancestor of both tenants, a victim's tenant and its groups must have more
/// than they are guaranteed; with kGoesBefore they keep at least their guarantee. With kGuarantee the job's own side
/// must stay within its guarantees, and victims that would then have a claim themselves are only taken if others do not
/// suffice. Among jobs of one tenant, the tenant must be above its guarantee or stay within it.
[[nodiscard]] std::optional<std::vector<JobIndex>> find_victims(const TakingSituation& situation, JobIndex job,
                                                                std::vector<JobIndex> candidates, TakingRule rule);

}  // namespace berth::sched
