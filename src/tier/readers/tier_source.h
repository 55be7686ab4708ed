/// The formats of measurements that `berth tier` reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tier/values/tier_table.h"

namespace berth::tier {

enum class TierSource : std::uint8_t {
  kGavel,     ///< Gavel's throughputs of training jobs (OSDI'20)
  kSia,       ///< Sia's step times of training jobs (SOSP'23)
  kMiso,      ///< MISO's iteration times on MIG slices (SoCC'22)
  kParvagpu,  ///< ParvaGPU's profiles of inference on MIG slices (SC'24)
  kCsv,       ///< Berth's own format
};

inline constexpr std::array kTierSources = {TierSource::kGavel, TierSource::kSia, TierSource::kMiso,
                                            TierSource::kParvagpu, TierSource::kCsv};

[[nodiscard]] std::string_view name_of(TierSource source);
[[nodiscard]] std::optional<TierSource> source_named(std::string_view name);

/// The tier whose latency and throughput give the cases of services their targets: `7g` of ParvaGPU, else the last,
/// most expensive one. Nothing if the table does not have it.
[[nodiscard]] std::optional<std::size_t> reference_tier(TierSource source, const TierTable& table);

}  // namespace berth::tier
