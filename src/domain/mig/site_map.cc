#include "domain/mig/site_map.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/core/ensure.h"
#include "domain/mig/detail/occupancy.h"
#include "domain/values/gpu.h"

namespace berth::mig {
namespace {

SiteKind site_kind(const GpuModel& model, ProfileId profile) {
  if (profile.is_full()) {
    return {.profile = profile,
            .sms = profile_sms(model, profile),
            .compute_slices = model.compute_slices,
            .length = model.units,
            .instances_max = 1};
  }
  ENSURE(profile.index < model.profiles.size());
  const MigProfile& mig = model.profiles[profile.index];
  return {.profile = profile,
          .sms = profile_sms(model, profile),
          .compute_slices = mig.compute_slices,
          .length = mig.length,
          .instances_max = mig.instances_max};
}

std::vector<int> starts_of(const GpuModel& model, ProfileId profile) {
  return profile.is_full() ? std::vector<int>{0} : model.profiles[profile.index].starts;
}

SiteSet clashes_of(const GpuModel& model, const std::vector<Site>& sites, const Site& site) {
  const auto candidate = [&model](const Site& at) {
    const Placement placement = {.start = at.start, .profile = at.profile};
    return detail::Candidate{.placement = placement, .units = detail::units_of(model, placement)};
  };
  detail::Occupancy alone(model, /*is_before_r510=*/false);
  alone.add(candidate(site));
  SiteSet clashes = 0;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    if (!alone.accepts(candidate(sites[s]))) clashes |= SiteSet{1} << s;
  }
  return clashes;
}

/// The rules of a map's profiles; `full`, which is legal only alone, is not part of Rules.
Rules rules_of(const SiteMap& map) {
  Rules rules;
  for (const SiteKind& kind : map.kinds) {
    if (!kind.profile.is_full()) rules.profiles.push_back(kind.profile);
  }
  return rules;
}

KindCounts counts_of(const SiteMap& map, const State& state) {
  KindCounts counts(map.kinds.size(), 0);
  for (const Placement& placement : state) ++counts[static_cast<std::size_t>(*map.find_kind(placement.profile))];
  return counts;
}

bool is_within(const KindCounts& small, const KindCounts& large) {
  return std::ranges::equal(small, large, [](std::int32_t a, std::int32_t b) { return a <= b; });
}

}  // namespace

std::optional<KindIndex> SiteMap::find_kind(ProfileId profile) const {
  const auto found = std::ranges::find(kinds, profile, &SiteKind::profile);
  if (found == kinds.end()) return std::nullopt;
  return KindIndex(found - kinds.begin());
}

std::optional<SiteIndex> SiteMap::find_site(const Placement& placement) const {
  const auto found = std::ranges::find_if(
      sites, [&](const Site& site) { return site.start == placement.start && site.profile == placement.profile; });
  if (found == sites.end()) return std::nullopt;
  return SiteIndex(found - sites.begin());
}

bool SiteMap::fits(SiteSet standing, SiteIndex site) const {
  const Site& at = sites[static_cast<std::size_t>(site)];
  if ((at.clashes & standing) != 0) return false;
  const SiteKind& kind = kinds[static_cast<std::size_t>(at.kind)];
  return std::popcount(standing & kind.sites) < kind.instances_max;
}

SiteMap make_site_map(const GpuModel& model, const std::vector<ProfileId>& profiles) {
  ENSURE(std::ranges::adjacent_find(profiles, std::greater_equal<>()) == profiles.end());
  SiteMap map;
  for (const ProfileId profile : profiles) {
    const KindIndex kind(map.kinds.size());
    map.kinds.push_back(site_kind(model, profile));
    for (const int start : starts_of(model, profile)) {
      ENSURE(map.sites.size() < kSitesMax);
      map.kinds.back().sites |= SiteSet{1} << map.sites.size();
      map.sites.push_back({.start = start, .profile = profile, .kind = kind, .clashes = 0});
    }
  }
  for (Site& site : map.sites) site.clashes = clashes_of(model, map.sites, site);
  return map;
}

std::vector<ProfileId> with_full(const GpuModel& model, const Rules& rules) {
  std::vector<ProfileId> profiles = rules.profiles;
  if (model.has_full) profiles.push_back(ProfileId::full());
  return profiles;
}

std::vector<std::vector<SiteIndex>> maximal_partitions(const GpuModel& model, const SiteMap& map) {
  std::vector<std::vector<SiteIndex>> partitions;
  if (const Rules rules = rules_of(map); !rules.profiles.empty()) {
    for (const State& state : maximal_layouts(model, rules)) {
      std::vector<SiteIndex>& partition = partitions.emplace_back();
      for (const Placement& placement : state) partition.push_back(*map.find_site(placement));
    }
  }
  if (const auto full = map.find_site({0, ProfileId::full()})) partitions.push_back({*full});
  return partitions;
}

std::vector<KindCounts> maximal_multisets(const GpuModel& model, const SiteMap& map) {
  std::set<KindCounts> all;
  if (const Rules rules = rules_of(map); !rules.profiles.empty()) {
    for_each_state(model, rules, [&](const State& state) { all.insert(counts_of(map, state)); });
  }
  if (map.find_kind(ProfileId::full())) all.insert(counts_of(map, {{0, ProfileId::full()}}));
  std::vector<KindCounts> maximal;
  for (const KindCounts& counts : all) {
    const bool is_maximal =
        std::ranges::none_of(all, [&](const KindCounts& other) { return other != counts && is_within(counts, other); });
    if (is_maximal) maximal.push_back(counts);
  }
  return maximal;
}

}  // namespace berth::mig
