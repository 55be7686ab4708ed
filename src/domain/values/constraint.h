/// The constraints of a scenario that a plan may be unable to keep, as values. Text is made where it is printed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/values/slice.h"

namespace berth {

struct Scenario;

/// The kinds of constraints, in the order in which a service's constraints are listed.
enum class ConstraintKind : std::uint8_t {
  kFloor,
  kPins,
  kIsolation,
  kTrustDomain,
  kChangesPerHour,
  kFrozen,
  kTier,
  kReplicas,
  kWarmPool,
};

/// One constraint: a rule and the service that sets it. Ordered by service, then kind; those of no service come last.
struct ConstraintId {
  std::optional<ServiceId> service;  ///< absent for kFrozen, which the scenario sets for all
  ConstraintKind kind = ConstraintKind::kFloor;

  friend bool operator==(const ConstraintId&, const ConstraintId&) = default;
  friend std::strong_ordering operator<=>(const ConstraintId& a, const ConstraintId& b) {
    if (a.service.has_value() != b.service.has_value()) return b.service.has_value() <=> a.service.has_value();
    if (const auto order = a.service <=> b.service; order != 0) return order;
    return a.kind <=> b.kind;
  }
};

[[nodiscard]] constexpr ConstraintId constraint_of(ServiceId service, ConstraintKind kind) {
  return {.service = service, .kind = kind};
}

/// A constraint with the name of its service, for results that are read without their scenario.
struct NamedConstraint {
  std::string service;
  ConstraintKind kind = ConstraintKind::kFloor;

  friend bool operator==(const NamedConstraint&, const NamedConstraint&) = default;
};

inline constexpr ConstraintId kFrozenConstraint = {.service = std::nullopt, .kind = ConstraintKind::kFrozen};

/// The word of the scenario's file: "floor", "trust_domain", "frozen".
[[nodiscard]] std::string constraint_word(ConstraintKind kind);

/// The name in messages and output: "resnet.floor", "frozen" (see service_label). Requires: the service is one of the
/// scenario.
[[nodiscard]] std::string constraint_name(const Scenario& scenario, const ConstraintId& constraint);
/// Requires: a service sets it.
[[nodiscard]] NamedConstraint named(const Scenario& scenario, const ConstraintId& constraint);
[[nodiscard]] std::string constraint_name(const NamedConstraint& constraint);
[[nodiscard]] std::vector<std::string> constraint_names(const std::vector<NamedConstraint>& constraints);

}  // namespace berth
