/// The stage that clears the slices of removed services.
#pragma once

#include "domain/values/scenario.h"
#include "engine/loop/stage.h"

namespace berth {

/// Destroys the slices of removed services; a shared slice stays with its other holders. Waits while a window is
/// frozen. Its plans are ordered (Plan::is_ordered). `scenario` must outlive the stage.
[[nodiscard]] Stage retire_stage(const Scenario& scenario);

}  // namespace berth
