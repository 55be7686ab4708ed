#include "one_gpu/detail/bundles.h"

#include <algorithm>
#include <map>

namespace berth::planner {
namespace {

using LabelCounts = std::vector<std::uint8_t>;

void add_labels(const ModelTerms& model, const ServiceTerms& terms, int service, Bundles& bundles) {
  bundles.label_of.assign(model.rates.size() * terms.variants.size(), kNoLabel);
  for (std::size_t kind = 0; kind < model.rates.size(); ++kind) {
    const std::vector<double>& rates = model.rates[kind][ix(service)].requests_per_second;
    for (std::size_t v = 0; v < rates.size(); ++v) {
      if (rates[v] <= 0) continue;
      bundles.label_of[kind * terms.variants.size() + v] = static_cast<int>(bundles.labels.size());
      bundles.labels.push_back({.kind = static_cast<int>(kind), .variant = static_cast<int>(v), .rate = rates[v]});
    }
  }
}

/// Breadth first, so that bundles come in the order of their sizes.
void add_bundles(const Rooms& rooms, Bundles& bundles) {
  const std::size_t labels = bundles.labels.size();
  std::map<LabelCounts, int> known;
  std::vector<LabelCounts> all = {LabelCounts(labels)};
  known.emplace(all.front(), 0);
  bundles.room.push_back(0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t label = 0; label < labels; ++label) {
      const int room = rooms.add(bundles.room[i], bundles.labels[label].kind);
      if (room == kNoRoom) {
        bundles.add.push_back(kNoBundle);
        continue;
      }
      LabelCounts more = all[i];
      ++more[label];
      const auto [place, is_new] = known.try_emplace(more, static_cast<int>(all.size()));
      bundles.add.push_back(place->second);
      if (!is_new) continue;
      all.push_back(std::move(more));
      bundles.room.push_back(room);
    }
  }
  for (const LabelCounts& counts : all) bundles.counts.insert(bundles.counts.end(), counts.begin(), counts.end());
}

}  // namespace

int Bundles::common_part(int a, int b) const {
  int common = 0;
  for (int label = 0; ix(label) < labels.size(); ++label) {
    for (int i = std::min(count_of(a, label), count_of(b, label)); i > 0; --i) common = plus(common, label);
  }
  return common;
}

Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms, int service,
                     Served& served) {
  Bundles bundles;
  add_labels(model, terms, service, bundles);
  add_bundles(rooms, bundles);
  const std::size_t labels = bundles.labels.size();
  bundles.remove.assign(bundles.add.size(), kNoBundle);
  for (std::size_t i = 0; i < bundles.add.size(); ++i) {
    if (bundles.add[i] != kNoBundle)
      bundles.remove[ix(bundles.add[i]) * labels + i % labels] = static_cast<int>(i / labels);
  }
  for (int bundle = 0; bundle < bundles.count(); ++bundle) {
    std::vector<double> capacity(terms.variants.size());
    double rate = 0;
    for (std::size_t label = 0; label < labels; ++label) {
      const double more = bundles.count_of(bundle, static_cast<int>(label)) * bundles.labels[label].rate;
      capacity[ix(bundles.labels[label].variant)] += more;
      rate += more;
    }
    bundles.level.push_back(served.level_of(capacity));
    bundles.rate.push_back(rate);
  }
  return bundles;
}

}  // namespace berth::planner
