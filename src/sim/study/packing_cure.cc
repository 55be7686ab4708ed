#include "sim/study/packing_cure.h"

#include <algorithm>

namespace berth::study {
namespace {

constexpr std::int64_t kPercentMax = 400;

/// The plan with `percent` of the requested headroom, if it brings every demand in time.
std::optional<PackingCure> plan_at(PackingProblem problem, const packing::PackOptions& search,
                                   const PackingReplayOptions& options, std::int64_t percent) {
  problem.rules.headroom = problem.rules.headroom * Decimal(percent, 100);
  const auto result = packing::pack(problem, search);
  if (!result) return std::nullopt;
  const PackingReplay replay = replay_packing(problem, result->packing, options);
  if (std::ranges::any_of(replay.demands, is_short_of_room)) return std::nullopt;
  return PackingCure{problem.rules.headroom, result->score.gpus, result->score.micro_usd_per_hour};
}

}  // namespace

bool is_short_of_room(const DemandFigures& figures) {
  return figures.slo_attainment && *figures.slo_attainment < kAttainmentWanted;
}

std::optional<PackingCure> find_packing_cure(const PackingProblem& problem, const packing::PackOptions& search,
                                             const PackingReplayOptions& options) {
  std::optional<PackingCure> best = plan_at(problem, search, options, 100);
  if (best) return best;
  std::int64_t low = 100;
  std::int64_t high = 101;
  while (!(best = plan_at(problem, search, options, high))) {
    if (high == kPercentMax) return std::nullopt;
    low = high;
    high = std::min(kPercentMax, 100 + 2 * (high - 100));
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (auto cure = plan_at(problem, search, options, middle)) {
      best = std::move(cure);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace berth::study
