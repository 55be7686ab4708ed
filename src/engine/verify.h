/// The independent check of a plan before it is carried out. It shares no code with the planners.
#pragma once

#include <optional>
#include <string>

#include "base/instant.h"
#include "domain/plan.h"
#include "domain/scenario.h"
#include "domain/snapshot.h"

namespace berth {

/// Why a plan must not take effect at `acts_at`, or nothing. Checked: made for this version; not in a frozen window
/// (the first layout, made at second 0 on an empty fleet, is exempt); every slice created is legal together with the
/// existing ones and is not leaving; slices destroyed or assigned exist; services exist; `full` is the only slice of
/// its GPU.
[[nodiscard]] std::optional<std::string> find_objection(const Scenario& scenario, const Snapshot& snapshot,
                                                        const Plan& plan, Instant acts_at);

/// Whether a change may begin at that instant.
[[nodiscard]] bool is_frozen(const Scenario& scenario, Instant at);

}  // namespace berth
