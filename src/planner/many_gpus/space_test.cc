// The best use of a GPU's space, compared with a packing of rectangles (units of the GPU x ranges of time) that does
// not use trees.
#include "planner/many_gpus/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "planner/many_gpus/testing/schedules.h"

namespace berth::planner::fleet {
namespace {

using testing::kNear;

constexpr int kUnits = 4;
constexpr int kStretches = 3;  ///< between the points of the grid, the tail included

/// One GPU of four units, a grid of three points, and a table of the worth of pieces for each kind.
struct SpaceCase {
  explicit SpaceCase(std::uint64_t seed);
  SpaceCase(const SpaceCase&) = delete;  // the terms point to the problem
  SpaceCase& operator=(const SpaceCase&) = delete;
  ~SpaceCase() = default;

  Problem problem = testing::quarters_problem(2, 9);
  Terms terms{problem};
  Grid grid{.points = {SlotIndex(0), SlotIndex(3), SlotIndex(6)}};
  std::vector<PieceTable> tables;

  [[nodiscard]] const ModelTerms& model() const { return problem.models[0]; }
  [[nodiscard]] const SpaceTree& tree() const { return terms.trees[0]; }
};

/// Pieces are worth the same on a new site and on an old one: then the space of a GPU is a packing.
std::vector<PieceTable> any_tables(const Grid& grid, std::size_t kinds, Rng& rng) {
  std::vector<PieceTable> tables;
  const std::size_t width = grid.width();
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    PieceTable& table = tables.emplace_back();
    table.on_new.assign(width * width, 0);
    table.which_new.assign(width * width, 0);
    table.uses = {{ServiceIndex(0), 0}};
    for (std::size_t a = 0; a < width; ++a) {
      for (std::size_t b = a + 1; b < width; ++b) {
        table.on_new[a * width + b] = rng.below(4) == 0 ? 0 : rng.unit() * static_cast<double>((b - a) << kind);
      }
    }
    table.on_same = table.on_new;
    table.which_same = table.which_new;
  }
  return tables;
}

/// Units of a site in one range of time.
unsigned units_of(const ModelTerms& model, SiteIndex site) {
  const Site& its = model.sites[idx(site)];
  return ((1U << (1U << its.kind)) - 1) << its.start;
}

unsigned cells_of(const ModelTerms& model, SiteIndex site, int from, int until) {
  unsigned cells = 0;
  for (int stretch = from; stretch < until; ++stretch) cells |= units_of(model, site) << (stretch * kUnits);
  return cells;
}

struct Rectangle {
  unsigned cells = 0;
  double worth = 0;
};

/// The rectangles that begin at `first` or later and lie on usable sites.
template <class MayUse>
std::vector<Rectangle> rectangles_of(const SpaceCase& space, int first, const MayUse& may_use) {
  std::vector<Rectangle> rectangles;
  const std::size_t width = space.grid.width();
  for (const SiteIndex site : indices_of<SiteIndex>(space.model().sites)) {
    if (!may_use(site)) continue;
    const PieceTable& table = space.tables[idx(space.model().sites[idx(site)].kind)];
    for (int a = first; a < kStretches; ++a) {
      for (int b = a + 1; b <= kStretches; ++b) {
        rectangles.push_back(
            {.cells = cells_of(space.model(), site, a, b), .worth = table.on_new[idx(a) * width + idx(b)]});
      }
    }
  }
  return rectangles;
}

/// The best packing into free cells.
double best_packing(const std::vector<Rectangle>& rectangles, unsigned taken) {
  constexpr unsigned kAll = 1U << (kUnits * kStretches);
  std::vector<double> best(kAll, 0);  // [cells that are taken]
  for (unsigned cells = kAll - 1; cells-- > 0;) {
    const unsigned lowest = ~cells & (cells + 1);
    best[cells] = best[cells | lowest];  // left free
    for (const Rectangle& each : rectangles) {
      if ((each.cells & cells) != 0 || (each.cells & lowest) == 0) continue;
      best[cells] = std::max(best[cells], each.worth + best[cells | each.cells]);
    }
  }
  return best[taken];
}

SpaceCase::SpaceCase(std::uint64_t seed) {
  Rng rng = Rng(seed).split("tables");
  tables = any_tables(grid, model().rates.size(), rng);
}

/// Traced pieces lie in the free cells and have this total worth. Returns the cells.
unsigned expect_worth(const SpaceCase& space, const std::vector<PlannedPiece>& found, double worth) {
  unsigned taken = 0;
  double sum = 0;
  for (const PlannedPiece& each : found) {
    const unsigned cells = cells_of(space.model(), each.piece.site, each.from_point, each.until_point);
    EXPECT_EQ(taken & cells, 0U);
    taken |= cells;
    const KindIndex kind = space.model().sites[idx(each.piece.site)].kind;
    sum += space.tables[idx(kind)].on_new[idx(each.from_point) * space.grid.width() + idx(each.until_point)];
    const bool is_last = each.until_point == space.grid.end();
    EXPECT_EQ(each.until, is_last ? space.terms.tail_end() : space.grid.points[idx(each.until_point)]);
  }
  EXPECT_NEAR(sum, worth, kNear);
  return taken;
}

TEST(FleetSpace, AnEmptyGpuIsWorthTheBestPacking) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const SpaceCase space(seed);
    SpaceValues values(space.tree(), space.grid);
    values.fill(space.model(), space.tables);
    const double best = best_packing(rectangles_of(space, 0, [](SiteIndex) { return true; }), 0);
    EXPECT_NEAR(values.cell(space.tree().root()).entry_new[idx(space.grid.size())], best, kNear);
    std::vector<PlannedPiece> found;
    values.trace(space.tree().root(), PointIndex(0), space.grid.end(), false, space.terms.slots, found);
    expect_worth(space, found, best);
  }
}

