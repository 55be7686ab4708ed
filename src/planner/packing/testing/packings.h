/// Random small packing problems with their optimum, and checks of the search's covers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/testing/problems.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing::reference {

/// A problem that the exhaustive search has solved; without an optimum it has no plan.
struct SolvedProblem {
  PackingProblem problem;
  detail::Instance instance;
  std::optional<Optimum> optimum;

  /// The least price in the instance's unit. Requires: an optimum.
  [[nodiscard]] std::int64_t price() const { return optimum->cost / instance.micro_usd_per_price; }
};

/// Nothing if it has no demand, a demand that no slice serves, or too many plans.
inline std::optional<SolvedProblem> draw_solved(std::uint64_t seed) {
  SolvedProblem solved{.problem = ProblemGenerator(seed).draw(), .instance = {}, .optimum = {}};
  auto instance = detail::make_instance(solved.problem);
  if (!instance || instance->demands.empty()) return std::nullopt;
  solved.instance = *std::move(instance);
  Exhaustive exhaustive(solved.problem);
  solved.optimum = exhaustive.solve();
  if (exhaustive.has_given_up()) return std::nullopt;
  return solved;
}

/// A seed's problem, which has a plan.
struct SolvedCase {
  std::uint64_t seed = 0;
  SolvedProblem solved;
};

/// The solved problems of `count` seeds (see `case_seeds`) that have an optimum.
inline std::deque<SolvedCase> solved_cases(std::uint64_t count) {
  std::deque<SolvedCase> cases;
  for (const std::uint64_t seed : berth::testing::case_seeds(count)) {
    std::optional<SolvedProblem> solved = draw_solved(seed);
    if (solved && solved->optimum) cases.push_back({.seed = seed, .solved = *std::move(solved)});
  }
  return cases;
}

/// The kind of an instance, or nothing.
inline std::optional<std::size_t> find_kind(const detail::Instance& instance, std::uint32_t offer, ProfileId profile) {
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    if (instance.kinds[k].offer == offer && instance.kinds[k].profile == profile) return k;
  }
  return std::nullopt;
}

/// By demand of the instance: the slices of a packing.
inline std::vector<detail::Counts> covers_of(const detail::Instance& instance, const Packing& packing) {
  std::vector<detail::Counts> covers;
  for (const detail::InstanceDemand& demand : instance.demands) {
    covers.emplace_back(instance.kinds.size(), 0);
    for (const PackedSlice& packed : packing.slices) {
      if (packed.demand != demand.demand) continue;
      const std::uint32_t offer = packing.gpu_offers[packed.slice.gpu.index];
      ++covers.back()[find_kind(instance, offer, packed.slice.profile).value()];
    }
  }
  return covers;
}

/// Why these are not covers of the demands without surplus slices, or nothing.
inline std::optional<std::string> find_cover_fault(const detail::Instance& instance,
                                                   const std::vector<detail::Counts>& covers) {
  if (covers.size() != instance.demands.size()) return "another number of demands";
  for (std::size_t d = 0; d < covers.size(); ++d) {
    const detail::InstanceDemand& demand = instance.demands[d];
    Int128 sum = 0;
    for (std::size_t k = 0; k < covers[d].size(); ++k) {
      if (covers[d][k] < 0) return "a negative count";
      if (covers[d][k] > 0 && demand.throughput[k] == 0) return "a slice that serves nothing";
      sum += demand.throughput[k] * covers[d][k];
    }
    if (sum < demand.rate) return "demand " + std::to_string(d) + " is not served";
    for (std::size_t k = 0; k < covers[d].size(); ++k) {
      if (covers[d][k] > 0 && sum - demand.throughput[k] >= demand.rate) {
        return "demand " + std::to_string(d) + " has a surplus slice";
      }
    }
  }
  return std::nullopt;
}

/// The slices of all covers together.
inline detail::Counts sum_of(const detail::Instance& instance, const std::vector<detail::Counts>& covers) {
  detail::Counts sum(instance.kinds.size(), 0);
  for (const detail::Counts& cover : covers) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += cover[k];
  }
  return sum;
}

}  // namespace berth::packing::reference
