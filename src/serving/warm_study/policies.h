/// All policies of `berth warm` by name, and the result of each on a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/warm_study/loaded.h"
#include "serving/warm_study/problem.h"

namespace berth::warm {

enum class PolicyKind { kFixed, kHybrid, kOptimal, kLru, kGreedyDual, kBound, kBerth };

/// A policy with its parameter: the minutes of `fixed`, the range of `hybrid`, the price of `berth` (absent: that of
/// the problem).
struct Policy {
  std::string name;
  PolicyKind kind = PolicyKind::kBerth;
  std::optional<std::int64_t> minutes = std::nullopt;

  [[nodiscard]] bool is_hindsight() const { return kind == PolicyKind::kOptimal || kind == PolicyKind::kBound; }
  [[nodiscard]] bool is_ours() const { return kind == PolicyKind::kBerth; }

  friend bool operator==(const Policy&, const Policy&) = default;
};

/// The policies that a word stands for: one, those of `curve`, or `all`; nothing if it is unknown. With a memory there
/// are others than without.
[[nodiscard]] std::optional<std::vector<Policy>> policies_named(std::string_view word, bool has_memory);
/// The words in a sentence: "all, fixed-5m, ... or berth".
[[nodiscard]] std::string known_policy_words(bool has_memory);

/// What loaded apps cost without a memory.
struct IdleTotals {
  std::int64_t idle_minutes = 0;
  std::int64_t preloads = 0;
};

struct PolicyResult {
  Policy policy;
  std::int64_t cold_starts = 0;
  std::vector<std::int64_t> app_cold_starts;      ///< of each app; empty for `bound`
  std::optional<IdleTotals> idle = std::nullopt;  ///< nothing with a memory
  std::vector<LoadedMinutes> loaded;              ///< of each app; kept for a single policy, and for `berth`
};

/// Runs the policies on the problem, in their order. Requires: policies of a problem with, or without, memory.
[[nodiscard]] std::vector<PolicyResult> run_policies(const Problem& problem, const std::vector<Policy>& policies);

/// Cold starts / invocations over apps, in percent: between ranks linear. Nothing without apps, or for `bound`.
struct ColdShares {
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double avoidable = 0;  ///< the mean of (cold starts - 1) / invocations
};
[[nodiscard]] std::optional<ColdShares> cold_shares(const Problem& problem, const PolicyResult& result);

/// idle minutes + cold minutes x cold starts, and the seconds of loaded and idle apps. Nothing with a memory.
[[nodiscard]] std::optional<std::int64_t> cost_minutes(const Problem& problem, const PolicyResult& result);
[[nodiscard]] std::optional<std::int64_t> idle_seconds(const Problem& problem, const PolicyResult& result);
[[nodiscard]] std::optional<std::int64_t> wait_seconds(const Problem& problem, const PolicyResult& result);
/// Half to even. Nothing without a price, with a memory, or if it does not fit into 63 bits.
[[nodiscard]] std::optional<std::int64_t> cost_micro_usd(const Problem& problem, const PolicyResult& result);
/// Whether the costs of all policies fit.
[[nodiscard]] bool do_costs_fit(const Problem& problem, const std::vector<PolicyResult>& results);

}  // namespace berth::warm
