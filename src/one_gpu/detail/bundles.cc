#include "one_gpu/detail/bundles.h"

#include <algorithm>
#include <map>

namespace berth::planner {
namespace {

using LabelCounts = std::vector<std::uint8_t>;

void add_labels(const ModelTerms& model, const ServiceTerms& terms, ServiceIndex service, Bundles& bundles) {
  bundles.label_of.assign(model.rates.size() * terms.variants.size(), kNoLabel);
  for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
    const std::vector<double>& rates = model.rates[kind][service].requests_per_second;
    for (std::size_t v = 0; v < rates.size(); ++v) {
      if (rates[v] <= 0) continue;
      bundles.label_of[ix(kind) * terms.variants.size() + v] = ItemIndex(bundles.labels.size());
      bundles.labels.push_back({.kind = kind, .variant = static_cast<int>(v), .rate = rates[v]});
    }
  }
}

/// Breadth first, so that bundles come in the order of their sizes.
void add_bundles(const Rooms& rooms, Bundles& bundles) {
  const std::size_t labels = bundles.labels.size();
  std::map<LabelCounts, BundleIndex> known;
  std::vector<LabelCounts> all = {LabelCounts(labels)};
  known.emplace(all.front(), kEmptyBundle);
  bundles.room.push_back(kEmptyRoom);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t label = 0; label < labels; ++label) {
      const RoomIndex room = rooms.add(bundles.room[i], bundles.labels[label].kind);
      if (room == kNoRoom) {
        bundles.add.push_back(kNoBundle);
        continue;
      }
      LabelCounts more = all[i];
      ++more[label];
      const auto [place, is_new] = known.try_emplace(more, BundleIndex(all.size()));
      bundles.add.push_back(place->second);
      if (!is_new) continue;
      all.push_back(std::move(more));
      bundles.room.push_back(room);
    }
  }
  for (const LabelCounts& counts : all) bundles.counts.insert(bundles.counts.end(), counts.begin(), counts.end());
}

}  // namespace

BundleIndex Bundles::common_part(BundleIndex a, BundleIndex b) const {
  BundleIndex common = kEmptyBundle;
  for (const ItemIndex label : indices_of<ItemIndex>(labels)) {
    for (int i = std::min(count_of(a, label), count_of(b, label)); i > 0; --i) common = plus(common, label);
  }
  return common;
}

Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms, ServiceIndex service,
                     Served& served) {
  Bundles bundles;
  add_labels(model, terms, service, bundles);
  add_bundles(rooms, bundles);
  const std::size_t labels = bundles.labels.size();
  bundles.remove.assign(bundles.add.size(), kNoBundle);
  for (std::size_t i = 0; i < bundles.add.size(); ++i) {
    if (bundles.add[i] != kNoBundle) bundles.remove[ix(bundles.add[i]) * labels + i % labels] = BundleIndex(i / labels);
  }
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    std::vector<double> capacity(terms.variants.size());
    double rate = 0;
    for (const ItemIndex label : Indices<ItemIndex>(labels)) {
      const double more = bundles.count_of(bundle, label) * bundles.labels[label].rate;
      capacity[bundles.labels[label].variant] += more;
      rate += more;
    }
    bundles.level.push_back(served.level_of(capacity));
    bundles.rate.push_back(rate);
  }
  return bundles;
}

}  // namespace berth::planner
