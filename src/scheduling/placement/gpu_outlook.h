/// The remaining capacity of a single GPU, by its state: a free share, or the slices on it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "scheduling/placement/cluster.h"

namespace berth::placement {

/// A state of a GPU, numbered as it was first seen. GPUs in one state are equivalent.
using GpuStateIndex = std::uint16_t;

/// The request of pods with one GPU: a share or slices; equal requests have one number.
struct GpuRequest {
  int gpu_milli = 0;
  const Shape* shape = nullptr;  ///< for its slices
  double share = 0;              ///< of the rows with one GPU
};

/// Numbers by request, in blocks of fixed length: sums over GPUs are the innermost loop.
inline constexpr std::size_t kRequestsPerBlock = 16;
using RequestBlock = std::array<std::uint16_t, kRequestsPerBlock>;

/// By request: how many of it one GPU can take, and the free milli that are usable for it.
struct GpuOutlook {
  std::vector<RequestBlock> counts;
  std::vector<RequestBlock> usable;
  double value = 0;  ///< milli that random pods of the list are expected to take
  int free_milli = 0;
  bool is_whole = false;
};

/// The outlooks of all states seen so far.
class GpuOutlooks {
 public:
  /// The problem must outlive it.
  explicit GpuOutlooks(const Problem& problem);

  [[nodiscard]] const std::vector<GpuRequest>& requests() const { return requests_; }
  /// The number of a shape's request. Requires: a shape with one GPU.
  [[nodiscard]] std::size_t request_of(ShapeIndex shape) const { return request_of_[static_cast<std::size_t>(shape)]; }

  [[nodiscard]] GpuStateIndex state_with_free(int milli);
  [[nodiscard]] GpuStateIndex state_with_slices(CutIndex cut, mig::SiteSet standing);
  /// The state of a GPU of a cluster's node.
  [[nodiscard]] GpuStateIndex state_of(const Cluster& cluster, NodeIndex node, int gpu);
  [[nodiscard]] const GpuOutlook& outlook(GpuStateIndex state) const { return outlooks_[state]; }

  /// The expected milli that 20 random pods with one GPU take of a GPU with `free_milli` free, each if it still fits.
  [[nodiscard]] double value_of(int free_milli) const { return values_[static_cast<std::size_t>(free_milli)]; }

 private:
  void add_requests();
  void add_values();
  /// Adds a state. `counts`: by request.
  [[nodiscard]] GpuStateIndex add(int free_milli, bool is_whole, const std::vector<int>& counts);

  const Problem* problem_;
  std::vector<GpuRequest> requests_;
  std::vector<std::size_t> request_of_;  ///< by shape
  std::vector<double> values_;           ///< by free milli
  std::vector<GpuOutlook> outlooks_;
  std::vector<int> state_of_milli_;  ///< -1: not seen yet
  std::map<std::pair<CutIndex, mig::SiteSet>, GpuStateIndex> state_of_slices_;
};

}  // namespace berth::placement
