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

  /// Observes a snapshot. Slices that were ready at one snapshot are assumed to have worked until the next. Requires:
  /// time does not decrease.
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
    std::uint64_t number = 0;  ///< of the service; a new one starts empty
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
