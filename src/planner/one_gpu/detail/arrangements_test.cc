#include "planner/one_gpu/detail/arrangements.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/check.h"

namespace berth::planner {
namespace {

using testing::Configurations;
using testing::does_something;
using testing::one_gpu_of_tiny;
using testing::standing_of;

constexpr int kArrangementsSeeds = berth::testing::by_build(200, 20);

/// Shares counted piece by piece.
std::vector<Share> counted_shares(const GpuCase& gpu_case, const Configuration& pieces) {
  std::vector<Share> shares(gpu_case.problem.services.size());
  for (const Piece& piece : pieces) {
    if (!does_something(gpu_case, piece)) continue;
    const KindIndex kind = gpu_case.model.sites[piece.site].kind;
    Share& share = shares[piece.service];
    if (piece.use == kRetraining) {
      share.retraining_kind = kind;
      continue;
    }
    const Bundles& bundles = gpu_case.bundles[piece.service];
    share.bundle = bundles.plus(share.bundle, bundles.item(kind, piece.use));
  }
  return shares;
}

Configuration kept_of(const Configuration& from, const Configuration& to) {
  Configuration kept;
  std::ranges::set_intersection(from, to, std::back_inserter(kept));
  return kept;
}

ServiceIndex pin_on(const GpuCase& gpu_case, SiteIndex site) {
  for (const PinnedSite& pin : gpu_case.gpu.pins) {
    if (pin.site == site) return pin.service;
  }
  return kNoService;
}

/// Whether the sites, with the pieces on them, can be exchanged.
bool are_equal_sites(const GpuCase& gpu_case, const Configuration& from, SiteIndex a, SiteIndex b) {
  const std::vector<Site>& sites = gpu_case.model.sites;
  if (sites[a].kind != sites[b].kind || pin_on(gpu_case, a) != pin_on(gpu_case, b)) return false;
  for (const SiteIndex other : indices_of<SiteIndex>(sites)) {
    if (other == a || other == b) continue;
    if ((sites[a].clashes >> other & 1) != (sites[b].clashes >> other & 1)) return false;
  }
  const auto old_a = std::ranges::find(from, a, &Piece::site);
  const auto old_b = std::ranges::find(from, b, &Piece::site);
  if (old_a == from.end() || old_b == from.end()) return old_a == old_b;
  return old_a->service == old_b->service && old_a->use == old_b->use;
}

/// The smallest configuration reachable by exchanges of equal sites: each site takes the smallest piece among the sites
/// equal to it.
Configuration least_by_exchanges(const GpuCase& gpu_case, const Configuration& from, Configuration pieces) {
  const int sites = static_cast<int>(gpu_case.model.sites.size());
  const auto exchanged = [](Configuration all, SiteIndex a, SiteIndex b) {
    for (Piece& piece : all) {
      if (piece.site == a || piece.site == b) piece.site = piece.site == a ? b : a;
    }
    std::ranges::sort(all);
    return all;
  };
  for (bool is_less = true; is_less;) {
    is_less = false;
    for (const SiteIndex a : Indices<SiteIndex>(sites)) {
      for (SiteIndex b = a + 1; b < sites; ++b) {
        if (!are_equal_sites(gpu_case, from, a, b)) continue;
        Configuration other = exchanged(pieces, a, b);
        if (other >= pieces) continue;
        pieces = std::move(other);
        is_less = true;
      }
    }
  }
  return pieces;
}

/// Calls `judge` with a case, the standing pieces and some shares, and with each configuration that has these shares.
void for_each_wish(const std::function<void(const GpuCase&, Arrangements&, const Arrangement&,
                                            const std::vector<Share>&, const std::set<Configuration>&)>& judge) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kArrangementsSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    const Arrangement from = arrangements[arrangements.number_of(standing_of(gpu_case))];
    const Configurations configurations(gpu_case, from.pieces);
    const std::vector<Configuration>& all = configurations.all();
    Rng rng(seed);
    for (int i = 0; i < 4; ++i) {
      const std::vector<Share> shares = counted_shares(gpu_case, all[rng.below(all.size())]);
      std::set<Configuration> wanted;
      for (const Configuration& each : all) {
        if (counted_shares(gpu_case, each) == shares) wanted.insert(each);
      }
      judge(gpu_case, arrangements, from, shares, wanted);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Arrangements, PlaceSharesInEveryWayUpToExchanges) {
  std::size_t several = 0;
  for_each_wish([&](const GpuCase& gpu_case, const Arrangements& arrangements, const Arrangement& from,
                    const std::vector<Share>& shares, const std::set<Configuration>& wanted) {
    std::set<Configuration> visited;
    std::set<Configuration> visited_least;
    const bool goes_on = arrangements.visit_placings(
        from, shares, [](const std::vector<Share>&) { return true; },
        [&](const Configuration& to) {
          EXPECT_TRUE(wanted.contains(to)) << "not legal, or other shares";
          EXPECT_TRUE(visited.insert(to).second) << "visited twice";
          visited_least.insert(least_by_exchanges(gpu_case, from.pieces, to));
          return true;
        });
    ASSERT_TRUE(goes_on);
    for (const Configuration& each : wanted) {
      ASSERT_TRUE(visited_least.contains(least_by_exchanges(gpu_case, from.pieces, each)))
          << fmt::format("{} of {} visited", visited.size(), wanted.size());
    }
    if (visited.size() > 1) ++several;
  });
  EXPECT_GT(several, 0U);
}

TEST(Arrangements, LeaveOutWhatIsNotWorthwhile) {
  for_each_wish([&](const GpuCase& gpu_case, const Arrangements& arrangements, const Arrangement& from,
                    const std::vector<Share>& shares, const std::set<Configuration>&) {
    const std::vector<Share> most = arrangements.most_kept(from, shares);
    std::set<std::vector<Share>> declined;
    const auto visit_those = [&](const Arrangements::IsWorth& is_worth) {
      std::set<Configuration> visited;
      EXPECT_TRUE(arrangements.visit_placings(from, shares, is_worth,
                                              [&](const Configuration& to) { return visited.insert(to).second; }));
      return visited;
    };
    // Rejects placements that keep fewer than all but one of the slices that could be kept.
    const auto count_of = [&](const std::vector<Share>& of) {
      int count = 0;
      for (std::size_t s = 0; s < of.size(); ++s) {
        for (const ItemIndex item : indices_of<ItemIndex>(gpu_case.bundles[s].items)) {
          count += gpu_case.bundles[s].count_of(of[s].bundle, item);
        }
        if (of[s].retraining_kind >= 0) ++count;
      }
      return count;
    };
    const int enough = count_of(most) - 1;
    const std::set<Configuration> all = visit_those([](const std::vector<Share>&) { return true; });
    const std::set<Configuration> some = visit_those([&](const std::vector<Share>& kept) {
      if (count_of(kept) >= enough) return true;
      declined.insert(kept);
      return false;
    });
    const std::set<Configuration> least = visit_those([](const std::vector<Share>&) { return false; });
    for (const Configuration& each : all) {
      const std::vector<Share> kept = counted_shares(gpu_case, kept_of(from.pieces, each));
      EXPECT_LE(count_of(kept), count_of(most));
      ASSERT_EQ(some.contains(each), count_of(kept) >= enough);
      ASSERT_EQ(least.contains(each), kept == most);
    }
    for (const std::vector<Share>& each : declined) EXPECT_LT(count_of(each), enough);
  });
}

TEST(Arrangements, StopWhereTheVisitorSaysSo) {
  for_each_wish([&](const GpuCase&, const Arrangements& arrangements, const Arrangement& from,
                    const std::vector<Share>& shares, const std::set<Configuration>&) {
    int visited = 0;
    const bool goes_on = arrangements.visit_placings(
        from, shares, [](const std::vector<Share>&) { return true; },
        [&](const Configuration&) { return ++visited < 2; });
    EXPECT_LE(visited, 2);
    EXPECT_EQ(goes_on, visited < 2);
  });
}

/// Compared with the checker of schedules, for a change of an empty GPU to each configuration.
TEST(Arrangements, AreAllowedWhereTheCheckerAllowsThem) {
  int refused = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kArrangementsSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = one_gpu_of_tiny(seed);
    problem.gpus.front().standing.clear();
    problem.gpus.front().free_from = SlotIndex(0);
    problem.is_frozen.clear();
    problem.floors_from = SlotIndex(0);
    for (ServiceTerms& service : problem.services) service.changes_max = -1;
    Problem without_floors = problem;
    for (ServiceTerms& service : without_floors.services) service.floor_rate = 0;
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    const Configurations configurations(gpu_case, {});
    for (const Configuration& each : configurations.all()) {
      if (each.empty()) continue;
      const Arrangement& arrangement = arrangements[arrangements.number_of(each)];
      const Schedule schedule{.gpus = {{{.slot = SlotIndex(0), .to = each}}}};
      EXPECT_TRUE(arrangement.can_stand);
      ASSERT_EQ(arrangement.may_begin, !find_fault(without_floors, schedule).has_value());
      if (!arrangement.may_begin) ++refused;
      if (arrangement.may_begin) {
        ASSERT_EQ(arrangement.keeps_floors, !find_fault(problem, schedule).has_value());
      }
      EXPECT_EQ(arrangement.shares, counted_shares(gpu_case, each));
    }
  }
  EXPECT_GT(refused, 0);
}

/// Progress, and slices that do not serve.
TEST(Arrangements, CountTheirPieces) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kArrangementsSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    const Configuration standing = standing_of(gpu_case);
    const Configurations configurations(gpu_case, standing);
    for (const Configuration& each : configurations.all()) {
      const ArrangementIndex number = arrangements.number_of(each);
      const Arrangement& arrangement = arrangements[number];
      ASSERT_EQ(arrangements.number_of(each), number);
      std::vector<double> progress(problem.services.size());
      bool has_spare = false;
      for (const Piece& piece : each) {
        has_spare = has_spare || piece.use == kRetraining || !does_something(gpu_case, piece);
        if (piece.use != kRetraining || piece.service == kNoService) continue;
        const KindIndex kind = gpu_case.model.sites[piece.site].kind;
        progress[piece.service] += 1 / gpu_case.model.rates[kind][piece.service].retraining_slots;
      }
      EXPECT_EQ(arrangement.pieces, each);
      EXPECT_EQ(arrangement.has_spare, has_spare);
      EXPECT_EQ(arrangement.progress_rates, progress);
    }
  }
}

