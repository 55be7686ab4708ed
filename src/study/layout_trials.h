/// Replays layouts in hindsight, for policies that search by trial.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "domain/scenario.h"
#include "domain/slice.h"
#include "measure/result.h"
#include "partition/layout.h"
#include "policy/policy.h"

namespace berth::study {

/// On one GPU every layout is replayed as the scenario says; on a fleet by rates (sim/rate_serving.h), which is quick
/// and rough. Once `progress` has said stop, every score is 0.
class LayoutTrialRuns {
 public:
  /// `row`: the policy that searches; `scenario` must outlive the trials. `progress` hears the share of the trials
  /// done, in [0, 1), and returns false to stop; may be empty.
  LayoutTrialRuns(const Scenario& scenario, const policy::Policy& row, std::uint64_t seed,
                  std::function<bool(double done)> progress);

  /// Refers to this object, which must outlive it.
  [[nodiscard]] policy::LayoutTrials trials();
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  [[nodiscard]] int run_count() const { return run_count_; }

 private:
  enum class Fullness { kTrial, kFull };

  [[nodiscard]] double score(ServiceId service, const std::vector<Slice>& slices);
  [[nodiscard]] double score(const partition::Layout& layout, Fullness fullness);
  [[nodiscard]] std::optional<measure::PolicyResult> run(const partition::Layout& layout, Fullness fullness,
                                                         std::optional<ServiceId> only);
  /// The scenario as trials replay it; copied only where it differs.
  [[nodiscard]] const Scenario& tried();

  const Scenario& scenario_;
  const policy::Policy& row_;
  std::uint64_t seed_;
  std::function<bool(double done)> progress_;
  bool is_rough_;  ///< trials go by rates, though the scenario says otherwise
  std::optional<Scenario> by_rates_;
  int run_count_ = 0;
  bool is_stopped_ = false;
};

}  // namespace berth::study
