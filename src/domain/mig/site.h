/// The place of a slice on a GPU, for people (start and profile) and for solvers (small indices and bit sets). Values
/// only: geometry.h has the rules, site_map.h makes the sites of a model.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "base/core/index.h"
#include "domain/values/slice.h"

namespace berth::mig {

/// An instance of a profile at a start. Ordered by start, then profile.
struct Placement {
  int start = 0;
  ProfileId profile;
  friend auto operator<=>(const Placement&, const Placement&) = default;
};

/// Indices into `SiteMap::kinds` and `SiteMap::sites`.
using KindIndex = Index<struct KindTag>;
using SiteIndex = Index<struct SiteTag>;

/// A set of sites: bit s is site s.
using SiteSet = std::uint64_t;
inline constexpr std::size_t kSitesMax = 64;  ///< known models have at most 31

/// A profile at a legal start, or the whole GPU.
struct Site {
  int start = 0;
  ProfileId profile;
  KindIndex kind;       ///< sites of one profile are of one kind
  SiteSet clashes = 0;  ///< the sites that cannot be used together with this one, including itself

  [[nodiscard]] Placement placement() const { return {.start = start, .profile = profile}; }
  friend bool operator==(const Site&, const Site&) = default;
};

}  // namespace berth::mig
