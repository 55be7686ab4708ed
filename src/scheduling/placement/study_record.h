/// The data of a study that a page shows in addition to the figures: how each policy's allocation developed, why its
/// idle capacity was unused, and the cluster at the end of its first run. Recording is optional and changes no
/// decision.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduling/placement/cluster_end.h"
#include "scheduling/placement/course.h"
#include "scheduling/placement/idle_capacity.h"
#include "scheduling/placement/policy_name.h"
#include "scheduling/placement/study.h"

namespace berth::placement {

struct PolicyRecord {
  Policy policy = Policy::kBerth;
  CourseBand course = {};
  IdleCapacity idle = {};  ///< summed over the runs
  ClusterEnd end = {};     ///< of the first run
};

struct StudyRecord {
  CourseAxis axis = {};
  double measured_from = 0;  ///< with departures: in mean stays
  AskedRows asked = {};
  std::vector<PolicyRecord> policies = {};  ///< as in the results
};

/// Everything that a page shows.
struct StudyPage {
  std::string nodes_name;  ///< of the files
  std::string pods_name;
  const Problem& problem;
  const StudyOptions& options;
  const std::vector<PolicyResult>& results;
  const StudyRecord& record;  ///< of the same policies
};

/// Listens to the runs of one study, one after the other.
class StudyRecorder {
 public:
  /// The problem must outlive it.
  StudyRecorder(const Problem& problem, const StudyOptions& options);

  /// To be called at the beginning of a run: sets `measured` and `ended` of its listener.
  void listen(Policy policy, const Arrivals& arrivals, RunListener& listener);
  [[nodiscard]] const StudyRecord& record() const { return record_; }

 private:
  void end_run(Cluster& cluster);

  const Problem* problem_;
  StudyRecord record_;
  std::optional<RunCourse> course_;
};

}  // namespace berth::placement
