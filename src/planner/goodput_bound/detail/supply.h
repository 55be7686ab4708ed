/// The capacity of the GPUs: the kinds of slices, which sets of them fit on one GPU, and how much of each good a slice
/// makes per second.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/values/scenario.h"
#include "planner/goodput_bound/detail/blocks.h"
#include "planner/goodput_bound/detail/crowds.h"

namespace berth::bound::detail {

/// Something that a slice makes for one service, one thing at a time: answers in time with one variant of its model, or
/// progress of its retraining (1 is a whole one).
struct Good {
  std::uint32_t service = 0;
  int variant = 0;  ///< kRetrainingGood: progress
  double dead_seconds =
      0;  ///< nothing is made for this long after a slice was given to this good, unless it exists at second 0
  double per_second_max = 0;  ///< on the best slice of any GPU; 0: no GPU makes it
  [[nodiscard]] bool is_retraining() const { return variant < 0; }
};
inline constexpr int kRetrainingGood = -1;

/// The most of a good that a slice of one kind makes in each block.
struct Yield {
  std::uint32_t good = 0;
  std::vector<double> alone;   ///< held alone
  std::vector<double> shared;  ///< shared with others, but the only busy holder; empty for progress
};

/// Slices with equal yields are of one kind.
struct SliceKind {
  std::vector<Yield> yields;  ///< by good, without those that make nothing
};

/// A set of slices that may exist on one GPU at one time; dominated sets are left out.
struct SliceSet {
  struct KindCount {
    std::uint32_t kind = 0;
    double count = 0;
  };
  std::vector<KindCount> counts;
};

/// GPUs of one model.
struct GpuGroup {
  double gpu_count = 0;
  std::vector<SliceKind> kinds;
  std::vector<SliceSet> sets;
};

struct Supply {
  std::vector<Good> goods;  ///< by service, variants first, then progress
  std::vector<GpuGroup> groups;
};

/// A rate that means "without limit": larger than the requests that can wait in any second.
inline constexpr double kUnlimitedPerSecond = 1e15;

/// `crowds` by service. `is_shared`: slices may be held by several services at a time. O(models x profiles x (points x
/// batch sizes + services x blocks)).
[[nodiscard]] Supply make_supply(const Scenario& scenario, Blocks blocks, const std::vector<Crowds>& crowds,
                                 bool is_shared);

}  // namespace berth::bound::detail