/// An existing piece stays until any point, and its space is free for others from there on.
TEST(FleetSpace, WhatStandsStaysAsLongAsThatIsBest) {
  int leaving = 0;
  int staying = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const SpaceCase space(seed);
    Rng rng = Rng(seed).split("standing");
    const int first = static_cast<int>(rng.below(3));
    // A quarter and a half that does not hold it.
    std::vector<StandingWorth> standing = {{.site = SiteIndex(rng.below(2)), .until = {}},
                                           {.site = SiteIndex(5), .until = {}}};
    for (StandingWorth& each : standing) {
      double sum = 0;
      for (int point = 0; point <= kStretches; ++point) {
        each.until.push_back(sum);
        sum += 2 * rng.unit();
      }
    }
    double best = 0;
    for (int one = first; one <= kStretches; ++one) {
      for (int other = first; other <= kStretches; ++other) {
        const unsigned taken = cells_of(space.model(), standing[0].site, 0, one) |
                               cells_of(space.model(), standing[1].site, 0, other) | ((1U << (kUnits * first)) - 1);
        const double kept = standing[0].until[idx(one)] + standing[1].until[idx(other)];
        best = std::max(best, kept + best_packing(rectangles_of(space, first, [](SiteIndex) { return true; }), taken));
      }
    }
    SpaceValues values(space.tree(), space.grid);
    values.fill(space.model(), space.tables);
    GpuWalk walk;
    const double worth = walk.solve(values, standing, PointIndex(first));
    EXPECT_NEAR(worth, best, kNear);
    std::vector<SlotIndex> stays_until;
    std::vector<PlannedPiece> found;
    walk.trace(values, space.grid.end(), space.terms.slots, stays_until, found);
    double kept = 0;
    for (std::size_t i = 0; i < standing.size(); ++i) {
      const auto point = std::ranges::find(space.grid.points, stays_until[i]) - space.grid.points.begin();
      kept += standing[i].until[static_cast<std::size_t>(point)];
      (point < kStretches ? leaving : staying) += 1;
    }
    expect_worth(space, found, best - kept);
    for (const PlannedPiece& each : found) EXPECT_GE(each.from_point, first);
  }
  EXPECT_GT(leaving, 20);
  EXPECT_GT(staying, 20);
}

