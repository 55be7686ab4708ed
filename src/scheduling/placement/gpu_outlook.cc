#include "scheduling/placement/gpu_outlook.h"

#include <algorithm>
#include <limits>

#include "base/core/ensure.h"
#include "scheduling/placement/slices.h"

namespace berth::placement {
namespace {

constexpr int kRandomPods = 20;
constexpr int kCountMax = 15;  // larger counts on one GPU make no difference

/// How many times the slices of a request fit next to others, for the first alternative that fits at all.
int times_it_fits(const Cut& cut, CutIndex index, mig::SiteSet standing, const Shape& shape) {
  for (const auto& needs : shape.slices) {
    const auto& need = needs[static_cast<std::size_t>(index)];
    if (!need) continue;
    int times = 0;
    mig::SiteSet taken = standing;
    for (auto sites = lowest_sites(cut, taken, *need); sites && times < kCountMax;
         sites = lowest_sites(cut, taken, *need)) {
      taken |= *sites;
      ++times;
    }
    if (times > 0) return times;
  }
  return 0;
}

}  // namespace

GpuOutlooks::GpuOutlooks(const Problem& problem)
    : problem_(&problem), request_of_(problem.shapes.size()), state_of_milli_(kGpuMilli + 1, -1) {
  add_requests();
  add_values();
}

void GpuOutlooks::add_requests() {
  std::map<std::pair<int, std::vector<std::pair<int, int>>>, std::size_t> known;
  std::int64_t rows = 0;
  for (const ShapeIndex index : indices_of<ShapeIndex>(problem_->shapes)) {
    const Shape& shape = problem_->shapes[static_cast<std::size_t>(index)];
    if (shape.gpu_count != 1) continue;
    std::vector<std::pair<int, int>> slices;
    for (const auto& needs : shape.slices) {
      for (const auto& need : needs)
        slices.emplace_back(need ? static_cast<int>(need->kind) : -1, need ? need->count : 0);
    }
    const auto [request, is_new] = known.try_emplace({shape.gpu_milli, std::move(slices)}, requests_.size());
    if (is_new) requests_.push_back({.gpu_milli = shape.gpu_milli, .shape = &shape, .share = 0});
    request_of_[static_cast<std::size_t>(index)] = request->second;
    const std::int64_t count = problem_->rows_of_shape[static_cast<std::size_t>(index)];
    requests_[request->second].share += static_cast<double>(count);
    rows += count;
  }
  for (GpuRequest& request : requests_) request.share /= static_cast<double>(rows);
}

void GpuOutlooks::add_values() {
  values_.assign(kGpuMilli + 1, 0);
  for (int pod = 0; pod < kRandomPods; ++pod) {
    const std::vector<double> before = values_;
    for (int free = 0; free <= kGpuMilli; ++free) {
      double value = 0;
      for (const GpuRequest& request : requests_) {
        const bool fits = request.gpu_milli <= free;
        value += request.share * (fits ? request.gpu_milli + before[static_cast<std::size_t>(free - request.gpu_milli)]
                                       : before[static_cast<std::size_t>(free)]);
      }
      values_[static_cast<std::size_t>(free)] = value;
    }
  }
}

GpuStateIndex GpuOutlooks::add(int free_milli, bool is_whole, const std::vector<int>& counts) {
  ENSURE(outlooks_.size() < std::numeric_limits<GpuStateIndex>::max());
  const std::size_t blocks = (counts.size() + kRequestsPerBlock - 1) / kRequestsPerBlock;
  GpuOutlook outlook{.counts = std::vector<RequestBlock>(blocks),
                     .usable = std::vector<RequestBlock>(blocks),
                     .value = value_of(free_milli),
                     .free_milli = free_milli,
                     .is_whole = is_whole};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    outlook.counts[i / kRequestsPerBlock][i % kRequestsPerBlock] = static_cast<std::uint16_t>(counts[i]);
    outlook.usable[i / kRequestsPerBlock][i % kRequestsPerBlock] =
        static_cast<std::uint16_t>(counts[i] > 0 ? free_milli : 0);
  }
  outlooks_.push_back(std::move(outlook));
  return static_cast<GpuStateIndex>(outlooks_.size() - 1);
}

GpuStateIndex GpuOutlooks::state_with_free(int milli) {
  int& known = state_of_milli_[static_cast<std::size_t>(milli)];
  if (known >= 0) return static_cast<GpuStateIndex>(known);
  std::vector<int> counts;
  counts.reserve(requests_.size());
  for (const GpuRequest& request : requests_) {
    counts.push_back(request.shape->names_profile ? 0 : std::min(kCountMax, milli / request.gpu_milli));
  }
  const GpuStateIndex added = add(milli, milli == kGpuMilli, counts);
  known = added;
  return added;
}

GpuStateIndex GpuOutlooks::state_with_slices(CutIndex index, mig::SiteSet standing) {
  const auto known = state_of_slices_.find({index, standing});
  if (known != state_of_slices_.end()) return known->second;
  const Cut& cut = problem_->cuts[static_cast<std::size_t>(index)];
  std::vector<int> counts;
  counts.reserve(requests_.size());
  for (const GpuRequest& request : requests_) {
    // A request for a whole GPU has no slices.
    const bool is_whole = request.shape->slices.empty();
    counts.push_back(is_whole ? (standing == 0 ? 1 : 0) : times_it_fits(cut, index, standing, *request.shape));
  }
  const GpuStateIndex added = add(kGpuMilli * free_units(cut, standing) / cut.model.units, standing == 0, counts);
  state_of_slices_.emplace(std::pair(index, standing), added);
  return added;
}

GpuStateIndex GpuOutlooks::state_of(const Cluster& cluster, NodeIndex node, int gpu) {
  const int free = cluster.state(node).free_of[static_cast<std::size_t>(gpu)];
  const auto& cut = cluster.node(node).cut;
  if (!cut || free < kGpuMilli) return state_with_free(free);
  return state_with_slices(*cut, cluster.slices_on(node, gpu));
}

}  // namespace berth::placement
