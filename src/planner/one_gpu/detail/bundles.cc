#include "planner/one_gpu/detail/bundles.h"

#include <algorithm>
#include <map>

namespace berth::planner {
namespace {

using ItemCounts = std::vector<std::uint8_t>;

void add_items(const ModelTerms& model, const ServiceTerms& terms, ServiceIndex service, Bundles& bundles) {
  bundles.variants = static_cast<int>(terms.variants.size());
  bundles.item_of.assign(model.rates.size() * terms.variants.size(), kNoItem);
  for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
    const std::vector<double>& rates = model.rates[kind][service].requests_per_second;
    for (std::size_t v = 0; v < rates.size(); ++v) {
      if (rates[v] <= 0) continue;
      bundles.item_of[ix(kind) * terms.variants.size() + v] = ItemIndex(bundles.items.size());
      bundles.items.push_back({.kind = kind, .variant = static_cast<int>(v), .rate = rates[v]});
    }
  }
}

/// Breadth first, so that bundles come in the order of their sizes.
void add_bundles(const Rooms& rooms, Bundles& bundles) {
  const std::size_t items = bundles.items.size();
  std::map<ItemCounts, BundleIndex> known;
  std::vector<ItemCounts> all = {ItemCounts(items)};
  known.emplace(all.front(), kEmptyBundle);
  bundles.room.push_back(kEmptyRoom);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t item = 0; item < items; ++item) {
      const RoomIndex room = rooms.add(bundles.room[i], bundles.items[item].kind);
      if (room == kNoRoom) {
        bundles.add.push_back(kNoBundle);
        continue;
      }
      ItemCounts more = all[i];
      ++more[item];
      const auto [place, is_new] = known.try_emplace(more, BundleIndex(all.size()));
      bundles.add.push_back(place->second);
      if (!is_new) continue;
      all.push_back(std::move(more));
      bundles.room.push_back(room);
    }
  }
  for (const ItemCounts& counts : all) bundles.counts.insert(bundles.counts.end(), counts.begin(), counts.end());
}

}  // namespace

BundleIndex Bundles::common_part(BundleIndex a, BundleIndex b) const {
  BundleIndex common = kEmptyBundle;
  for (const ItemIndex item : indices_of<ItemIndex>(items)) {
    for (int i = std::min(count_of(a, item), count_of(b, item)); i > 0; --i) common = plus(common, item);
  }
  return common;
}

Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms, ServiceIndex service,
                     Served& served) {
  Bundles bundles;
  add_items(model, terms, service, bundles);
  add_bundles(rooms, bundles);
  const std::size_t items = bundles.items.size();
  bundles.remove.assign(bundles.add.size(), kNoBundle);
  for (std::size_t i = 0; i < bundles.add.size(); ++i) {
    if (bundles.add[i] != kNoBundle) bundles.remove[ix(bundles.add[i]) * items + i % items] = BundleIndex(i / items);
  }
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    std::vector<double> capacity(terms.variants.size());
    double rate = 0;
    for (const ItemIndex item : Indices<ItemIndex>(items)) {
      const double more = bundles.count_of(bundle, item) * bundles.items[item].rate;
      capacity[bundles.items[item].variant] += more;
      rate += more;
    }
    bundles.level.push_back(served.level_of(capacity));
    bundles.rate.push_back(rate);
  }
  return bundles;
}

}  // namespace berth::planner
