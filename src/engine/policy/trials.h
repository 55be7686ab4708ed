/// The replays that a study offers to a policy that searches in hindsight.
#pragma once

#include <functional>
#include <vector>

#include "domain/values/slice.h"
#include "engine/rivals/layout.h"

namespace berth::policy {

/// The maximum number of calls of score_service and score_layout together while a policy is made.
inline constexpr int kLayoutTrialsMax = 2000;

/// Replays layouts of a scenario in hindsight, for policies that search by trial. Scores are goodput in [0, 1]; the
/// same arguments give the same score.
struct LayoutTrials {
  /// One service alone on these slices (sorted).
  std::function<double(ServiceId, const std::vector<Slice>&)> score_service;
  /// The objective of a whole layout.
  std::function<double(const partition::Layout&)> score_layout;
  /// The same at the scenario's own fidelity; differs from score_layout if `is_rough`. Called at most a few times.
  std::function<double(const partition::Layout&)> score_in_full;
  bool is_rough = false;
};

}  // namespace berth::policy
