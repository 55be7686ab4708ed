/// A plan that waits for approval: whether it needs one, and whether its facts still hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/loop/approval.h"

namespace berth {

/// How a proposal ended.
enum class ProposalEnd : std::uint8_t {
  kApproved,    ///< it takes effect in this step
  kExpired,     ///< it was not approved in time
  kSuperseded,  ///< facts that it depends on have changed
};

struct EndedProposal {
  std::uint64_t plan = 0;  ///< Plan::id
  ProposalEnd end = ProposalEnd::kApproved;
  std::vector<std::string> difference;  ///< what has changed, if superseded
  friend bool operator==(const EndedProposal&, const EndedProposal&) = default;
};

/// A plan that waits for approval.
struct Proposal {
  Plan plan;
  std::vector<GpuScheduling> schedulings;  ///< of the GPU of each fact of the plan, when it became a proposal
};

[[nodiscard]] Proposal propose(const Snapshot& snapshot, Plan plan);

/// The GPUs that plans have changed, to detect a GPU's first change.
class ChangedGpus {
 public:
  void add(const Plan& plan);
  /// Whether the plan changes a GPU that no earlier one has changed. O(actions).
  [[nodiscard]] bool has_new(const Plan& plan) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.is_changed_);
  }

 private:
  std::vector<char> is_changed_;  ///< by GPU, up to the last changed one
};

/// What has changed since, so that the plan cannot take effect at this instant: one text per GPU whose facts do not
/// hold or whose scheduling differs, and one if changes are frozen. Legality is not checked. O(GPUs of the plan x
/// (slices of a GPU + log slices) + frozen windows).
[[nodiscard]] std::vector<std::string> find_differences(const Scenario& scenario, const Snapshot& snapshot,
                                                        const Proposal& proposal, Instant acts_at);

}  // namespace berth
