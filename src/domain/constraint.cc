#include "domain/constraint.h"

#include "base/ensure.h"
#include "domain/scenario.h"

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
  }
  ENSURE(false);
}

std::string constraint_name(const Scenario& scenario, const ConstraintId& constraint) {
  if (!constraint.service) return constraint_word(constraint.kind);
  ENSURE(constraint.service->index < scenario.services.size());
  return scenario.services[constraint.service->index].name + "." + constraint_word(constraint.kind);
}

}  // namespace berth
