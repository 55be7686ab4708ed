/// The return codes of NVML: numbers, C names and a sentence each.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace berth::nvml_abi {

/// The C type `nvmlReturn_t` by another name: the same size and the same numbers. A library may return others, too.
enum class Code : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kResetTypeNotSupported = 30,
  kUnknown = 999,
};

/// The name in C, "NVML_ERROR_IN_USE"; "(unknown NVML return code)" for a number without one.
[[nodiscard]] std::string_view name_of(Code code);

/// The error of this name, with or without its prefix: "NVML_ERROR_IN_USE" or "IN_USE". Nothing for an unknown name, or
/// success.
[[nodiscard]] std::optional<Code> find_code(std::string_view name);

/// All names that `find_code` accepts, for spelling hints: the names without prefix, then those with it.
[[nodiscard]] std::span<const std::string_view> error_names();

/// A few English words, zero-terminated and with static lifetime; the answer of `nvmlErrorString`.
[[nodiscard]] const char* message_of(Code code);

}  // namespace berth::nvml_abi