/// A pinned site belongs to its owner alone, and sites that clash with it cannot be used.
TEST(FleetSpace, APinLeavesItsSiteToItsOwner) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    SpaceCase space(seed);
    Rng rng = Rng(seed).split("pin");
    const SiteIndex pinned(rng.below(space.model().sites.size()));
    space.problem.gpus[0].pins = {{.site = pinned, .service = ServiceIndex(1)}};
    SpaceValues values(space.tree(), space.grid);
    values.fill(space.model(), space.tables);
    const double without = values.cell(space.tree().root()).entry_new[idx(space.grid.size())];
    // The owner's use is worth a tenth per slot, so that others would gain more from its space.
    std::vector<double> sums(static_cast<std::size_t>(space.terms.slots) + 2);
    std::iota(sums.begin(), sums.end(), 0.0);
    std::vector<PieceTable> pin_tables;
    const auto offers_of = [&](KindIndex kind, ServiceIndex service) {
      EXPECT_EQ(kind, space.model().sites[idx(pinned)].kind);
      EXPECT_EQ(service, 1);
      return std::vector<Offer>{
          {.service = service, .use = 0, .readiness = {}, .ready = sums.data(), .ready_scale = 0.1}};
    };
    values.add_rules(space.model(), space.tables,
                     pin_rules(space.terms, space.grid, GpuIndex(0), offers_of, pin_tables));
    // By hand: the pinned site's own table, and no other site that clashes with it.
    std::vector<Rectangle> rectangles = rectangles_of(
        space, 0, [&](SiteIndex site) { return (space.model().sites[idx(pinned)].clashes >> site & 1) == 0; });
    for (int a = 0; a < kStretches; ++a) {
      for (int b = a + 1; b <= kStretches; ++b) {
        const SlotIndex until = b == kStretches ? space.terms.tail_end() : space.grid.points[idx(b)];
        rectangles.push_back(
            {.cells = cells_of(space.model(), pinned, a, b), .worth = 0.1 * (until - space.grid.points[idx(a)])});
      }
    }
    EXPECT_NEAR(values.cell(space.tree().root()).entry_new[idx(space.grid.size())], best_packing(rectangles, 0), kNear);
    EXPECT_TRUE(values.is_ruled(space.tree().root()));
    values.drop_rules();
    EXPECT_EQ(values.cell(space.tree().root()).entry_new[idx(space.grid.size())], without);
  }
}

/// Sums, before each slot, of random numbers.
std::vector<double> any_sums(int slots, Rng& rng) {
  std::vector<double> sums = {0};
  for (int slot = 0; slot <= slots; ++slot) sums.push_back(sums.back() + (rng.below(3) == 0 ? 0 : rng.unit()));
  return sums;
}

TEST(FleetSpace, ATableHasTheBestOfferOfEachRange) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const SpaceCase space(seed);
    Rng rng(seed);
    std::vector<std::vector<double>> sums;
    for (int i = 0; i < 6; ++i) sums.push_back(any_sums(space.terms.slots, rng));
    std::vector<Offer> offers;
    for (int i = 0; i < 3; ++i) {
      offers.push_back({.service = ServiceIndex(i),
                        .use = 0,
                        .readiness = {.on_same_site = static_cast<int>(rng.below(2)),
                                      .on_new_site = static_cast<int>(1 + rng.below(4))},
                        .ready = sums[idx(2 * i)].data(),
                        .ready_scale = 0.5 + rng.unit(),
                        .stands = i == 0 ? nullptr : sums[idx(2 * i + 1)].data(),
                        .stands_scale = rng.unit(),
                        .begin_cost = 0.3 * rng.unit()});
    }
    PieceTable table;
    PieceTable maxima;
    fill_piece_table(space.terms, space.grid, offers, table);
    fill_piece_maxima(space.terms, space.grid, offers, TakeOvers::kIgnored, maxima);
    const std::size_t width = space.grid.width();
    for (PointIndex a(0); a < space.grid.size(); ++a) {
      for (PointIndex b = a + 1; b <= space.grid.size(); ++b) {
        for (const bool is_on_same : {false, true}) {
          double best = 0;
          int which = -1;
          for (std::size_t i = 0; i < offers.size(); ++i) {
            const double worth = worth_of(space.terms, space.grid, offers[i], a, b, is_on_same);
            if (worth > best + kNear) which = static_cast<int>(i);
            best = std::max(best, worth);
          }
          const std::size_t at = idx(a) * width + idx(b);
          EXPECT_NEAR(is_on_same ? table.on_same[at] : table.on_new[at], best, kNear);
          EXPECT_NEAR(is_on_same ? maxima.on_same[at] : maxima.on_new[at], best, kNear);
          if (which < 0) continue;
          EXPECT_EQ(is_on_same ? table.which_same[at] : table.which_new[at], which);
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::planner::fleet
