/// The memory of this process.
#pragma once

#include <cstdint>
#include <optional>

namespace berth::edges::detail {

/// Resident memory now, counted page by page after the C library has given back what it holds. Nothing: the system does
/// not say.
[[nodiscard]] std::optional<std::int64_t> resident_bytes_now();
/// From now on the kernel's peak is that of what follows. Where it may not be set, it stays that of all.
void reset_resident_peak();
[[nodiscard]] std::optional<std::int64_t> resident_bytes_peak();

/// What the management library of the GPUs (NVML) says that this process holds on all of them. Nothing: there is no
/// such library, or it does not know the process, as in a container with process numbers of its own.
[[nodiscard]] std::optional<std::int64_t> gpu_bytes_now();

}  // namespace berth::edges::detail
