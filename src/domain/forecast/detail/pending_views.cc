#include "domain/forecast/detail/pending_views.h"

namespace berth::forecast::detail {

void PendingViews::keep(std::int64_t target, const View& view) {
  if (size_ == kRoom) return;
  if (size_ > 0 && target <= pending_[(first_ + size_ - 1) % kRoom].target) return;
  if (pending_.empty()) pending_.resize(kRoom);
  pending_[(first_ + size_) % kRoom] = {.target = target, .view = view};
  ++size_;
  ++kept_count_;
}

std::optional<View> PendingViews::take(std::int64_t second) {
  while (size_ > 0) {
    const PendingView& oldest = pending_[first_];
    if (oldest.target > second) break;
    first_ = (first_ + 1) % kRoom;
    --size_;
    if (oldest.target == second) return oldest.view;
  }
  return std::nullopt;
}

}  // namespace berth::forecast::detail
