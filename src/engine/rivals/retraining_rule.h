/// The common rule for retraining: of all policies but `fixed` (the file assigns the slices) and `shared`.
#pragma once

#include <optional>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "engine/rivals/layout.h"

namespace berth::partition {

/// The slice that a service lends to its retraining when one is due; nothing: the retraining does not run.
///
/// It lends one of the inference slices that it holds alone, provided that another one that can serve it remains. The
/// slice's size must be one that the retraining can run on, and the whole retraining must take less than `every` there
/// (a retraining that is done at the instant when the next is due is lost); if no slice is fast enough and unfinished
/// work is kept, any size on which it runs is accepted. Among those the one with the least throughput at the default
/// point (a slice that cannot serve has none), ties: lower GPU, then start. Afterwards the slice returns to inference.
[[nodiscard]] std::optional<Slice> slice_to_lend(const Scenario& scenario, const Layout& standing, ServiceId service);

}  // namespace berth::partition
