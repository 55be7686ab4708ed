/// The independent check of a plan before it is carried out. It shares no code with the planners.
#pragma once

#include <optional>
#include <string>

#include "base/core/instant.h"
#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"

namespace berth {

/// The objection to a plan in a window without changes.
inline constexpr const char* kFrozenObjection = "a change would begin in a frozen window";

/// Why a plan must not take effect at `acts_at`, or nothing. Checked: the facts that the plan names hold; it does not
/// take effect in a frozen window (the first layout, made at second 0 on an empty fleet, is exempt); every slice
/// created is one of the GPU's model, and legal together with the existing ones; slices destroyed or assigned exist;
/// services exist; `full` is the only slice of its GPU; the GPU is open, or draining and only loses slices. Slices that
/// are leaving count as gone.
[[nodiscard]] std::optional<std::string> find_objection(const Scenario& scenario, const Snapshot& snapshot,
                                                        const Plan& plan, Instant acts_at);

}  // namespace berth
