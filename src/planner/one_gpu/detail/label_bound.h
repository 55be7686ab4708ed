/// The bounds that the search of one GPU drops labels by.
#pragma once

#include <vector>

#include "planner/one_gpu/detail/joint_states.h"
#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

class JointBound;
class PriceBound;

/// Which bounds there are. Legal transitions:
///   kNone   -- use(prices) ------------------------------> kPrices
///   kNone   -- use(joint), no model becomes stale -------> kJoint
///   kPrices -- use(joint), some model may become stale --> kBoth
///   any     -- forget ------------------------------------> kNone
/// What is used may be computed anew and used again.
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
  /// Require: it has them.
  [[nodiscard]] const PriceBound& prices() const { return *prices_; }
  [[nodiscard]] JointBound& joint() { return *joint_; }

  /// No schedule that continues a label from slot t on is worth more: the lesser of the bounds. If the bound by prices
  /// is at most `enough`, the joint bound is not computed. `may_take`: slices that serve no service may still be taken
  /// over at t. Requires: some bound.
  [[nodiscard]] double of(const Label& label, SlotIndex t, bool may_take, double enough);
  /// Requires: prices.
  [[nodiscard]] double by_prices(const Label& label, SlotIndex t) const;
  /// The state of the joint bound that an arrangement has. Requires: a joint bound.
  [[nodiscard]] StateIndex joint_state(ArrangementIndex arrangement, const std::vector<Share>& shares);

 private:
  const GpuCase& case_;
  const Labels& labels_;
  Bounding bounding_ = Bounding::kNone;
  const PriceBound* prices_ = nullptr;    ///< in kPrices and kBoth
  JointBound* joint_ = nullptr;           ///< in kJoint and kBoth
  std::vector<StateIndex> joint_states_;  ///< [arrangement], kUnknown until it is wanted
  std::vector<ModelState> models_;        ///< of `of`, which should not allocate
};

}  // namespace berth::planner
