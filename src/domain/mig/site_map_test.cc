#include "domain/mig/site_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "domain/mig/catalogue.h"
#include "domain/mig/multiset.h"
#include "domain/values/scenario.h"

namespace berth::mig {
namespace {

GpuModel model_named(std::string_view name) { return *find_gpu_model(name); }

SiteMap whole_map(const GpuModel& model) { return make_site_map(model, with_full(model, all_rules(model))); }

SiteSet sites_of(const SiteMap& map, const State& state) {
  SiteSet sites = 0;
  for (const Placement& placement : state) sites |= SiteSet{1} << *map.find_site(placement);
  return sites;
}

State state_of(const SiteMap& map, const std::vector<SiteIndex>& partition) {
  State state;
  for (const SiteIndex site : partition) state.push_back(map.sites[site].placement());
  return state;
}

TEST(SiteMap, KindsAreTheProfilesThenTheWholeGpu) {
  const GpuModel a30 = model_named("A30-24GB");
  const SiteMap map = whole_map(a30);
  ASSERT_EQ(map.kinds.size(), a30.profiles.size() + 1);
  for (std::size_t kind = 0; kind < a30.profiles.size(); ++kind) {
    const SiteKind& own = map.kinds[kind];
    EXPECT_EQ(own.profile.index, kind);
    EXPECT_EQ(own.sms, profile_sms(a30, own.profile));
    EXPECT_EQ(own.compute_slices, a30.profiles[kind].compute_slices);
    EXPECT_EQ(own.length, a30.profiles[kind].length);
    EXPECT_EQ(own.instances_max, a30.profiles[kind].instances_max);
  }
  const SiteKind& full = map.kinds.back();
  EXPECT_TRUE(full.profile.is_full());
  EXPECT_EQ(full.sms, a30.sms);
  EXPECT_EQ(full.compute_slices, 4);
  EXPECT_EQ(full.length, 4);
  EXPECT_EQ(full.instances_max, 1);
}

TEST(SiteMap, AGpuWithoutMigHasOneSite) {
  const SiteMap map = whole_map(model_named("L4-24GB"));
  ASSERT_EQ(map.kinds.size(), 1U);
  EXPECT_EQ(map.kinds[0].length, 0);
  EXPECT_EQ(map.sites,
            (std::vector<Site>{{.start = 0, .profile = ProfileId::full(), .kind = KindIndex(0), .clashes = 1}}));
  EXPECT_FALSE(map.find_site({.start = 1, .profile = ProfileId::full()}));
  EXPECT_FALSE(map.find_kind({0}));
}

TEST(SiteMap, EachSiteIsOfOneKind) {
  for (const GpuModel& model : gpu_models()) {
    SCOPED_TRACE(model.name);
    const SiteMap map = whole_map(model);
    for (const SiteIndex site : indices_of<SiteIndex>(map.sites)) {
      EXPECT_EQ(map.find_site(map.sites[site].placement()), site);
      for (const KindIndex kind : indices_of<KindIndex>(map.kinds)) {
        const bool is_own = map.kinds[kind].profile == map.sites[site].profile;
        EXPECT_EQ(is_own, map.sites[site].kind == kind);
        EXPECT_EQ(is_own, (map.kinds[kind].sites >> site & 1U) != 0);
      }
    }
  }
}

TEST(SiteMap, SitesClashAsPairsOfInstancesDo) {
  for (const GpuModel& model : gpu_models()) {
    const SiteMap map = whole_map(model);
    for (const Site& a : map.sites) {
      for (const SiteIndex b : indices_of<SiteIndex>(map.sites)) {
        const bool clashes = a == map.sites[b] || find_clash(model, {a.placement(), map.sites[b].placement()});
        ASSERT_EQ((a.clashes >> b & 1U) != 0, clashes)
            << model.name << ": " << to_string(model, {a.placement(), map.sites[b].placement()});
      }
    }
  }
}

void expect_fits_as_in_the_rules(const GpuModel& model, const Rules& rules) {
  SCOPED_TRACE(model.name);
  const SiteMap map = make_site_map(model, with_full(model, rules));
  for_each_state(model, rules, [&](const State& state) {
    const SiteSet standing = sites_of(map, state);
    for (const SiteIndex site : indices_of<SiteIndex>(map.sites)) {
      State larger = state;
      larger.push_back(map.sites[site].placement());
      const bool is_new = std::ranges::find(state, larger.back()) == state.end();
      ASSERT_EQ(map.fits(standing, site), is_new && !find_clash(model, larger)) << to_string(model, larger);
    }
  });
}

TEST(SiteMap, FitsAsInTheRules) {
  for (const char* name : {"A30-24GB", "A100-80GB", "RTX", "L4-24GB"}) {
    expect_fits_as_in_the_rules(model_named(name), plain_rules(model_named(name)));
  }
  expect_fits_as_in_the_rules(model_named("A30-24GB"), all_rules(model_named("A30-24GB")));
}

// No model of the catalogue needs it: there, two instances of a profile clash, or as many fit as are allowed.
TEST(SiteMap, FitsNoMoreOfAKindThanMayStand) {
  GpuModel model = model_named("A30-24GB");
  model.profiles[0].instances_max = 2;
  expect_fits_as_in_the_rules(model, all_rules(model));
}

std::int64_t clash_free_sets(const SiteMap& map, std::size_t from, SiteSet taken) {
  std::int64_t count = 1;
  for (std::size_t site = from; site < map.sites.size(); ++site) {
    if ((map.sites[site].clashes & taken) == 0) count += clash_free_sets(map, site + 1, taken | SiteSet{1} << site);
  }
  return count;
}

// The solvers of the window problem look at pairs only.
TEST(SiteMap, OfTheCatalogueClashesAloneDecideWhatIsLegal) {
  for (const GpuModel& model : gpu_models()) {
    std::int64_t legal = 1;  // the whole GPU
    for_each_state(model, all_rules(model), [&](const State&) { ++legal; });
    EXPECT_EQ(clash_free_sets(whole_map(model), 0, 0), legal) << model.name;
  }
}

TEST(MaximalPartitions, AreTheMaximalLayoutsThenTheWholeGpu) {
  for (const GpuModel& model : gpu_models()) {
    if (!model.is_mig_capable()) continue;
    const Rules rules = plain_rules(model);
    std::vector<State> expected = maximal_layouts(model, rules);
    for (const bool has_full : {false, true}) {
      const SiteMap map = make_site_map(model, has_full ? with_full(model, rules) : rules.profiles);
      if (has_full) expected.push_back({{.start = 0, .profile = ProfileId::full()}});
      std::vector<State> found;
      for (const auto& partition : maximal_partitions(model, map)) found.push_back(state_of(map, partition));
      EXPECT_EQ(found, expected) << model.name << (has_full ? " with full" : "");
    }
  }
}

TEST(MaximalPartitions, HaveNoWholeGpuWhereItCannotBeUsed) {
  GpuModel model = model_named("A30-24GB");
  model.has_full = false;
  EXPECT_FALSE(whole_map(model).find_kind(ProfileId::full()).has_value());
  EXPECT_EQ(with_full(model, plain_rules(model)), plain_rules(model).profiles);
}

TEST(MaximalPartitions, OfAGpuWithoutMigIsItself) {
  const GpuModel l4 = model_named("L4-24GB");
  EXPECT_EQ(maximal_partitions(l4, whole_map(l4)), (std::vector<std::vector<SiteIndex>>{{SiteIndex(0)}}));
  EXPECT_EQ(maximal_multisets(l4, whole_map(l4)), (std::vector<KindCounts>{{1}}));
  EXPECT_TRUE(maximal_partitions(l4, make_site_map(l4, {})).empty());
  EXPECT_TRUE(maximal_multisets(l4, make_site_map(l4, {})).empty());
}

Multiset as_multiset(const SiteMap& map, const KindCounts& counts) {
  Multiset multiset;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] > 0) multiset.push_back({.profile = map.kinds[kind].profile, .count = counts[kind]});
  }
  return multiset;
}

