#include "planner/one_gpu/detail/label_bound.h"

#include <algorithm>

#include "base/core/ensure.h"
#include "planner/one_gpu/detail/joint_bound.h"
#include "planner/one_gpu/detail/price_bound.h"

namespace berth::planner {
namespace {

constexpr StateIndex kUnknown(-1);

}  // namespace

void LabelBound::use(const PriceBound& prices) {
  ENSURE(bounding_ == Bounding::kNone);
  prices_ = &prices;
  bounding_ = Bounding::kPrices;
}

void LabelBound::use(JointBound& joint) {
  if (has_joint()) {
    ENSURE(joint_ == &joint);
    return;
  }
  // Prices of progress are needed exactly if models become stale.
  ENSURE(joint.is_usable() && joint.is_always_fresh() == (bounding_ == Bounding::kNone));
  joint_ = &joint;
  bounding_ = has_prices() ? Bounding::kBoth : Bounding::kJoint;
}

void LabelBound::forget() {
  prices_ = nullptr;
  joint_ = nullptr;
  bounding_ = Bounding::kNone;
  joint_states_.clear();
}

double LabelBound::of(const Label& label, SlotIndex t, bool may_take, double enough) {
  ENSURE(bounding_ != Bounding::kNone);
  if (!has_joint()) return by_prices(label, t);
  const StateIndex state = joint_state(label.arrangement, labels_.arrangement_of(label).shares);
  if (!has_prices()) return label.value + joint_->from(t, state);
  const double alone = by_prices(label, t);
  if (!(alone > enough)) return alone;
  models_.clear();
  for (const ServiceIndex service : indices_of<ServiceIndex>(case_.bundles)) {
    models_.push_back(labels_.state_of(label, service));
  }
  const bool has_spare = may_take && labels_.has_spare(label, t);
  return std::min(alone, label.value + joint_->from(t, state, models_, has_spare));
}

double LabelBound::by_prices(const Label& label, SlotIndex t) const {
  double bound = label.value + prices_->income(t);
  for (const ServiceIndex service : indices_of<ServiceIndex>(case_.bundles)) {
    bound += prices_->from(service, t, labels_.share_of(label, service).bundle, labels_.state_of(label, service));
  }
  return bound;
}

StateIndex LabelBound::joint_state(ArrangementIndex arrangement, const std::vector<Share>& shares) {
  if (joint_states_.size() <= ix(arrangement)) joint_states_.resize(ix(arrangement) + 1, kUnknown);
  StateIndex& state = joint_states_[arrangement];
  if (state != kUnknown) return state;
  std::vector<BundleIndex> bundles;
  bundles.reserve(shares.size());
  for (const Share& share : shares) bundles.push_back(share.bundle);
  state = joint_->state_of(bundles);
  return state;
}

}  // namespace berth::planner
