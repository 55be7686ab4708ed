/// What is news in what a world sees on a GPU, compared with what the engine believed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/event.h"
#include "domain/snapshot.h"
#include "live/event_log.h"

namespace berth::live {

struct SliceNews {
  EventKind kind = EventKind::kSliceForeign;
  Slice slice;
  std::uint64_t generation = 0;  ///< 0: of a slice of others
  std::optional<ServiceId> holder = std::nullopt;
  friend bool operator==(const SliceNews&, const SliceNews&) = default;
};

/// `before`: the engine's state before the events of this instant; `failed`: failures among them. Slices of others that
/// came (kSliceForeign) or went (kSliceGone), and ours that are not there although they were ready, or their
/// destruction had failed (kSliceMissing). O(slices of the GPU squared + log slices).
[[nodiscard]] std::vector<SliceNews> news_of(const Snapshot& before, const std::vector<ActionFailed>& failed,
                                             const GpuObserved& observed);

}  // namespace berth::live
