/// The page of `berth pack`: the slices of each GPU and their owners, the proven bound, and the slices of each demand,
/// as one self-contained HTML page without script.
#pragma once

#include <cstddef>
#include <string>

#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "sim/study/packing_replay.h"

namespace berth::report {

/// The page, UTF-8. `replay` may be null. Names are escaped; absent figures are a dash. Consecutive equal GPUs share a
/// picture, the first `kPackPicturesMax` are drawn, and the page says so. The same arguments give the same bytes.
/// Requires: `result` is a plan for `problem`.
[[nodiscard]] std::string render_pack_report(const PackingProblem& problem, const packing::PackResult& result,
                                             const study::PackingReplay* replay);

inline constexpr std::size_t kPackPicturesMax = 200;

}  // namespace berth::report
