/// For a plan without spare capacity (`--cure`): the headroom with which every demand is answered in time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "sim/study/packing_replay.h"

namespace berth::study {

/// A demand whose share in time is smaller than this needs more capacity.
inline constexpr double kAttainmentWanted = 0.99;

[[nodiscard]] bool is_short_of_room(const DemandFigures& figures);

/// The headroom that is enough, the GPUs of the plan with it, and its cost if there are prices.
struct PackingCure {
  Decimal headroom;
  std::int64_t gpus = 0;
  std::optional<std::int64_t> micro_usd_per_hour;
};

/// The smallest headroom in steps of 1 %, from that of `problem` up to four times that, with which the plan brings
/// every demand to kAttainmentWanted in a replay, found by doubling and halving: about ten plans and replays. Nothing
/// if even the largest is not enough, or the fleet is too small.
[[nodiscard]] std::optional<PackingCure> find_packing_cure(const PackingProblem& problem,
                                                           const packing::PackOptions& search,
                                                           const PackingReplayOptions& options);

}  // namespace berth::study