/// Multisets that can be placed, but not with any one instance more, tried one by one.
std::set<KindCounts> largest_placeable(const GpuModel& model, const SiteMap& map) {
  std::set<KindCounts> placeable = {KindCounts(map.kinds.size(), 0)};
  std::set<KindCounts> largest;
  std::vector<KindCounts> waiting(placeable.begin(), placeable.end());
  while (!waiting.empty()) {
    const KindCounts counts = waiting.back();
    waiting.pop_back();
    bool is_largest = true;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      KindCounts more = counts;
      ++more[kind];
      if (!place_multiset(model, as_multiset(map, more))) continue;
      is_largest = false;
      if (placeable.insert(more).second) waiting.push_back(more);
    }
    if (is_largest) largest.insert(counts);
  }
  return largest;
}

TEST(MaximalMultisets, AreThoseWithoutRoomForOneMore) {
  for (const char* name : {"A30-24GB", "A100-80GB", "H200", "RTX"}) {
    const GpuModel model = model_named(name);
    for (const Rules& rules : {plain_rules(model), all_rules(model)}) {
      if (rules.profiles.size() > 8) continue;
      const SiteMap map = make_site_map(model, rules.profiles);
      const std::set<KindCounts> expected = largest_placeable(model, map);
      EXPECT_EQ(maximal_multisets(model, map), std::vector<KindCounts>(expected.begin(), expected.end())) << name;
    }
  }
}

// The 14 multisets of the A100's maximal partitions are not all maximal: the places of two of them leave units free
// that another order of the same slices fills.
TEST(MaximalMultisets, AreFewerThanThoseOfMaximalPartitions) {
  const GpuModel a100 = model_named("A100-80GB");
  const SiteMap map = make_site_map(a100, plain_rules(a100).profiles);
  std::set<Multiset> of_partitions;
  for (const auto& partition : maximal_partitions(a100, map)) {
    of_partitions.insert(multiset_of(state_of(map, partition)));
  }
  EXPECT_EQ(of_partitions.size(), 14U);
  EXPECT_EQ(maximal_multisets(a100, map).size(), 12U);
}

TEST(SiteMapDeathTest, ProfilesInAnotherOrder) {
  const GpuModel a30 = model_named("A30-24GB");
  EXPECT_DEATH((void)make_site_map(a30, {{1}, {0}}), "adjacent_find");
  EXPECT_DEATH((void)make_site_map(a30, {{99}}), "profile.index");
}

}  // namespace
}  // namespace berth::mig
