/// A packing problem in whole numbers, as the search uses it: kinds of slices, maximal partitions of GPUs, demands.
///
/// Model: n[d][k] slices of kind k for demand d, y[o][c] GPUs of offer o with partition c.
///   each demand d:        sum_k throughput[d][k] n[d][k] >= rate[d]
///   each kind k of o:     sum_d n[d][k] <= sum_c partition[c][k] y[o][c]
///   each offer o:         sum_c y[o][c] <= count_max[o]
///   minimise              sum_o price[o] sum_c y[o][c]
/// all n and y whole. If tenants are kept apart, each tenant's demands form a pool; a GPU serves one pool.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/core/decimal.h"
#include "base/core/result.h"
#include "domain/values/packing.h"
#include "domain/values/slice.h"

namespace berth::packing::detail {

/// How many slices of each kind, by index of the kind.
using Counts = std::vector<std::int32_t>;

/// A kind of slice: a profile of one offer's GPU model.
struct OfferedKind {
  std::uint32_t offer = 0;
  ProfileId profile;
  int sms = 0;
  int length = 0;         ///< placement units; for `full` the GPU's
  bool is_plain = false;  ///< counts as a free slice if it still fits
};

/// GPUs of one model and the partitions of one: multisets of kinds to which nothing can be added.
struct OfferedGpus {
  std::vector<Counts> partitions;  ///< over all kinds of the instance; other offers' are 0
  std::optional<std::int64_t> count_max;
  std::int64_t price = 1;  ///< of one GPU, in the instance's unit of cost; 1 if GPUs are counted
};

struct InstanceDemand {
  std::uint32_t demand = 0;  ///< index into PackingProblem::demands
  std::uint32_t pool = 0;
  Int128 rate = 1;                 ///< > 0, with headroom
  std::vector<Int128> throughput;  ///< by kind, in the same unit; 0: the kind cannot serve it
};

struct Instance {
  std::vector<OfferedKind> kinds;  ///< sorted by offer, then profile
  std::vector<OfferedGpus> offers;
  std::vector<InstanceDemand> demands;  ///< rate > 0; ascending by pool
  std::uint32_t pool_count = 1;
  std::int64_t micro_usd_per_price = 1;  ///< an offer's price times this is its cost in micro-USD per hour

  /// The same with the demands of these pools only, which become pools 0, 1 and so on. Requires: ascending.
  [[nodiscard]] Instance only_pools(std::span<const std::uint32_t> pools) const;
  [[nodiscard]] Instance only_pool(std::uint32_t pool) const { return only_pools({&pool, 1}); }
};

/// The most slices of one plan, so that a typing error does not exhaust memory.
inline constexpr std::int64_t kSlicesMax = 1'000'000;

/// Errors: demands without a usable point, all named; numbers too long; more slices than kSlicesMax.
[[nodiscard]] Result<Instance> make_instance(const PackingProblem& problem);

}  // namespace berth::packing::detail
