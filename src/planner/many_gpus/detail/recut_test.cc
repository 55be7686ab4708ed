#include "planner/many_gpus/detail/recut.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

bool sites_clash(const ModelTerms& model, int a, int b) {
  return (model.sites[static_cast<std::size_t>(a)].clashes >> b & 1) != 0;
}

Configuration pieces_of(const GpuTerms& gpu) {
  Configuration pieces;
  for (const StandingPiece& standing : gpu.standing) pieces.push_back(standing.piece);
  return pieces;
}

/// Pieces of `pieces` on sites that `others` do not hold.
int gone(const Configuration& pieces, const Configuration& others) {
  return static_cast<int>(std::ranges::count_if(
      pieces, [&](const Piece& piece) { return std::ranges::find(others, piece.site, &Piece::site) == others.end(); }));
}

TEST(Recut, EachIsLegalAndOneCutAway) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem problem = testing::fleet_problem(Rng(seed), 2, 4, 20, 40);
    for (const GpuTerms& gpu : problem.gpus) {
      SCOPED_TRACE(seed);
      const ModelTerms& model = problem.models[static_cast<std::size_t>(gpu.model)];
      const Configuration stands = pieces_of(gpu);
      for (const Configuration& to : recuts_of(model, gpu)) {
        ++found;
        EXPECT_TRUE(std::ranges::is_sorted(to));
        const std::pair counts(gone(stands, to), gone(to, stands));
        EXPECT_TRUE(counts == std::pair(1, 2) || counts == std::pair(2, 1)) << counts.first << " to " << counts.second;
        for (std::size_t i = 0; i < to.size(); ++i) {
          for (std::size_t j = i + 1; j < to.size(); ++j) EXPECT_FALSE(sites_clash(model, to[i].site, to[j].site));
          EXPECT_TRUE(std::ranges::any_of(stands, [&](const Piece& old) { return old.service == to[i].service; }));
        }
        for (const PinnedSite& pin : gpu.pins) {
          const auto on = std::ranges::find(stands, pin.site, &Piece::site);
          EXPECT_TRUE(on == stands.end() || std::ranges::find(to, *on) != to.end());
        }
      }
    }
  }
  EXPECT_GT(found, 100);
}

TEST(Recut, NothingStandsNothingIsCut) {
  Problem problem = testing::fleet_problem(Rng(1), 2, 4, 20, 0);
  problem.gpus[0].standing.clear();
  EXPECT_TRUE(recuts_of(problem.models[static_cast<std::size_t>(problem.gpus[0].model)], problem.gpus[0]).empty());
}

}  // namespace
}  // namespace berth::planner
