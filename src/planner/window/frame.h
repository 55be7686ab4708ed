/// The parts of a scenario's window problems that never change: the sites, and the rates of services on them.
#pragma once

#include <optional>
#include <vector>

#include "domain/values/plan.h"
#include "domain/values/scenario.h"
#include "planner/window/problem.h"

namespace berth::planner {

struct Frame {
  std::vector<ModelTerms> models;
  std::vector<ModelIndex> model_of_gpu;
  /// The point behind each rate: [model][kind][service][variant]; absent where the rate is 0.
  std::vector<std::vector<std::vector<std::vector<std::optional<PointChoice>>>>> points;

  /// The site of a slice; absent if the problem has none (a profile on which no service runs).
  [[nodiscard]] std::optional<SiteIndex> site_of(const Slice& slice) const;
  /// The slice at a site of the GPU's model.
  [[nodiscard]] Slice slice_at(GpuId gpu, SiteIndex site) const;
};

/// Features that a frame can leave out, to measure the worth of each.
struct FrameOptions {
  bool chooses_points = true;  ///< else only the default points, which exist only for variant 0
  bool has_variants = true;    ///< else only variant 0 of each model has rates
};

/// Sites: the plain profiles of each GPU model, other profiles on which some service was measured (such as a
/// double-memory 1g), profiles that the file's layout or a pin names, and the whole GPU if it can be used.
///
/// Rates: among the measured points with at most `processes_max` processes that keep the target, the one with the
/// highest rate, processes x batch / latency (ties: smaller batch, then fewer processes). A request may wait up to
/// latency / processes until a process is free and is then served in one latency, so a point keeps the target if
/// latency x (1 + 1 / processes) <= target for every batch size up to the point's, at the interference of a full GPU.
/// If no point does, the default point of domain/profile/operating_point.h is used. On a GPU model that a service's
/// TierRule does not allow it has no rate and cannot retrain. A service with `replicas` of at most 0 has no rate.
[[nodiscard]] Frame make_frame(const Scenario& scenario, const FrameOptions& options = {});

/// Whether some variant of the service has a rate on the profile; otherwise no plan lets it serve there.
[[nodiscard]] bool can_serve(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model,
                             ProfileId profile);

/// The requests per second that plans assume for the service on the profile: of variant 0, or of the fastest one if
/// that has no rate; 0: no plan lets it serve there.
[[nodiscard]] double planned_rate(const Scenario& scenario, const ServiceSpec& service, const GpuModel& model,
                                  ProfileId profile);
/// The point behind that rate; nothing where it is 0.
[[nodiscard]] std::optional<PointChoice> planned_point(const Scenario& scenario, const ServiceSpec& service,
                                                       const GpuModel& model, ProfileId profile);

}  // namespace berth::planner
