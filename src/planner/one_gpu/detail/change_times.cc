#include "planner/one_gpu/detail/change_times.h"

#include <algorithm>
#include <cstdint>

namespace berth::planner {
namespace {

/// As stated in problem.h; the checker has its own implementation.
int slots_to_begin(const GpuCase& gpu_case, const Configuration& from, const Piece& piece) {
  const Piece* before = standing_on(from, piece.site);
  if (before != nullptr && *before == piece) return 0;
  const Problem& problem = gpu_case.problem;
  double seconds = problem.plumbing_seconds;
  if (piece.use != kRetraining) seconds += problem.services[piece.service].start_seconds;
  if (before == nullptr) {
    const Site& site = gpu_case.model.sites[piece.site];
    seconds += create_seconds_of(problem, gpu_case.model, site.kind);
    double destroys = 0;
    for (const Piece& old : from) {
      if ((site.clashes >> old.site & 1) == 0) continue;
      destroys = std::max(destroys, destroy_seconds_of(problem, gpu_case.model, gpu_case.model.sites[old.site].kind));
    }
    seconds += destroys;
  }
  return slots_of_seconds(seconds);
}

}  // namespace

const Piece* standing_on(const Configuration& pieces, SiteIndex site) {
  for (const Piece& piece : pieces) {
    if (piece.site == site) return &piece;
  }
  return nullptr;
}

ChangeTimes times_of_change(const GpuCase& gpu_case, const Configuration& from, const Configuration& to, SlotIndex t) {
  ChangeTimes times{.ready = {}, .end = t};
  times.ready.reserve(to.size());
  for (const Piece& piece : to) {
    const int slots = piece.service == kNoService ? 0 : slots_to_begin(gpu_case, from, piece);
    times.ready.push_back(t + slots);
    times.end = std::max(times.end, t + slots);
  }
  times.end = gpu_case.capped(times.end);
  return times;
}

double price_of_change(const GpuCase& gpu_case, const Configuration& from, const Configuration& to) {
  if (gpu_case.problem.change_price == 0) return 0;
  const auto missing = [](const Configuration& pieces, const Configuration& others) {
    return std::ranges::count_if(pieces,
                                 [&](const Piece& piece) { return standing_on(others, piece.site) == nullptr; });
  };
  return gpu_case.problem.change_price * static_cast<double>(missing(from, to) + missing(to, from));
}

}  // namespace berth::planner
