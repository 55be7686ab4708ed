/// The memory taken by the services of a running world.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "domain/values/arrivals.h"
#include "domain/values/service.h"

namespace berth {

/// The limit on the services that are set at run time together, each by `held_bytes`, with their labels. A world is
/// saved as one value of at most 1,000,000,000 bytes, in which they take at most as many bytes as they hold here; the
/// files of the scenario have another 256 MiB there (live/folder/folder_world.cc), and 190 MB are left for the rest.
inline constexpr std::int64_t kHeldBytesMax = std::int64_t{512} << 20U;

/// Seconds, minutes or requests of the trace, at a fixed size each.
[[nodiscard]] std::int64_t held_bytes(const Arrivals& arrivals);

/// The memory of a service besides its spec: mostly its arrivals of the last `history_seconds`.
[[nodiscard]] constexpr std::int64_t remembered_bytes(std::int64_t history_seconds) {
  constexpr std::int64_t kServiceBytes = std::int64_t{32} << 10U;
  constexpr std::int64_t kSecondBytes = 16;
  return kServiceBytes + history_seconds * kSecondBytes;
}

/// An upper bound of the bytes of the spec in an archive (base/core/archive.h), and about what it takes in memory:
/// fixed sizes for the spec, each variant, each pin and each row of its tables, and its arrivals. O(variants).
[[nodiscard]] std::int64_t held_bytes(const ServiceSpec& service);

/// The same for labels and for references to blobs. O(texts).
[[nodiscard]] std::int64_t held_bytes(const std::map<std::string, std::string>& texts);

}  // namespace berth
