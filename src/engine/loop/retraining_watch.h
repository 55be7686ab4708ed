/// The progress of each service's retraining, estimated from what the engine sees.
#pragma once

#include <cstdint>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "planner/window/window.h"

namespace berth {

class RetrainingWatch {
 public:
  /// `scenario` must outlive it.
  explicit RetrainingWatch(const Scenario& scenario);

  /// Observes a snapshot. Between two snapshots, the slices that were ready at the first are taken to have worked all
  /// the time. Requires: time does not go back.
  void observe(const Snapshot& snapshot);

  /// The state of a service's retraining at `at`, not before the last snapshot, if nothing changes until then.
  [[nodiscard]] planner::RetrainingNow at(ServiceId service, Instant at) const;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.seen_at_, self.is_first_, self.services_);
    archive.require(self.services_.size() == self.scenario_.services.size());
  }

 private:
  struct Progress {
    std::uint64_t number = 0;  ///< of the service; another one begins anew
    Instant since;             ///< from when its due times count
    bool is_stale = false;
    double done = 0;
    Instant fresh_at;
    double per_second = 0;  ///< since `seen_at_`
  };

  [[nodiscard]] double progress_at(const Progress& progress, const Retraining& retraining, Instant at) const;

  const Scenario& scenario_;
  Instant seen_at_;
  bool is_first_ = true;
  std::vector<Progress> services_;
};

}  // namespace berth
