/// The sets of serving slices that one service may hold on one GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/one_gpu/detail/rooms.h"
#include "planner/one_gpu/detail/served.h"
#include "planner/window/problem.h"

namespace berth::planner {

/// Indices of a service's bundles, and of the items in them.
using BundleIndex = Index<struct BundleTag>;
using ItemIndex = Index<struct ItemTag>;
inline constexpr BundleIndex kNoBundle(-1);
inline constexpr BundleIndex kEmptyBundle(0);
inline constexpr ItemIndex kNoItem(-1);

/// The multisets ("bundles") of items, an item being a kind of slice with a variant, that a service can hold on a GPU.
/// Retraining pieces are not included. Bundle 0 is empty, and a part of a bundle has a smaller number.
struct Bundles {
  struct Item {
    KindIndex kind = KindIndex(0);
    int variant = 0;
    double rate = 0;
  };
  int variants = 0;  ///< of the service
  std::vector<Item> items;
  std::vector<ItemIndex> item_of;    ///< [kind x variants + variant], kNoItem where the rate is 0
  std::vector<RoomIndex> room;       ///< [bundle]
  std::vector<LevelIndex> level;     ///< [bundle], of the capacity, see Served
  std::vector<double> rate;          ///< [bundle], requests per second of all pieces
  std::vector<BundleIndex> add;      ///< [bundle x items + item], kNoBundle if it does not fit
  std::vector<BundleIndex> remove;   ///< [bundle x items + item], kNoBundle if it has none
  std::vector<std::uint8_t> counts;  ///< [bundle x items + item]

  /// The item of a kind and variant; kNoItem if the kind has no rate in the variant.
  [[nodiscard]] ItemIndex item(KindIndex kind, int variant) const {
    return item_of[ix(kind) * ix(variants) + ix(variant)];
  }
  [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  [[nodiscard]] BundleIndex plus(BundleIndex bundle, ItemIndex item) const {
    return add[ix(bundle) * items.size() + ix(item)];
  }
  [[nodiscard]] BundleIndex minus(BundleIndex bundle, ItemIndex item) const {
    return remove[ix(bundle) * items.size() + ix(item)];
  }
  /// The common part of two bundles.
  [[nodiscard]] BundleIndex common_part(BundleIndex a, BundleIndex b) const;
  [[nodiscard]] int count_of(BundleIndex bundle, ItemIndex item) const {
    return counts[ix(bundle) * items.size() + ix(item)];
  }
};

/// All of a service's bundles on GPUs of a model; the levels of their capacities are created in `served`.
[[nodiscard]] Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms,
                                   ServiceIndex service, Served& served);

}  // namespace berth::planner
