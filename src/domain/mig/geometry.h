/// MIG geometry: which sets of instances are legal on one GPU, which placements still fit, which instances a change
/// destroys.
///
/// Model: a GPU has `units` placement units; an instance of profile p at a legal start s covers [s, s + length). A set
/// is legal iff intervals do not overlap, no profile exceeds its `instances_max`, and at most one instance takes
/// extended or all media engines (`+me`, `+me.all`). A whole GPU that is not partitioned (`full`) is a set of one at
/// start 0. Source: docs/explanation/geometry.md. The code: geometry.cc, enumeration.cc (all states, maximal layouts),
/// state.cc (the text form).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/mig/site.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// Instances on one GPU, sorted.
using State = std::vector<Placement>;

/// Which profiles an enumeration uses and which driver's rules apply.
struct Rules {
  std::vector<ProfileId> profiles;  ///< ascending
  bool is_before_r510 = false;      ///< A100 drivers before R510 refuse 4g + 3g
};

/// The plain profiles of a model (1g, 2g, 3g, 4g, 7g without variants), or all.
[[nodiscard]] Rules plain_rules(const GpuModel& model);
[[nodiscard]] Rules all_rules(const GpuModel& model);

/// Why a set is illegal, naming the two instances that clash (or the profile that occurs too often), or nothing.
[[nodiscard]] std::optional<std::string> find_clash(const GpuModel& model, const State& state,
                                                    bool is_before_r510 = false);

/// Placements that could be added to a legal state, sorted by profile, then start.
[[nodiscard]] std::vector<Placement> placements_that_fit(const GpuModel& model, const State& state, const Rules& rules);

/// Calls `visit` for every legal state, the empty one included, in a fixed order. O(states x placements).
void for_each_state(const GpuModel& model, const Rules& rules, const std::function<void(const State&)>& visit);

/// The legal states to which nothing can be added, in a fixed order: the profile with the most SMs first at the lowest
/// start.
[[nodiscard]] std::vector<State> maximal_layouts(const GpuModel& model, const Rules& rules);

/// The difference between two legal states of one GPU: untouched instances keep running.
struct Difference {
  State kept;
  State destroyed;
  State created;
};
[[nodiscard]] Difference difference_between(const State& from, const State& to);

/// Fragmentation of a state for one request: how many free units it has, and whether the profile still fits.
struct Room {
  int free_units = 0;
  bool fits = false;
};
[[nodiscard]] Room room_for(const GpuModel& model, const State& state, ProfileId profile);

/// Placements of the rules' profiles, each counted with its length: `eligible` are those not longer than the number of
/// free units, `blocked` those of them that cover a busy unit. Limits on counts (max, media) are ignored.
struct BlockedLength {
  int blocked = 0;
  int eligible = 0;
  friend bool operator==(const BlockedLength&, const BlockedLength&) = default;
};
[[nodiscard]] BlockedLength blocked_length(const GpuModel& model, const State& state, const Rules& rules);

/// Share of the placements of the rules' profiles, weighted by length, that fit into the free units by count but
/// not by position: blocked / eligible, from 0 (none blocked, or none eligible) to 1. See docs/explanation/geometry.md.
[[nodiscard]] double fragmentation(const GpuModel& model, const State& state, const Rules& rules);

/// The units that a legal state covers: bit u for unit u. `full` covers all 32 bits.
[[nodiscard]] std::uint32_t occupied_units(const GpuModel& model, const State& state);

inline constexpr std::size_t kStateTextMax = 1024;

/// "3g.40gb@4,1g.10gb@0" -> State; blank text is the empty state. The error names the column (bytes, from 1), the
/// unknown profile or illegal start, and the clash.
[[nodiscard]] Result<State> parse_state(const GpuModel& model, std::string_view text);
/// The text that `parse_state` reads.
[[nodiscard]] std::string to_string(const GpuModel& model, const State& state);

}  // namespace berth::mig
