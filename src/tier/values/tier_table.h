/// What is known of workloads on kinds of hardware: the input of all that predicts, decides and judges tiers.
/// docs/reference/tier.md says where each format's values come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"

namespace berth::tier {

/// A kind of hardware with a price: a GPU model, or a slice of one.
struct Tier {
  std::string name;
  Decimal usd_per_hour;                       ///< > 0
  std::string gpu = {};                       ///< full name of the GPU model; empty: none of ours
  std::string profile = {};                   ///< full name of its profile, or "full"
  std::optional<Decimal> memory_mib = {};     ///< > 0
  std::optional<Decimal> tflops = {};         ///< > 0: dense FP16; FP32 where the GPU has no faster one
  std::optional<Decimal> gb_per_second = {};  ///< > 0: of its memory
  friend bool operator==(const Tier&, const Tier&) = default;
};

/// What the graph of a model says of one row. Unknown values are absent, never 0.
struct GraphFigures {
  std::optional<Decimal> flops = {};
  std::optional<Decimal> activation_bytes = {};
  std::optional<Decimal> parameters = {};
  std::optional<Decimal> weight_bytes = {};
  friend bool operator==(const GraphFigures&, const GraphFigures&) = default;
};

/// One measured row of a workload on a tier.
struct TierPoint {
  int batch = 1;               ///< >= 1
  int processes = 1;           ///< >= 1
  Decimal samples_per_second;  ///< of the whole slice, all processes together; > 0
  Decimal latency_ms = {};     ///< of one batch; > 0 for services, 0 for jobs
  friend bool operator==(const TierPoint&, const TierPoint&) = default;
};

/// What gets one tier.
struct TierWorkload {
  std::string group;  ///< the model
  std::string name;   ///< unique with the group
  int batch = 1;      ///< of jobs
  GraphFigures graph = {};
  /// By the index of the tier in TierTable::tiers; sorted by (processes, batch), no two with the same. Empty: the
  /// workload has no row there. Jobs have at most one point per tier.
  std::vector<std::vector<TierPoint>> points = {};
  friend bool operator==(const TierWorkload&, const TierWorkload&) = default;
};

enum class TierKind : std::uint8_t {
  kJobs,      ///< a target in samples per second
  kServices,  ///< a target in requests per second within a latency
};

/// Tiers sorted by price (equal prices in the order given), and what was measured on them.
struct TierTable {
  TierKind kind = TierKind::kJobs;
  std::vector<Tier> tiers = {};
  std::vector<TierWorkload> workloads = {};
  std::int64_t rows_left_out = 0;  ///< of tiers that `tiers` does not have
  friend bool operator==(const TierTable&, const TierTable&) = default;
};

/// What a tier must keep: samples_per_second for jobs; requests per second within latency_ms for services.
struct TierTarget {
  Decimal per_second;       ///< >= 0
  Decimal latency_ms = {};  ///< > 0 for services
  friend bool operator==(const TierTarget&, const TierTarget&) = default;
};

}  // namespace berth::tier
