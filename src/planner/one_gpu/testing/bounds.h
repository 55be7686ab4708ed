/// The bounds of a case, computed as in the search.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/joint_bound.h"
#include "planner/one_gpu/detail/label_bound.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/detail/price_bound.h"

namespace berth::planner::testing {

class CaseBounds {
 public:
  /// Keeps a reference to the case.
  explicit CaseBounds(const GpuCase& gpu_case, int block_slots = 1)
      : prices(gpu_case, OneGpuSearch(gpu_case).starts(), 2, 1), joint(gpu_case, Variants::kKept, kStatesMax) {
    std::vector<BundleIndex> standing;
    for (const ServiceStart& start : OneGpuSearch(gpu_case).starts()) standing.push_back(start.bundle);
    joint.compute(block_slots, standing, &prices);
  }

  /// The legal combinations of bounds: prices, and the joint bound, on its own if no model becomes stale.
  [[nodiscard]] std::vector<Bounding> ways() const {
    return {Bounding::kPrices, joint.is_always_fresh() ? Bounding::kJoint : Bounding::kBoth};
  }
  void use(Bounding way, LabelBound& bound) {
    if (way != Bounding::kJoint) bound.use(prices);
    if (way != Bounding::kPrices) bound.use(joint);
  }

  PriceBound prices;
  JointBound joint;

 private:
  static constexpr int kStatesMax = 200'000;
};

}  // namespace berth::planner::testing
