/// The stage that clears what removed services leave behind.
#pragma once

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// Destroys the slices of services that are gone; a slice that others share stays with the others. Waits while a window
/// is frozen. Its plans are ordered (Plan::is_ordered). `scenario` must outlive the stage.
[[nodiscard]] Stage retire_stage(const Scenario& scenario);

}  // namespace berth
