#include "planner/one_gpu/detail/deals_by_prices.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/one_gpu/detail/change_bound.h"
#include "planner/one_gpu/detail/draft.h"
#include "planner/one_gpu/detail/search_state.h"
#include "planner/one_gpu/detail/share_options.h"

namespace berth::planner {
namespace {

constexpr double kOpen = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void DealsByPrices::add_to(Draft& draft, const Branch& branch) {
  of_service_.clear();
  const Label& label = state_.labels[branch.label];
  for (const ServiceIndex service : Indices<ServiceIndex>(state_.services())) {
    of_service_.push_back(&options_.of(label, service, branch.slot, draft.slack()));
  }
  least_.assign(ix(state_.services()), std::vector<double>(ix(state_.gpu_case.rooms.count()), kOpen));
  shares_.assign(ix(state_.services()), {});
  changed_ = 0;
  combine(draft, branch, ServiceIndex(0), kEmptyRoom, 0);
}

/// The least loss of a service and those after it, if the earlier services occupy room `taken`.
double DealsByPrices::least_loss(ServiceIndex service, RoomIndex taken) {
  if (ix(service) == of_service_.size()) return 0;
  double& known = least_[service][taken];
  if (!std::isnan(known)) return known;
  double least = std::numeric_limits<double>::infinity();
  const std::vector<ShareOption>& options = *of_service_[service];
  for (const ShareOption& option : options) {
    if (option.loss >= least && &option != options.data()) break;
    const RoomIndex joined = state_.gpu_case.rooms.join(taken, option.room);
    if (joined != kNoRoom) least = std::min(least, option.loss + least_loss(service + 1, joined));
  }
  return known = least;
}

/// Chooses shares for a service and those after it; the earlier services have taken a room and lose `loss`.
void DealsByPrices::combine(Draft& draft, const Branch& branch, ServiceIndex service, RoomIndex taken, double loss) {
  if (ix(service) == of_service_.size()) return close(draft, branch);
  const std::vector<ShareOption>& options = *of_service_[service];
  for (const ShareOption& option : options) {
    if (state_.budget.is_spent()) return draft.stop();
    const RoomIndex joined = state_.gpu_case.rooms.join(taken, option.room);
    if (joined == kNoRoom) continue;
    if (!(loss + option.loss + least_loss(service + 1, joined) < draft.slack())) continue;
    const int changes = &option != options.data() ? 1 : 0;
    shares_[service] = option.share;
    changed_ += changes;
    combine(draft, branch, service + 1, joined, loss + option.loss);
    changed_ -= changes;
  }
}

/// Adds a deal once all services have their shares, if some of them changes.
void DealsByPrices::close(Draft& draft, const Branch& branch) {
  if (changed_ == 0) return;
  state_.budget.count(1);
  const double loss = branch.bound - change_bound_.of(branch.label, branch.slot, shares_);
  if (loss < draft.slack()) draft.add(loss, shares_);
}

}  // namespace berth::planner
