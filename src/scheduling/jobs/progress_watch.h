/// Detects that jobs no longer make progress.
#pragma once

#include <cstdint>

#include "scheduling/jobs/world.h"

namespace berth::sched {

/// Policies with rounds can preempt jobs again and again before a restart is over or a checkpoint reached: then nothing
/// ever finishes. Progress is the sum over all jobs. Losing some of it is normal; staying below an earlier maximum for
/// many instants, many of them with preemptions, is not. Instants alone are no evidence, because a restart may be
/// longer than many rounds.
class ProgressWatch {
 public:
  /// To be called after each instant. Returns whether the work is stuck. O(running).
  [[nodiscard]] bool is_stuck(const World& world);

 private:
  static constexpr std::int64_t kInstantsMax = 20'000;
  static constexpr std::int64_t kPreemptingInstantsMax = 100;

  Int128 most_ = -1;
  std::int64_t preemptions_ = 0;
  // Since the maximum.
  std::int64_t instants_ = 0;
  std::int64_t preempting_instants_ = 0;
};

}  // namespace berth::sched
