/// When a service with `tier: auto` gets which GPU model, and why.
///
/// - First, and whenever it has none: of the models that carry every rate given with the probability asked for, the one
///   with the least mean price of slices for these rates; ties: the first of the fleet. Of a predicted model that is
///   the mean over what it may cost, where an outcome above what the service pays otherwise (on its model; while it has
///   none, on the cheapest known one) counts for kSavingApart of kSavingMemory: it would be left again. If there is no
///   such model, the one with the highest probability; then the one with the most capacity, then the first.
/// - At once, if its rows on its model are known and no slice there keeps the latency target.
/// - After `kWithoutRoom`, if its slices carried less than its load at every look since: the cheapest other sufficient
///   model that was not left for want of room within `kSavingApart`.
/// - To save money: if another sufficient model costs at least `kSavingShare` less, `kSavingAfter` after the last
///   change, and `kSavingApart` after the last such move; twice as much if it has moved to save money or for want of
///   room within `kSavingMemory`, and not at all after `kSavingMoves` such moves. A model that was left for want of
///   room within that time is not taken again to save: a load which swings would move it back and forth.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/tier_rule.h"
#include "tier/enforce/tier_offer.h"

namespace berth::tier {

inline constexpr double kSavingShare = 0.1;
inline constexpr Micros kSavingAfter = Micros::seconds(1800);
inline constexpr Micros kSavingApart = Micros::seconds(3600);
inline constexpr Micros kSavingMemory = Micros::seconds(21'600);
inline constexpr std::size_t kSavingMoves = 2;
inline constexpr Micros kWithoutRoom = Micros::seconds(300);

/// What a choice depends on.
struct TierQuestion {
  std::span<const TierOffer> tiers;  ///< the models of the fleet, in its order; none twice
  std::span<const double> rates;     ///< requests per second, by minute, of up to 30 minutes; not empty
  double sure = 0.9;                 ///< above 0, below 1; each predicted model has a level of it, and of 0.5
  Instant now;
  bool is_short = false;  ///< its slices on its model carry less than its load
};

/// What is remembered between two questions.
struct TierMemory {
  std::string gpu;  ///< the model that it has; empty: none yet
  Instant chosen_at;
  std::vector<Instant> saved_at;                ///< its moves to save money within kSavingMemory, the last one last
  std::optional<Instant> short_since;           ///< since when its slices carry less than its load
  std::map<std::string, Instant> without_room;  ///< models that it left for want of room, and when
  friend bool operator==(const TierMemory&, const TierMemory&) = default;
};

/// The model that it gets from now on; nothing: it keeps what it has. The choice's service is left to the caller.
/// Updates the memory.
[[nodiscard]] std::optional<TierChoice> choose_tier(const TierQuestion& question, TierMemory& memory);

}  // namespace berth::tier
