/// The rules of the devices: the answer of each NVML call that reads or changes MIG. The calls' own checks
/// (initialised, arguments, versions, handles, a lost GPU, injected faults) come before these functions; the order of
/// the checks in them is the order of the codes in their comments.
///
/// Sources: NVML's reference, NVIDIA's MIG User Guide, and docs/reference/nvml.md (measured). Rules without a source
/// are marked unverified in docs/reference/nvml_sim.md.
#pragma once

#include "base/core/result.h"
#include "gpu/nvml_abi/codes.h"

namespace berth::nvml_sim {

/// An answer of NVML: the value, or a code that is not kSuccess.
template <class T>
using Answer = tl::expected<T, nvml_abi::Code>;
[[nodiscard]] inline tl::unexpected<nvml_abi::Code> refuse(nvml_abi::Code code) { return tl::unexpected(code); }

/// Whether the caller may change devices (root, or the capability that the driver requires).
struct Caller {
  bool may_change = false;
};

/// Units [start, start + length) of a GPU, or compute slices of a GPU instance.
struct Interval {
  int start = 0;
  int length = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace berth::nvml_sim
