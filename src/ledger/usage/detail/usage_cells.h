/// The past of GPUs as intervals without changes.
#pragma once

#include <span>
#include <vector>

#include "base/core/instant.h"
#include "base/core/result.h"
#include "domain/values/scenario.h"
#include "ledger/usage/usage_events.h"
#include "live/session/usage_book.h"

namespace berth::ledger::detail {

/// [from, to), not empty.
struct UsageCell {
  GpuId gpu;
  Instant from;
  Instant to;
  std::vector<const live::UsageInterval*> parts;  ///< by start; they cover all units of the GPU, each once
};

class CellMaker {
 public:
  explicit CellMaker(const Scenario& fleet) : fleet_(fleet), has_begun_(fleet.gpu_count(), false) {}

  /// The cells of a stretch after the last one, by their ends, then by GPU. The intervals must outlive them. Errors as
  /// UsageEvents::lines. O(intervals x cells of a GPU).
  [[nodiscard]] Result<std::vector<UsageCell>> cells_of(const Stretch& stretch,
                                                        std::span<const live::UsageInterval> usage);

 private:
  const Scenario& fleet_;
  std::vector<bool> has_begun_;  ///< by GPU: all its units were known at some instant
};

}  // namespace berth::ledger::detail
