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

/// Why GPUs are taken: because the job goes before the victims, or because they are its tenant's by guarantee, and it
/// has waited for them long enough.
enum class TakingRule { kGoesBefore, kGuarantee };

/// What a search for victims looks at.
struct TakingSituation {
  const World* world = nullptr;
  const Worths* worths = nullptr;
  const TenantUses* uses =
      nullptr;  ///< at the beginning of the instant, less who was preempted since: what tenants had to lose
  bool is_claim_due = false;  ///< the job's tenant has waited for its guarantee as long as it may have to
};

/// The fewest GPUs' worth of victims among the candidates that let a job start: enough GPUs, and limits kept. Those who
/// yield first are chosen first, and who is not needed is let go, the most expensive first. Nothing if they are not
/// enough.
///
/// Whom the tree protects: below the common ancestor of both tenants, a victim's tenant and its groups must have more
/// than they are guaranteed; with kGoesBefore they keep at least their guarantee. With kGuarantee the job's own side
/// must stay within its guarantees, and victims that would have a claim themselves then are only taken if others are
/// not enough. Among jobs of one tenant the tenant must be above its guarantee, or stay within it.
[[nodiscard]] std::optional<std::vector<JobIndex>> find_victims(const TakingSituation& situation, JobIndex job,
                                                                std::vector<JobIndex> candidates, TakingRule rule);

}  // namespace berth::sched
