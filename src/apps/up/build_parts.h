/// Makes the parts of a running `berth up` that exist before its world begins.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/up/up_outside.h"
#include "base/core/result.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"
#include "live/folder/up_request.h"

namespace berth::edges {
class Telemetry;
}

namespace berth::up {

struct UpParts;

/// What was found, or begun, before the first thread.
struct DeviceAccess {
  std::optional<edges::HandsFound> hands = std::nullopt;  ///< absent: no GPU may be changed
  /// Borrowed. Started if the world may be local; outlives the parts.
  std::optional<edges::MachineSearch>* search = nullptr;
};

/// In this order: the folder, the devices, the world, the session, the journal of the run, the records, the series. All
/// checks come before anything is recorded; if one fails, a folder created for the start is removed again.
/// `telemetry` is borrowed and outlives the parts; null: nothing is sent to a collector.
[[nodiscard]] Result<std::unique_ptr<UpParts>> build_parts(const live::UpRequest& request, const UpOutside& outside,
                                                           DeviceAccess devices, edges::Telemetry* telemetry = nullptr);

/// Checks the folder, the scenario, the options and the fleet of a world of this cluster: for whoever writes to the
/// cluster before that world begins. Of `cluster`, its functions are not called. Nothing is recorded, and a folder that
/// was missing is missing afterwards. Errors: those of `build_parts`. O(size of the journal since the last snapshot).
[[nodiscard]] Result<void> check_cluster_folder(const live::UpRequest& request, const Files& files,
                                                const ClusterOutside& cluster);

}  // namespace berth::up