/// All permutations of the sites that keep kinds, clashes and pins.
std::vector<std::vector<SiteIndex>> symmetries_of(const GpuCase& gpu_case) {
  const std::vector<Site>& sites = gpu_case.model.sites;
  std::vector<std::vector<SiteIndex>> found;
  std::vector<SiteIndex> image(sites.size());
  std::iota(image.begin(), image.end(), SiteIndex(0));
  do {
    bool fits = true;
    for (SiteIndex a(0); ix(a) < sites.size() && fits; ++a) {
      const SiteIndex to = image[a];
      fits = sites[a].kind == sites[to].kind && pin_on(gpu_case, a) == pin_on(gpu_case, to);
      for (SiteIndex b(0); ix(b) < sites.size() && fits; ++b) {
        fits = (sites[a].clashes >> b & 1) == (sites[to].clashes >> image[b] & 1);
      }
    }
    if (fits) found.push_back(image);
  } while (std::ranges::next_permutation(image).found);
  return found;
}

TEST(Arrangements, AreAlikeWhereASymmetryLeadsFromOneToTheOther) {
  constexpr std::size_t kUsedMax = 64;  // symmetries
  std::size_t compared = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kArrangementsSeeds)) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    const Problem problem = one_gpu_of_tiny(seed);
    const GpuCase gpu_case(problem);
    Arrangements arrangements(gpu_case);
    const std::vector<std::vector<SiteIndex>> symmetries = symmetries_of(gpu_case);
    if (symmetries.size() > kUsedMax) continue;
    std::set<std::pair<AlikeIndex, Configuration>> classes;
    const Configurations configurations(gpu_case, {});
    for (const Configuration& each : configurations.all()) {
      Configuration least = each;
      for (const std::vector<SiteIndex>& image : symmetries) {
        Configuration other = each;
        for (Piece& piece : other) piece.site = image[piece.site];
        std::ranges::sort(other);
        least = std::min(least, other);
      }
      classes.emplace(arrangements[arrangements.number_of(each)].alike, std::move(least));
      ++compared;
    }
    // As many pairs as numbers and as classes: the mapping is one to one.
    std::set<AlikeIndex> numbers;
    std::set<Configuration> representatives;
    for (const auto& [number, least] : classes) {
      EXPECT_TRUE(numbers.insert(number).second);
      EXPECT_TRUE(representatives.insert(least).second);
    }
  }
  EXPECT_GT(compared, 0U);
}

}  // namespace
}  // namespace berth::planner
