#include "surface/cli/pack_cure.h"

#include <algorithm>

#include "packing/pack.h"

namespace berth::cli {
namespace {

constexpr std::int64_t kPercentMax = 400;

/// The plan with `percent` of the requested headroom, if it brings every demand in time.
std::optional<PackCure> plan_at(const PackRequest& request, PackingProblem problem,
                                const study::PackingReplayOptions& options, std::int64_t percent) {
  problem.rules.headroom = request.rules.headroom * Decimal(percent, 100);
  const auto result = packing::pack(problem, request.search);
  if (!result) return std::nullopt;
  const study::PackingReplay replay = study::replay_packing(problem, result->packing, options);
  if (std::ranges::any_of(replay.demands, is_short_of_room)) return std::nullopt;
  return PackCure{problem.rules.headroom, result->score.gpus, result->score.micro_usd_per_hour};
}

}  // namespace

bool is_short_of_room(const study::DemandFigures& figures) {
  return figures.slo_attainment && *figures.slo_attainment < kAttainmentWanted;
}

std::optional<PackCure> find_pack_cure(const PackRequest& request, const PackingProblem& problem,
                                       const study::PackingReplayOptions& options) {
  std::optional<PackCure> best = plan_at(request, problem, options, 100);
  if (best) return best;
  std::int64_t low = 100;
  std::int64_t high = 101;
  while (!(best = plan_at(request, problem, options, high))) {
    if (high == kPercentMax) return std::nullopt;
    low = high;
    high = std::min(kPercentMax, 100 + 2 * (high - 100));
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (auto cure = plan_at(request, problem, options, middle)) {
      best = std::move(cure);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

}  // namespace berth::cli
