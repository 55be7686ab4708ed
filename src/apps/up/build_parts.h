/// Makes the parts of a running `berth up` that are there before its world begins.
#pragma once

#include <memory>
#include <optional>

#include "apps/up/up_outside.h"
#include "base/core/result.h"
#include "gpu/hands/reach_hands.h"
#include "gpu/watch/machine_search.h"
#include "live/folder/up_request.h"

namespace berth::up {

struct UpParts;

/// What was found, or is begun, before there was a thread.
struct DeviceAccess {
  std::optional<edges::HandsFound> hands = std::nullopt;  ///< absent: no GPU may be changed
  /// Borrowed. It is begun in a world that may be local, and outlives the parts.
  std::optional<edges::MachineSearch>* search = nullptr;
};

/// In this order: the folder, the devices, the world, the session, the journal of the run, the records, the series.
/// What can be refused is refused before anything is recorded, and a folder that was made for it is removed again.
[[nodiscard]] Result<std::unique_ptr<UpParts>> build_parts(const live::UpRequest& request, const UpOutside& outside,
                                                           DeviceAccess devices);

}  // namespace berth::up
