#include "live/session/observed_slices.h"

#include <algorithm>
#include <ranges>

namespace berth::live {
namespace {

SliceNews news_about(EventKind kind, const StandingSlice& standing) {
  SliceNews news{.kind = kind, .slice = standing.holding.slice, .generation = standing.generation};
  if (standing.is_foreign) news.generation = 0;
  if (!standing.holding.services.empty()) news.holder = standing.holding.services.front();
  return news;
}

bool is_same(const StandingSlice& standing, const SeenSlice& seen) {
  return standing.holding.slice == seen.slice && standing.generation == seen.generation &&
         standing.is_foreign == seen.is_foreign;
}

bool is_failed_destruction(const std::vector<ActionFailed>& failed, const StandingSlice& standing) {
  return std::ranges::any_of(failed, [&](const ActionFailed& each) {
    return each.kind == ActionKind::kDestruction && each.slice == standing.holding.slice &&
           each.generation == standing.generation;
  });
}

}  // namespace

std::vector<SliceNews> news_of(const Snapshot& before, const std::vector<ActionFailed>& failed,
                               const GpuObserved& observed) {
  const auto believed = before.slices_on(observed.gpu);
  std::vector<SliceNews> news;
  for (const SeenSlice& seen : observed.slices) {
    const auto is_it = [&](const StandingSlice& standing) { return is_same(standing, seen); };
    if (!seen.is_foreign || std::ranges::any_of(believed, is_it)) continue;
    news.push_back({.kind = EventKind::kSliceForeign, .slice = seen.slice});
  }
  for (const StandingSlice& standing : believed) {
    const auto is_it = [&](const SeenSlice& seen) { return is_same(standing, seen); };
    if (std::ranges::any_of(observed.slices, is_it)) continue;
    if (standing.is_foreign) {
      news.push_back(news_about(EventKind::kSliceGone, standing));
    } else if (standing.is_ready || is_failed_destruction(failed, standing)) {
      news.push_back(news_about(EventKind::kSliceMissing, standing));
    }
  }
  return news;
}

}  // namespace berth::live
