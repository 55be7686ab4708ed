/// A slice whose holder has a program (ServiceSpec::running).
#pragma once

#include <cstdint>
#include <optional>

#include "domain/values/slice.h"

namespace berth::world {

/// A slice on which a program runs, or is to run.
struct ProgramSlice {
  Slice slice;
  std::uint64_t generation = 0;  ///< TrackedSlice::created_as
  ServiceId service;             ///< whose program it is
  bool exists = true;            ///< else it is still being created
  bool is_leaving = false;       ///< it drains: its program is to end
  bool is_ready = false;         ///< its program was reported as ready
  std::optional<PointChoice> point = std::nullopt;
  friend bool operator==(const ProgramSlice&, const ProgramSlice&) = default;
};

}  // namespace berth::world
