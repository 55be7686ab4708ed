/// A GPU model as solvers use it: the kinds of slices, the sites of each, and which sites clash. Small indices and bit
/// sets, computed once from the rules of geometry.h.
///
/// The rules are those of drivers from R510 on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain/mig/geometry.h"
#include "domain/mig/site.h"
#include "domain/values/gpu.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// A profile of the model, or the whole GPU.
struct SiteKind {
  ProfileId profile;
  int sms = 0;
  int compute_slices = 0;  ///< of `full`, all of the GPU's: 0 without MIG
  int length = 0;          ///< placement units, likewise
  int instances_max = 0;   ///< on one GPU
  SiteSet sites = 0;
};

struct SiteMap {
  std::vector<SiteKind> kinds;  ///< ascending by profile, so the whole GPU is last
  std::vector<Site> sites;      ///< by kind, then start

  /// Nothing if the map does not have it.
  [[nodiscard]] std::optional<KindIndex> find_kind(ProfileId profile) const;
  [[nodiscard]] std::optional<SiteIndex> find_site(const Placement& placement) const;
  /// Whether the slices on a legal set of sites stay legal with one more on this site.
  [[nodiscard]] bool fits(SiteSet standing, SiteIndex site) const;
};

/// Requires: profiles of the model or `full`, ascending, each once; at most kSitesMax sites.
[[nodiscard]] SiteMap make_site_map(const GpuModel& model, const std::vector<ProfileId>& profiles);

/// The profiles that rules name, then the whole GPU where it can be used: all that a GPU without MIG has.
[[nodiscard]] std::vector<ProfileId> with_full(const GpuModel& model, const Rules& rules);

/// Every set of sites to which no site can be added, each ascending by start: the sets of `maximal_layouts` in its
/// order, then the whole GPU if it is a kind of the map. Requires: the map's model.
[[nodiscard]] std::vector<std::vector<SiteIndex>> maximal_partitions(const GpuModel& model, const SiteMap& map);

/// The number of slices of each kind of a map.
using KindCounts = std::vector<std::int32_t>;

/// Every multiset of kinds that one GPU can hold and that is part of no larger one, in ascending order. These are fewer
/// than the multisets of the maximal partitions: the slices of a partition may also fit at other starts that leave room
/// for one more. Requires: the map's model. O(states^2).
[[nodiscard]] std::vector<KindCounts> maximal_multisets(const GpuModel& model, const SiteMap& map);

}  // namespace berth::mig
