/// Multisets of profiles: how many instances of each, without placements. The content of mig-parted files, and of plans
/// whose placements are not decided yet.
#pragma once

#include <optional>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"

namespace berth::mig {

/// A number of instances of a profile.
struct ProfileCount {
  ProfileId profile;
  int count = 0;
  friend auto operator<=>(const ProfileCount&, const ProfileCount&) = default;
};

/// Ascending by profile, each once, counts > 0.
using Multiset = std::vector<ProfileCount>;

[[nodiscard]] Multiset multiset_of(const State& state);

/// The legal state of these instances that blocks the fewest of the model's plain placements (`blocked_length`); ties:
/// the smallest State. Nothing if they cannot exist together.
///
/// Exact: visits every way to place them, at most as many as the GPU has legal states (below 10^5 for every known
/// model). Requires: a Multiset of the model's profiles; `full` not among them.
[[nodiscard]] std::optional<State> place_multiset(const GpuModel& model, const Multiset& wanted,
                                                  bool is_before_r510 = false);

}  // namespace berth::mig
