/// Runs policies on markets and compares their costs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/core/decimal.h"
#include "purchase/spot/market.h"
#include "purchase/spot/run.h"

namespace berth::purchase {

enum class SpotPolicy { kOnDemand, kGreedy, kUniformProgress, kOptimal, kBerth };
inline constexpr std::array<SpotPolicy, 5> kSpotPolicies = {
    SpotPolicy::kOnDemand, SpotPolicy::kGreedy, SpotPolicy::kUniformProgress, SpotPolicy::kOptimal, SpotPolicy::kBerth};
/// Such as "uniform-progress".
[[nodiscard]] std::string_view name_of(SpotPolicy policy);
/// Whether it knows the whole window.
[[nodiscard]] bool has_hindsight(SpotPolicy policy);

/// One run of a policy. Requires: as SpotJob.
[[nodiscard]] RunResult run_policy(SpotPolicy policy, const Market& market, const SpotJob& job,
                                   const SpotPrices& prices);

/// Each deadline with each restart on each market.
struct SpotStudy {
  std::vector<Market> markets;
  std::int64_t task_seconds = 0;
  std::vector<std::int64_t> deadlines;  ///< in seconds
  std::vector<std::int64_t> restarts;   ///< in seconds
  SpotPrices prices;
};

/// The cost of a policy over some runs.
struct SpotTotals {
  std::int64_t runs = 0;
  std::int64_t missed = 0;
  std::int64_t switches = 0;
  Decimal micro_usd;  ///< exact

  [[nodiscard]] Decimal average_usd() const;
};

struct SpotGroup {
  std::int64_t deadline_seconds = 0;
  std::int64_t restart_seconds = 0;
  SpotTotals totals;
};

/// The cost of a run.
struct SpotOutcome {
  Decimal micro_usd;  ///< exact: a tick may cost a fraction of a micro-dollar
  bool is_missed = false;
};

struct SpotScore {
  SpotPolicy policy = SpotPolicy::kBerth;
  SpotTotals totals;
  std::vector<SpotGroup> groups;       ///< by deadline, then by restart
  std::vector<SpotOutcome> runs = {};  ///< by market, then as the groups
};

/// The job of a run: run `index` of each policy belongs to a market, a deadline and a restart. Requires: index <
/// markets x deadlines x restarts.
struct SpotRunKey {
  std::size_t market = 0;
  SpotJob job;
};
[[nodiscard]] SpotRunKey run_key(const SpotStudy& study, std::size_t index);

/// A run that is over.
struct SpotRun {
  SpotPolicy policy = SpotPolicy::kBerth;
  std::size_t market = 0;
  SpotJob job;
  const RunResult* result = nullptr;
};

/// Called after each run; if it returns false, the study ends.
using SpotHook = std::function<bool(const SpotRun& run)>;

/// Runs the policies, one after the other, over markets, deadlines and restarts in that order. Nothing if `hook` ended
/// it.
[[nodiscard]] std::optional<std::vector<SpotScore>> run_spot_study(const SpotStudy& study,
                                                                   std::span<const SpotPolicy> policies,
                                                                   const SpotHook& hook);

/// 100 (n - average) / (n - m), where n and m are the prices of the task's hours on demand and on spot; nothing if
/// these are equal.
[[nodiscard]] std::optional<Decimal> score_of(const SpotTotals& totals, const SpotStudy& study);

}  // namespace berth::purchase
