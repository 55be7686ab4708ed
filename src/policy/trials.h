/// What a policy that searches in hindsight asks of the study that makes it.
#pragma once

#include <functional>
#include <vector>

#include "domain/slice.h"
#include "partition/layout.h"

namespace berth::policy {

/// Most calls of score_service and score_layout together while a policy is made.
inline constexpr int kLayoutTrialsMax = 2000;

/// Replays layouts of a scenario in hindsight: how a policy that searches by trial asks for the figures. Scores are
/// goodput in [0, 1], the same for the same arguments.
struct LayoutTrials {
  /// One service alone on these slices (sorted).
  std::function<double(ServiceId, const std::vector<Slice>&)> score_service;
  /// The objective of a whole layout.
  std::function<double(const partition::Layout&)> score_layout;
  /// The same as the scenario says; differs from score_layout where that is rough. Called at most a few times.
  std::function<double(const partition::Layout&)> score_in_full;
  bool is_rough = false;
};

}  // namespace berth::policy
