/// What it takes to cure a plan that is full to the brim: the headroom with which every demand is in time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/decimal.h"
#include "base/result.h"
#include "domain/packing.h"
#include "study/packing_replay.h"
#include "surface/cli/pack_options.h"

namespace berth::cli {

/// A demand with a smaller share in time than this is short of room.
inline constexpr double kAttainmentWanted = 0.99;

[[nodiscard]] bool is_short_of_room(const study::DemandFigures& figures);

/// The headroom that cures, the GPUs of the plan with it, and what it costs where there are prices.
struct PackCure {
  Decimal headroom;
  std::int64_t gpus = 0;
  std::optional<std::int64_t> micro_usd_per_hour;
};

/// The smallest headroom in steps of 1 %, from what was asked for up to four times that, with which the plan brings
/// every demand to kAttainmentWanted in a replay, found by doubling and halving: about ten plans and replays. Nothing:
/// not even the largest does, or the fleet is too small for it.
[[nodiscard]] std::optional<PackCure> find_pack_cure(const PackRequest& request, const PackingProblem& problem,
                                                     const study::PackingReplayOptions& options);

}  // namespace berth::cli
