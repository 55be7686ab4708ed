/// Slices: intervals of GPUs, and their holders.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

namespace berth {

/// A GPU of the fleet: its number, counted through the fleet's entries in the order of the file.
struct GpuId {
  std::uint32_t index = 0;
  friend auto operator<=>(GpuId, GpuId) = default;
};

/// A service: its number in the order of the file.
struct ServiceId {
  std::uint32_t index = 0;
  friend auto operator<=>(ServiceId, ServiceId) = default;
};

/// A profile of a GPU model: its number in `GpuModel::profiles`, or the whole GPU.
struct ProfileId {
  std::uint16_t index = 0;
  [[nodiscard]] static constexpr ProfileId full() { return {UINT16_MAX}; }
  [[nodiscard]] constexpr bool is_full() const { return index == UINT16_MAX; }
  friend auto operator<=>(ProfileId, ProfileId) = default;
};

/// The name of a whole GPU that is not partitioned, in scenarios, profile tables and journals.
inline constexpr const char* kFullProfileName = "full";

/// A part of one GPU: a profile at a start. Ordered by GPU, then start, which is the order in which replicas take
/// requests.
struct Slice {
  GpuId gpu;
  int start = 0;
  ProfileId profile;
  friend auto operator<=>(const Slice&, const Slice&) = default;
};

/// What a slice does for its holders.
enum class Role { kInference, kRetraining };

/// A slice and its holders. No holder: it is unowned. Several: they share it (software sharing of a whole GPU).
struct Holding {
  Slice slice;
  Role role = Role::kInference;
  std::vector<ServiceId> services;  ///< ascending
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// The operating point of a service on a slice, if not the default one.
struct PointChoice {
  int variant = 0;  ///< 0: the model itself
  int batch = 1;
  int processes = 1;
  friend bool operator==(const PointChoice&, const PointChoice&) = default;
};

/// A slice with its holders and how they run on it.
struct Allocation {
  Holding holding;
  std::optional<PointChoice> point = std::nullopt;  ///< absent: the default of domain/profile/operating_point.h
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

}  // namespace berth
