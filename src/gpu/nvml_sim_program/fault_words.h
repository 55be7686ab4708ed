/// The user's description of a fault, in a fleet file or on the command line: its meaning, and its checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/result.h"
#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_sim/state.h"

namespace berth::nvml_sim_cli {

inline constexpr std::int64_t kFaultCountMax = 1'000'000'000;  ///< of `after` and `times`
inline constexpr std::int64_t kFaultMsMax = 86'400'000;        ///< a day: a call that hangs

/// The fault to inject into calls on one GPU.
struct FaultWords {
  std::string call;                     ///< as returned by `parse_call`
  std::optional<nvml_abi::Code> error;  ///< nothing: the call is only slow
  bool is_done = false;
  std::int64_t after = 0;
  std::int64_t times = 1;
  std::int64_t ms = 0;
};

/// The name of a simulated function, with or without the version at its end, or of a latency, which stands for all
/// calls that take it. The error gives what was wanted and found: for an unknown name the nearest known one; a function
/// that is exported but not simulated is reported as such.
[[nodiscard]] Result<std::string> parse_call(std::string_view text);

/// A code of NVML by its name, "IN_USE" or "NVML_ERROR_IN_USE"; errors as above.
[[nodiscard]] Result<nvml_abi::Code> parse_error_code(std::string_view text);

/// kInvalidInput: it would have no effect, or `is_done` without an error. Requires: the numbers are within their
/// bounds.
[[nodiscard]] Result<nvml_sim::FaultRecord> make_fault(const FaultWords& words);

}  // namespace berth::nvml_sim_cli
