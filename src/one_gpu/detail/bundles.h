/// What one service may hold of one GPU for serving.
#pragma once

#include <cstdint>
#include <vector>

#include "one_gpu/detail/rooms.h"
#include "one_gpu/detail/served.h"
#include "window/problem.h"

namespace berth::planner {

/// Numbers of a service's bundles, and of what they consist of.
using BundleIndex = Index<struct BundleTag>;
using ItemIndex = Index<struct ItemTag>;
inline constexpr BundleIndex kNoBundle(-1);
inline constexpr BundleIndex kEmptyBundle(0);
inline constexpr ItemIndex kNoLabel(-1);

/// The multisets ("bundles") of labels, a label being a kind of slice with a variant, that a service can hold of a GPU.
/// Retraining pieces are not included. Bundle 0 is empty, and a part of a bundle has a smaller number.
struct Bundles {
  struct Label {
    KindIndex kind{};
    int variant = 0;
    double rate = 0;
  };
  std::vector<Label> labels;
  std::vector<ItemIndex> label_of;   ///< [kind x variants + variant], kNoLabel where the rate is 0
  std::vector<RoomIndex> room;       ///< [bundle]
  std::vector<LevelIndex> level;     ///< [bundle], of the capacity, see Served
  std::vector<double> rate;          ///< [bundle], requests per second of all pieces
  std::vector<BundleIndex> add;      ///< [bundle x labels + label], kNoBundle where there is no room
  std::vector<BundleIndex> remove;   ///< [bundle x labels + label], kNoBundle where it has none
  std::vector<std::uint8_t> counts;  ///< [bundle x labels + label]

  [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  [[nodiscard]] BundleIndex plus(BundleIndex bundle, ItemIndex label) const {
    return add[ix(bundle) * labels.size() + ix(label)];
  }
  [[nodiscard]] BundleIndex minus(BundleIndex bundle, ItemIndex label) const {
    return remove[ix(bundle) * labels.size() + ix(label)];
  }
  /// The common part of two bundles.
  [[nodiscard]] BundleIndex common_part(BundleIndex a, BundleIndex b) const;
  [[nodiscard]] int count_of(BundleIndex bundle, ItemIndex label) const {
    return counts[ix(bundle) * labels.size() + ix(label)];
  }
};

/// All of a service's bundles on GPUs of a model; the levels of their capacities are made in `served`.
[[nodiscard]] Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms,
                                   ServiceIndex service, Served& served);

}  // namespace berth::planner
