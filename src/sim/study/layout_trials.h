/// Replays layouts in hindsight, for policies that search by trial.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/values/scenario.h"
#include "domain/values/slice.h"
#include "engine/policy/policy.h"
#include "engine/rivals/layout.h"
#include "sim/measure/result.h"

namespace berth::study {

/// On one GPU every layout is replayed at the scenario's fidelity; on a fleet by rates (sim/world/rate_serving.h),
/// which is fast and approximate. Once `progress` has returned false, every score is 0.
class LayoutTrialRuns {
 public:
  /// `row`: the policy that searches; `scenario` must outlive the trials. `progress` receives the share of the trials
  /// that is done, in [0, 1), and returns false to stop; may be empty.
  LayoutTrialRuns(const Scenario& scenario, const policy::Policy& row, std::uint64_t seed,
                  std::function<bool(double done)> progress);

  /// The trials refer to this object, which must outlive them.
  [[nodiscard]] policy::LayoutTrials trials();
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  [[nodiscard]] int run_count() const { return run_count_; }

 private:
  enum class Fullness { kTrial, kFull };

  [[nodiscard]] double score(ServiceId service, const std::vector<Slice>& slices);
  [[nodiscard]] double score(const partition::Layout& layout, Fullness fullness);
  [[nodiscard]] std::optional<measure::PolicyResult> run(const partition::Layout& layout, Fullness fullness,
                                                         std::optional<ServiceId> only);
  /// The scenario that trials replay.
  [[nodiscard]] const Scenario& tried();

  const Scenario& scenario_;
  const policy::Policy& row_;
  std::uint64_t seed_;
  std::function<bool(double done)> progress_;
  bool is_rough_;  ///< trials are simulated by rates, although the scenario asks for requests
  std::optional<Scenario> tried_;
  int run_count_ = 0;
  bool is_stopped_ = false;
};

}  // namespace berth::study
