/// The figures of a replay as JSON: the keys of docs/reference/replay.md, in their order.
#pragma once

#include <string>

#include "sim/study/replay.h"

namespace berth::cli {

/// One line of JSON with a newline. Absent figures are null, floats have the fewest digits that round-trip. A policy
/// that cannot run has `infeasible`, null figures and no services. `how`, `ignores` and `notes` are present only if not
/// empty, `wall_seconds` only with `has_timings`: without it, the same replay gives the same bytes.
[[nodiscard]] std::string replay_json(const study::ReplayResult& result, bool has_timings);

}  // namespace berth::cli
