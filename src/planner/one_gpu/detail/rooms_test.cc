#include "planner/one_gpu/detail/rooms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using RoomCounts = std::vector<int>;  // [kind]

/// The kinds of every set of sites of which no two clash: all subsets are tried.
std::set<RoomCounts> counts_of_all_sets(const ModelTerms& model) {
  std::set<RoomCounts> all;
  for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << model.sites.size(); ++chosen) {
    RoomCounts counts(model.rates.size());
    bool is_legal = true;
    for (std::size_t site = 0; site < model.sites.size() && is_legal; ++site) {
      if ((chosen >> site & 1) == 0) continue;
      ++counts[model.sites[site].kind];
      is_legal = (model.sites[site].clashes & chosen) == std::uint64_t{1} << site;
    }
    if (is_legal) all.insert(counts);
  }
  return all;
}

RoomCounts room_counts_of(const Rooms& rooms, RoomIndex room) {
  RoomCounts counts;
  for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) counts.push_back(rooms.count_of(room, kind));
  return counts;
}

RoomIndex number_in(const std::map<RoomCounts, RoomIndex>& numbers, const RoomCounts& counts) {
  const auto found = numbers.find(counts);
  return found == numbers.end() ? kNoRoom : found->second;
}

/// Every room is one of the sets and vice versa, and additions and unions agree with the counts.
void expect_rooms_are_the_sets(const ModelTerms& model) {
  const Rooms rooms(model);
  const std::set<RoomCounts> wanted = counts_of_all_sets(model);
  ASSERT_EQ(rooms.kinds(), static_cast<int>(model.rates.size()));
  ASSERT_EQ(rooms.count(), static_cast<int>(wanted.size()));
  std::map<RoomCounts, RoomIndex> numbers;
  for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) numbers.emplace(room_counts_of(rooms, room), room);
  for (const RoomCounts& counts : wanted) ASSERT_TRUE(numbers.contains(counts));
  EXPECT_EQ(numbers.at(RoomCounts(model.rates.size())), 0);
  std::vector<RoomIndex> maximal;
  for (const auto& [counts, room] : numbers) {
    bool is_maximal = true;
    for (const KindIndex kind : Indices<KindIndex>(rooms.kinds())) {
      RoomCounts more = counts;
      ++more[kind];
      const RoomIndex added = number_in(numbers, more);
      ASSERT_EQ(rooms.add(room, kind), added);
      ASSERT_TRUE(added == kNoRoom || added > room) << "a part of a room has a smaller number";
      is_maximal = is_maximal && added == kNoRoom;
    }
    if (is_maximal) maximal.push_back(room);
    for (const auto& [others, other] : numbers) {
      RoomCounts sum = counts;
      for (const KindIndex kind : indices_of<KindIndex>(sum)) sum[kind] += others[kind];
      ASSERT_EQ(rooms.join(room, other), number_in(numbers, sum)) << room << " with " << other;
    }
  }
  std::ranges::sort(maximal);
  EXPECT_EQ(rooms.maximal(), maximal);
}

/// The sites of a GPU model in the catalogue.
ModelTerms model_of(const char* name, int sites_max = 64) {
  testing::Shape shape{.gpus = {name}};
  shape.services = 1;
  shape.sites_max = sites_max;
  return testing::ProblemGenerator(shape, Rng(1)).draw().models.front();
}

TEST(Rooms, AreTheSetsOfSitesThatDoNotClash) {
  for (const char* name : {"A30-24GB", "A100-80GB", "RTX-PRO-6000-Blackwell-96GB", "T4-16GB"}) {
    SCOPED_TRACE(name);
    expect_rooms_are_the_sets(model_of(name));
  }
  expect_rooms_are_the_sets(testing::quarters_problem(1, 1).models.front());
}

TEST(Rooms, AreTheSetsWhereSitesAreMissing) {
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 20))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    expect_rooms_are_the_sets(testing::tiny_problem(Rng(seed)).models.front());
  }
}

/// With more rooms than the table of pairs allows.
TEST(Rooms, AreJoinedOnePieceAtATimeWhereThereAreMany) {
  ModelTerms model;
  for (int site = 0; site < 9; ++site) {
    model.sites.push_back({.start = site, .profile = {}, .kind = KindIndex(site), .clashes = std::uint64_t{1} << site});
    model.rates.emplace_back();
    model.sms.push_back(1);
  }
  // The last two clash.
  model.sites[7].clashes |= 1U << 8;
  model.sites[8].clashes |= 1U << 7;
  ASSERT_EQ(Rooms(model).count(), 128 * 3);
  expect_rooms_are_the_sets(model);
}

}  // namespace
}  // namespace berth::planner
