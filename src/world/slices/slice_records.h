/// What happens to slices, as records in order of time: a part of the journal of a run (sim/world/journal.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/slice.h"

namespace berth::world {

enum class SliceEvent { kCreated, kDestroyed, kLost, kDraining, kServing, kRetrainingStarted, kRetrainingDone };

/// An event of a slice.
struct SliceRecord {
  Instant at;
  SliceEvent event = SliceEvent::kCreated;
  Slice slice;
  Role role = Role::kInference;
  std::vector<ServiceId> services;  ///< none: unowned; several: shared
  std::uint64_t generation = 0;     ///< Action::number of the slice's creation; not written to files
  friend bool operator==(const SliceRecord&, const SliceRecord&) = default;
};

/// The operating point of a slice that serves, or is about to, from now on; absent: the default one. A slice that was
/// drained returns to the default one. Not written to files.
struct PointRecord {
  Instant at;
  Slice slice;
  std::optional<PointChoice> point;
  friend bool operator==(const PointRecord&, const PointRecord&) = default;
};

/// Receives each record in order of time; must not keep references.
using SliceJournal = std::function<void(const std::variant<SliceRecord, PointRecord>&)>;

}  // namespace berth::world
