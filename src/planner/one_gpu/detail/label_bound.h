/// The bounds by which the one-GPU search drops labels.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/joint_states.h"
#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

class JointBound;
class PriceBound;

/// The bounds in use. Legal transitions:
///   kNone   -- use(prices) ------------------------------> kPrices
///   kNone   -- use(joint), no model becomes stale -------> kJoint
///   kPrices -- use(joint), some model may become stale --> kBoth
///   any     -- forget ------------------------------------> kNone
/// A bound in use may be recomputed and used again.
enum class Bounding { kNone, kPrices, kJoint, kBoth };

class LabelBound {
 public:
  /// Keeps references.
  LabelBound(const GpuCase& gpu_case, const Labels& labels) : case_(gpu_case), labels_(labels) {}

  void use(const PriceBound& prices);
  void use(JointBound& joint);
  void forget();

  [[nodiscard]] Bounding bounding() const { return bounding_; }
  [[nodiscard]] bool has_prices() const { return prices_ != nullptr; }
  [[nodiscard]] bool has_joint() const { return joint_ != nullptr; }
  /// Require: it is in use.
  [[nodiscard]] const PriceBound& prices() const { return *prices_; }
  [[nodiscard]] JointBound& joint() { return *joint_; }

  /// An upper bound on every schedule that continues a label from slot t on: the lesser of the bounds in use. If the
  /// bound by prices is at most `enough`, the joint bound is not computed. `may_take`: slices that do not serve may
  /// still be taken over at t. Requires: some bound.
  [[nodiscard]] double of(const Label& label, SlotIndex t, bool may_take, double enough);
  /// Requires: prices.
  [[nodiscard]] double by_prices(const Label& label, SlotIndex t) const;
  /// The state of an arrangement in the joint bound. Requires: a joint bound.
  [[nodiscard]] StateIndex joint_state(ArrangementIndex arrangement, const std::vector<Share>& shares);

 private:
  const GpuCase& case_;
  const Labels& labels_;
  Bounding bounding_ = Bounding::kNone;
  const PriceBound* prices_ = nullptr;    ///< in kPrices and kBoth
  JointBound* joint_ = nullptr;           ///< in kJoint and kBoth
  std::vector<StateIndex> joint_states_;  ///< [arrangement], kUnknown until needed
  std::vector<ModelState> models_;        ///< scratch of `of`, which should not allocate
};

}  // namespace berth::planner
