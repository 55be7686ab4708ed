/// The weights of the parts of a GPU in a ledger: their dominant share, as whole numbers.
///
/// Model: a GPU has C compute slices and M memory slices. Its capacity is lcm(C, M), and an instance with c and m of
/// them weighs capacity x max(c / C, m / M), which is an integer; the whole GPU (`full`) weighs the capacity. Other
/// resources of a profile have no weight. Source of the share: Ghodsi et al., "Dominant Resource Fairness", NSDI 2011.
///
/// A legal layout can weigh more than the capacity (4g + 3g: 60 of 56): a ledger then divides the cost by the sum of
/// the weights, so that all uses together never pay more than the GPU costs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/result.h"
#include "domain/mig/geometry.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::ledger {

/// The capacity of a GPU without MIG, whose parts are software shares: thousandths, as pods request them (gpu_milli). A
/// whole percentage of MPS weighs 10.
inline constexpr std::int64_t kCapacityWithoutMig = 1000;

/// The largest capacity that an event can have.
inline constexpr std::int64_t kCapacityMax = 1'000'000;

[[nodiscard]] std::int64_t capacity_of(const GpuModel& model);

/// Which of its two shares determines the weight of a profile.
enum class Dominance : std::uint8_t { kCompute, kMemory, kBoth };

struct ProfileWeight {
  ProfileId profile;
  std::int64_t weight = 0;
  int compute_slices = 0;  ///< 0 without MIG
  int memory_slices = 0;   ///< 0 without MIG
  Dominance dominance = Dominance::kBoth;
  bool is_unverified = false;  ///< no primary source confirms the memory slices
  friend bool operator==(const ProfileWeight&, const ProfileWeight&) = default;
};

/// Requires: the model has the profile; every model has `full`.
[[nodiscard]] ProfileWeight weight_of(const GpuModel& model, ProfileId profile);

/// Of every profile in the model's order, then of `full`.
[[nodiscard]] std::vector<ProfileWeight> weights_of(const GpuModel& model);

/// A software share of a whole GPU (MPS, time slicing), as an exact fraction.
struct SoftwareShare {
  std::int64_t part = 1;
  std::int64_t whole = 1;
};

/// capacity x part / whole. Error: the result is not an integer (the message names the smallest multiple of the
/// capacity in which it is, if an event can have it), or the share is outside 0 < part <= whole <= kCapacityMax.
/// Requires: capacity from 1 to kCapacityMax.
[[nodiscard]] Result<std::int64_t> weight_of_share(const SoftwareShare& share, std::int64_t capacity);

struct LayoutWeight {
  std::vector<ProfileId> profiles;  ///< the heaviest first
  std::int64_t weight = 0;
  friend bool operator==(const LayoutWeight&, const LayoutWeight&) = default;
};

/// The heaviest legal layout of the profiles of `rules`; ties: the fewest instances, then the first in
/// `mig::maximal_layouts`. Costs as much as that function.
[[nodiscard]] LayoutWeight heaviest_layout(const GpuModel& model, const mig::Rules& rules);

/// Layouts that weigh more than the capacity: the heaviest of the plain profiles, then the heaviest of all profiles if
/// that is heavier still.
[[nodiscard]] std::vector<LayoutWeight> layouts_over_capacity(const GpuModel& model);

}  // namespace berth::ledger
