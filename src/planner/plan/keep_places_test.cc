#include "planner/plan/keep_places.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "planner/plan/detail/add_slices.h"
#include "planner/plan/solve.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

Piece piece_at(int site, int service) { return {.site = SiteIndex(site), .service = ServiceIndex(service), .use = 0}; }

/// GPUs on which services hold quarters, [gpu][site], -1: none; each service has a load if it `has_load`.
Problem quarters_held(const std::vector<std::vector<int>>& owners, const std::vector<bool>& has_load) {
  Problem problem = testing::quarters_problem(static_cast<int>(has_load.size()), 20);
  problem.gpus.resize(owners.size());
  for (std::size_t gpu = 0; gpu < owners.size(); ++gpu) {
    for (std::size_t site = 0; site < owners[gpu].size(); ++site) {
      if (owners[gpu][site] < 0) continue;
      problem.gpus[gpu].standing.push_back({.piece = piece_at(static_cast<int>(site), owners[gpu][site])});
    }
  }
  for (std::size_t service = 0; service < has_load.size(); ++service) {
    if (!has_load[service]) problem.services[service].loads.assign(21, 0);
  }
  return problem;
}

/// An answer in which every GPU changes in slot 0 to quarters with these owners.
Answer answer_with(const Problem& problem, const std::vector<std::vector<int>>& owners) {
  Answer answer;
  for (const std::vector<int>& of_gpu : owners) {
    Change change;
    for (std::size_t site = 0; site < of_gpu.size(); ++site) {
      if (of_gpu[site] >= 0) change.to.push_back(piece_at(static_cast<int>(site), of_gpu[site]));
    }
    answer.schedule.gpus.push_back({std::move(change)});
  }
  EXPECT_EQ(find_fault(problem, answer.schedule), std::nullopt);
  answer.objective = evaluate(problem, answer.schedule).objective;
  return answer;
}

/// [gpu][site] after the changes in slot 0; nothing for GPUs without one.
std::vector<std::vector<int>> owners_after(const Answer& answer) {
  std::vector<std::vector<int>> owners;
  for (const std::vector<Change>& changes : answer.schedule.gpus) {
    std::vector<int>& of_gpu = owners.emplace_back();
    if (changes.empty() || changes[0].slot != 0) continue;
    of_gpu.assign(4, -1);
    for (const Piece& piece : changes[0].to) of_gpu.at(static_cast<std::size_t>(piece.site)) = piece.service;
  }
  return owners;
}

/// All pieces of all changes.
std::vector<Piece> owners_of(const Answer& answer) {
  std::vector<Piece> pieces;
  for (const std::vector<Change>& changes : answer.schedule.gpus) {
    for (const Change& change : changes) pieces.insert(pieces.end(), change.to.begin(), change.to.end());
  }
  return pieces;
}

using Owners = std::vector<std::vector<int>>;

TEST(KeepPlaces, ServicesThatTradedPlacesStay) {
  const Problem problem = quarters_held({{0, 1, 2, -1}}, {true, false, false, false});
  const Answer traded = answer_with(problem, {{2, 0, 1, 3}});
  const Answer kept = with_places_kept(problem, traded);
  EXPECT_EQ(owners_after(kept), Owners({{0, 1, 2, 3}}));
  EXPECT_GT(kept.objective, traded.objective) << "the first has a load";
  EXPECT_DOUBLE_EQ(kept.objective, evaluate(problem, kept.schedule).objective);
}

TEST(KeepPlaces, AlsoOnOtherGpusAndInLaterChanges) {
  const Problem problem = quarters_held({{0, -1, -1, 3}, {1, -1, -1, -1}}, {true, true, false, false});
  Answer traded = answer_with(problem, {{1, -1, -1, 3}, {0, 2, -1, -1}});
  traded.schedule.gpus[0].push_back({.slot = SlotIndex(10), .to = {piece_at(0, 1)}});
  traded.objective = evaluate(problem, traded.schedule).objective;
  const Answer kept = with_places_kept(problem, traded);
  EXPECT_EQ(owners_after(kept), Owners({{}, {1, 2, -1, -1}})) << "the first GPU changes later";
  EXPECT_EQ(kept.schedule.gpus[0].at(0).to, Configuration({piece_at(0, 0)}));
}

TEST(KeepPlaces, WhatGainsAndWhatARuleWantsIsLeft) {
  Problem problem = quarters_held({{0, -1, -1, -1}}, {false, true});
  problem.create_seconds = 3;
  const Answer sooner = answer_with(problem, {{1, 0, -1, -1}});
  EXPECT_EQ(owners_after(with_places_kept(problem, sooner)), Owners({{1, 0, -1, -1}}))
      << "whoever has a load takes the slice that is there";
  problem = quarters_held({{0, 1, -1, -1}}, {true, true});
  problem.gpus[0].pins = {{.site = SiteIndex(0), .service = ServiceIndex(1)}};
  const Answer pinned = answer_with(problem, {{1, 0, -1, -1}});
  EXPECT_EQ(owners_after(with_places_kept(problem, pinned)), Owners({{1, 0, -1, -1}}));
}

TEST(KeepPlaces, OnlyAlikeSlicesAreExchanged) {
  const Problem problem = quarters_held({{0, 1, -1, -1}}, {true, true});
  Answer grown = answer_with(problem, {{1, -1, -1, -1}});
  grown.schedule.gpus[0][0].to.push_back({.site = SiteIndex(5), .service = ServiceIndex(0), .use = 0});
  grown.objective = evaluate(problem, grown.schedule).objective;
  EXPECT_EQ(with_places_kept(problem, grown).schedule.gpus[0][0].to, grown.schedule.gpus[0][0].to);
}

TEST(KeepPlaces, NoRuleIsBrokenAndNothingIsLost) {
  int exchanged = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Problem problem = testing::fleet_problem(Rng(seed).split("keep"), 2, 4, 8, seed % 2 == 0 ? 25 : 0);
    for (std::size_t service = seed % 2; service < problem.services.size(); service += 2) {
      for (double& load : problem.services[service].loads) load = 0;
      problem.services[service].counts_slices = true;
      problem.services[service].floor_rate = 1;
    }
    const Answer answer = solve(problem, {.nodes_max = 200});
    if (answer.is_infeasible || find_fault(without_floors(problem), answer.schedule)) continue;
    const bool keeps_floors = !find_fault(problem, answer.schedule);
    const Answer kept = with_places_kept(problem, answer);
    exchanged += owners_of(kept) != owners_of(answer) ? 1 : 0;
    const Problem rules = keeps_floors ? problem : without_floors(problem);
    EXPECT_EQ(find_fault(rules, kept.schedule), std::nullopt) << "seed " << seed;
    EXPECT_GE(kept.objective, answer.objective - 1e-6) << "seed " << seed;
    EXPECT_NEAR(kept.objective, evaluate(rules, kept.schedule).objective, 1e-9) << "seed " << seed;
  }
  EXPECT_GT(exchanged, 0);
}

}  // namespace
}  // namespace berth::planner
