/// Packing: how many GPUs a set of demands needs, and how each is partitioned. The question and an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/decimal.h"
#include "domain/values/gpu.h"
#include "domain/values/performance.h"
#include "domain/values/slice.h"

namespace berth {

/// A model's load and latency target, which a packing must serve. (tenant, model) is unique among demands.
struct Demand {
  std::string model;
  std::string tenant;           ///< by default the model's name
  Decimal requests_per_second;  ///< >= 0, before headroom; 0 needs nothing
  Decimal latency_ms;           ///< the target, > 0
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// Available GPUs of one model.
struct GpuOffer {
  GpuModel model;
  std::optional<std::int64_t> count_max = std::nullopt;  ///< >= 0; absent: unlimited
  std::optional<std::int64_t> micro_usd_per_hour =
      std::nullopt;  ///< of one GPU, >= 0; in a problem all offers have one, or none
};

/// What makes a plan acceptable, in addition to the demands.
struct PackingRules {
  Decimal slo_factor = Decimal(45, 100);  ///< > 0; a point is usable when its latency < slo_factor x target
  Decimal headroom = Decimal(1);          ///< > 0; every rate is multiplied by it
  int processes_max = 3;                  ///< >= 1; points with more are not used
  bool keeps_tenants_apart = false;       ///< no GPU has slices of two tenants
  friend bool operator==(const PackingRules&, const PackingRules&) = default;
};

/// The question: the fewest GPUs (or, if offers have prices, the cheapest) that serve every demand.
struct PackingProblem {
  std::vector<GpuOffer> offers;  ///< GPU models are different
  std::vector<Demand> demands;
  std::vector<PerformanceTable> tables;  ///< sorted by model, unique
  PackingRules rules;

  /// Whether plans are judged by money; otherwise by their number of GPUs.
  [[nodiscard]] bool is_priced() const { return !offers.empty() && offers.front().micro_usd_per_hour.has_value(); }
  /// The table of a model, or nullptr.
  [[nodiscard]] const PerformanceTable* table_of(const std::string& model) const;
};

/// A slice of a plan: it runs one demand's model at one measured point.
struct PackedSlice {
  Slice slice;
  std::uint32_t demand = 0;  ///< index into PackingProblem::demands
  int batch = 1;
  int processes = 1;
  Decimal requests_per_second;  ///< the point's, of the whole slice
  friend bool operator==(const PackedSlice&, const PackedSlice&) = default;
};

/// A plan: GPUs, numbered from 0, and their slices.
struct Packing {
  std::vector<std::uint32_t> gpu_offers;  ///< by GPU: index into PackingProblem::offers
  std::vector<PackedSlice> slices;        ///< sorted by slice
  friend bool operator==(const Packing&, const Packing&) = default;
};

}  // namespace berth
