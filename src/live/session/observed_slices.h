/// What is new in an observed layout of a GPU, compared with what the engine believed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/values/event.h"
#include "domain/values/snapshot.h"
#include "live/session/event_log.h"

namespace berth::live {

struct SliceNews {
  EventKind kind = EventKind::kSliceForeign;
  Slice slice;
  std::uint64_t generation = 0;  ///< 0: of a foreign slice
  std::optional<ServiceId> holder = std::nullopt;
  friend bool operator==(const SliceNews&, const SliceNews&) = default;
};

/// Foreign slices that came (kSliceForeign) or went (kSliceGone), and slices of ours that do not exist although they
/// were ready or their destruction had failed (kSliceMissing). `before`: the engine's state before the events of this
/// instant; `failed`: failures among these. O(slices of the GPU squared + log slices).
[[nodiscard]] std::vector<SliceNews> news_of(const Snapshot& before, const std::vector<ActionFailed>& failed,
                                             const GpuObserved& observed);

}  // namespace berth::live
