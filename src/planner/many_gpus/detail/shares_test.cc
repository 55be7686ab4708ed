#include "planner/many_gpus/detail/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/window/testing/problems.h"

namespace berth::planner::fleet {
namespace {

constexpr double kSharp = 1e-9;  ///< only the best uses

TEST(FleetShares, AWeightFallsWithTheShortfallAndIsNothingFarFromTheBest) {
  EXPECT_EQ(share_weight(3, 3, 0.1), 1);
  EXPECT_NEAR(share_weight(2.9, 3, 0.1), std::exp(-1), 1e-12);
  EXPECT_GT(share_weight(2.9, 3, 0.1), share_weight(2.8, 3, 0.1));
  EXPECT_EQ(share_weight(2, 3, 0.1), 0);
}

/// One GPU of four units, a grid of three points, and a table of each kind.
struct DrawnSpace {
  explicit DrawnSpace(std::uint64_t seed) {
    Rng rng(seed);
    values.fill(problem.models[0], draw(rng));
  }
  DrawnSpace(const DrawnSpace&) = delete;  // its parts point to each other
  DrawnSpace& operator=(const DrawnSpace&) = delete;
  ~DrawnSpace() = default;

  const std::vector<PieceTable>& draw(Rng& rng) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      PieceTable& table = tables.emplace_back();
      table.on_new.assign(width * width, 0);
      for (std::size_t a = 0; a < width; ++a) {
        for (std::size_t b = a + 1; b < width; ++b) {
          table.on_new[a * width + b] = (0.5 + rng.unit()) * static_cast<double>((b - a) << kind);
        }
      }
      table.on_same = table.on_new;
    }
    return tables;
  }

  /// The best worth of the whole space from the first point to the end.
  [[nodiscard]] double best() const { return values.cell(tree().root()).entry_new[width - 1]; }
  [[nodiscard]] const SpaceTree& tree() const { return terms.trees[0]; }

  Problem problem = testing::quarters_problem(1, 9);
  Terms terms{problem};
  Grid grid{.points = {SlotIndex(0), SlotIndex(3), SlotIndex(6)}};
  std::size_t width = grid.width();
  std::vector<PieceTable> tables;
  SpaceValues values{terms.trees[0], grid};
};

/// The pieces of `amount` GPUs, all new, when the space is split among near-optimal uses.
struct Held {
  double worth = 0;
  std::vector<double> units;  ///< of each range between two points
};

Held held_by(const DrawnSpace& space, double amount, double softness) {
  SpaceShares shares(space.tree(), 3, space.width);
  shares.set_reference(space.values, space.tables);
  shares.add(space.tree(), {.node = space.tree().root(), .from_point = PointIndex(0), .until_point = space.grid.end()},
             amount);
  shares.spread(space.values, space.problem.models[0], softness);
  Held held{.worth = 0, .units = std::vector<double>(space.width - 1)};
  for (KindIndex kind(0); kind < 3; ++kind) {
    for (const bool is_same : {false, true}) {
      const std::vector<double>& counts = shares.pieces(kind, is_same);
      for (std::size_t a = 0; a < space.width; ++a) {
        for (std::size_t b = a + 1; b < space.width; ++b) {
          const double count = counts[a * space.width + b];
          held.worth += count * space.tables[idx(kind)].on_new[a * space.width + b];
          for (std::size_t stretch = a; stretch < b; ++stretch) held.units[stretch] += count * (1 << kind);
        }
      }
    }
  }
  return held;
}

TEST(FleetShares, SharpSharesAreTheBestUse) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const DrawnSpace space(seed);
    EXPECT_NEAR(held_by(space, 5, kSharp).worth, 5 * space.best(), 1e-6 * space.best());
  }
}

/// At any softness: no more space than there is, no more worth than the best use, and nearly that for small softness.
TEST(FleetShares, SoftSharesFillTheSpaceWithNearlyTheBest) {
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const DrawnSpace space(seed);
    for (const double softness : {0.2, 0.05, 0.01}) {
      SCOPED_TRACE(fmt::format("seed {}, softness {}", seed, softness));
      const Held held = held_by(space, 5, softness);
      EXPECT_LE(held.worth, 5 * space.best() * (1 + 1e-9));
      EXPECT_GE(held.worth, 5 * space.best() * (1 - 4 * softness));
      for (const double units : held.units) EXPECT_NEAR(units, 20, 1e-2);
      mixed += held.worth < 5 * space.best() * (1 - 1e-6) ? 1 : 0;
    }
  }
  EXPECT_GT(mixed, 30);
}

TEST(FleetShares, ClearedSharesAreEmpty) {
  const DrawnSpace space(1);
  SpaceShares shares(space.tree(), 3, space.width);
  shares.add(space.tree(), {.node = space.tree().root(), .from_point = PointIndex(0), .until_point = space.grid.end()},
             1);
  shares.spread(space.values, space.problem.models[0], 0.1);
  shares.clear();
  shares.spread(space.values, space.problem.models[0], 0.1);
  for (KindIndex kind(0); kind < 3; ++kind) {
    for (const double count : shares.pieces(kind, false)) EXPECT_EQ(count, 0);
  }
}

}  // namespace
}  // namespace berth::planner::fleet
