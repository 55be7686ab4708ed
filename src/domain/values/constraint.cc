#include "domain/values/constraint.h"

#include "base/core/ensure.h"
#include "domain/values/scenario.h"

namespace berth {

std::string constraint_word(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::kFloor:
      return "floor";
    case ConstraintKind::kPins:
      return "pins";
    case ConstraintKind::kIsolation:
      return "isolation";
    case ConstraintKind::kTrustDomain:
      return "trust_domain";
    case ConstraintKind::kChangesPerHour:
      return "changes_per_hour";
    case ConstraintKind::kFrozen:
      return "frozen";
    case ConstraintKind::kTier:
      return "tier";
    case ConstraintKind::kReplicas:
      return "replicas";
    case ConstraintKind::kWarmPool:
      return "warm_pool";
  }
  ENSURE(false);
}

std::string constraint_name(const Scenario& scenario, const ConstraintId& constraint) {
  if (!constraint.service) return constraint_word(constraint.kind);
  return constraint_name(named(scenario, constraint));
}

NamedConstraint named(const Scenario& scenario, const ConstraintId& constraint) {
  ENSURE(constraint.service && constraint.service->index < scenario.services.size());
  return {.service = service_label(scenario, *constraint.service), .kind = constraint.kind};
}

std::string constraint_name(const NamedConstraint& constraint) {
  return constraint.service + "." + constraint_word(constraint.kind);
}

std::vector<std::string> constraint_names(const std::vector<NamedConstraint>& constraints) {
  std::vector<std::string> names;
  names.reserve(constraints.size());
  for (const NamedConstraint& constraint : constraints) names.push_back(constraint_name(constraint));
  return names;
}

}  // namespace berth
