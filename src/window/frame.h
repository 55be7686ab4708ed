/// The parts of the window problems of one scenario that never change: which sites there are, and what each gives.
#pragma once

#include <optional>
#include <vector>

#include "domain/plan.h"
#include "domain/scenario.h"
#include "window/problem.h"

namespace berth::planner {

struct Frame {
  std::vector<ModelTerms> models;
  std::vector<ModelIndex> model_of_gpu;
  /// The point behind each rate: [model][kind][service][variant]; absent where the rate is 0.
  std::vector<std::vector<std::vector<std::vector<std::optional<PointChoice>>>>> points;

  /// The site of a slice; absent where the problem has none (a profile that nobody runs on).
  [[nodiscard]] std::optional<SiteIndex> site_of(const Slice& slice) const;
  [[nodiscard]] Slice slice_at(GpuId gpu, SiteIndex site) const;
};

/// What a frame leaves out, to see what each is worth.
struct FrameOptions {
  bool chooses_points = true;  ///< else the default points alone, which other variants do not have
  bool has_variants = true;    ///< else only the first form of each model has rates
};

/// Sites: the plain profiles of each model, the others that some service was measured on (a double-memory 1g, say),
/// those that the file's layout or a pin names, and the uncut GPU.
///
/// Rates: of the measured points with at most `processes_max` processes that keep the target even where the processes
/// are out of step, the one with most requests a second, processes x batch / latency (ties: smaller batch, then fewer
/// processes). A batch that is taken as the last of p processes ends waits up to latency / p for its first request and
/// then runs for latency, so kept means latency x (1 + 1 / processes) <= target, for every batch size up to the point's
/// and at the interference of a full GPU. Where no point keeps it, the default point of profile/operating_point.h.
[[nodiscard]] Frame make_frame(const Scenario& scenario, const FrameOptions& options = {});

}  // namespace berth::planner
