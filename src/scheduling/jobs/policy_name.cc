#include "scheduling/jobs/policy_name.h"

namespace berth::sched {
namespace {

constexpr std::array<std::string_view, kPolicies.size()> kPolicyNames = {"fifo", "skip", "sjf",  "easy",
                                                                         "las",  "srpt", "fair", "berth"};

}  // namespace

std::string_view name_of(Policy policy) { return kPolicyNames[static_cast<std::size_t>(policy)]; }

bool has_hindsight(Policy policy) { return policy == Policy::kSjf || policy == Policy::kSrpt; }

bool obeys_limits(Policy policy) { return policy == Policy::kFair || policy == Policy::kBerth; }

bool decides_in_rounds(Policy policy) {
  return policy == Policy::kLas || policy == Policy::kSrpt || policy == Policy::kFair;
}

}  // namespace berth::sched
