#include "planner/one_gpu/detail/rooms.h"

#include <algorithm>
#include <numeric>

namespace berth::planner {
namespace {

using KindCounts = std::vector<std::uint8_t>;

/// Adds the counts of every set of sites that do not clash with each other or with `taken`, from site `first` on.
void collect_counts(const ModelTerms& model, SiteIndex first, std::uint64_t taken, KindCounts& counts,
                    std::vector<KindCounts>& found) {
  found.push_back(counts);
  for (SiteIndex site = first; ix(site) < model.sites.size(); ++site) {
    if ((taken >> site & 1) != 0) continue;
    std::uint8_t& count = counts[model.sites[site].kind];
    ++count;
    collect_counts(model, site + 1, taken | model.sites[site].clashes, counts, found);
    --count;
  }
}

int size_of(const KindCounts& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

bool smaller_first(const KindCounts& a, const KindCounts& b) {
  const int size_a = size_of(a);
  const int size_b = size_of(b);
  return size_a != size_b ? size_a < size_b : a < b;
}

}  // namespace

Rooms::Rooms(const ModelTerms& model) : kinds_(static_cast<int>(model.rates.size())) {
  std::vector<KindCounts> found;
  KindCounts counts(model.rates.size());
  collect_counts(model, SiteIndex(0), 0, counts, found);
  std::ranges::sort(found);
  const auto repeated = std::ranges::unique(found);
  found.erase(repeated.begin(), repeated.end());
  std::ranges::sort(found, smaller_first);
  add_.assign(found.size() * model.rates.size(), kNoRoom);
  for (const RoomIndex room : indices_of<RoomIndex>(found)) {
    counts_.insert(counts_.end(), found[room].begin(), found[room].end());
    bool is_maximal = true;
    for (const KindIndex kind : indices_of<KindIndex>(model.rates)) {
      KindCounts more = found[room];
      ++more[kind];
      const auto place = std::ranges::lower_bound(found, more, smaller_first);
      if (place == found.end() || *place != more) continue;
      add_[ix(room) * model.rates.size() + ix(kind)] = RoomIndex(place - found.begin());
      is_maximal = false;
    }
    if (is_maximal) maximal_.push_back(room);
  }
  if (count() > kTableMax) return;
  joined_.reserve(ix(count()) * ix(count()));
  for (const RoomIndex a : Indices<RoomIndex>(count())) {
    for (const RoomIndex b : Indices<RoomIndex>(count()))
      joined_.push_back(b < a ? joined_[ix(b) * ix(count()) + ix(a)] : kNoRoom);
    for (RoomIndex b = a; b < count(); ++b) joined_[ix(a) * ix(count()) + ix(b)] = add_all(a, b);
  }
}

RoomIndex Rooms::add_all(RoomIndex a, RoomIndex b) const {
  for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
    for (int i = count_of(b, kind); i > 0 && a != kNoRoom; --i) a = add(a, kind);
    if (a == kNoRoom) return kNoRoom;
  }
  return a;
}

}  // namespace berth::planner
