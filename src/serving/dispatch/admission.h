/// Admission: whether a request that arrives can be in time behind what runs, what is more urgent, and the load that
/// its model needs.
#pragma once

#include "serving/dispatch/device_state.h"
#include "serving/dispatch/expected_wait.h"
#include "serving/dispatch/lane_shares.h"

namespace berth::serving {

/// Requires: a lane works, and the model is resident or fits. Where lanes are short, a tenant within its share does
/// not wait for those above theirs. O(requests that wait).
[[nodiscard]] ExpectedWait expected_wait(const DeviceState& device, const LaneShares& shares, const Request& request,
                                         Instant now);

}  // namespace berth::serving
