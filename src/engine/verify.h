/// The independent check of a plan: accepted before anything acts on it. It shares no code with those who make plans.
#pragma once

#include <optional>
#include <string>

#include "base/instant.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"

namespace berth {

/// Why a plan must not act at `acts_at`, or nothing. Checked: made for this version; not in a frozen window (the first
/// layout, made when nothing stands at second 0, is exempt); every slice created is legal beside what stands and is not
/// leaving; slices destroyed or assigned stand; services exist; an uncut GPU stands alone on its device.
[[nodiscard]] std::optional<std::string> find_objection(const Scenario& scenario, const Snapshot& snapshot,
                                                        const Plan& plan, Instant acts_at);

/// Whether a change may begin at that instant.
[[nodiscard]] bool is_frozen(const Scenario& scenario, Instant at);

}  // namespace berth
