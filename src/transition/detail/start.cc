#include "transition/detail/start.h"

#include "base/sort_stably.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace berth::transition::detail {
namespace {

constexpr int kOverlapStepsMax = 2000;
constexpr double kWasteMin = 0.05;

std::size_t index_of(int number) { return static_cast<std::size_t>(number); }

/// The ways to place a GPU's slices on a site, one after the other: the most of them on existing slices, no more of a
/// demand than it has.
class OverlapSearch {
 public:
  using Quotas = std::vector<std::vector<std::vector<int>>>;

  OverlapSearch(const TransitionView& view, int site, const Quotas& quotas, const std::vector<int>& kinds, int tenant)
      : view_(view),
        site_(view.sites[index_of(site)]),
        offer_(view.offers[index_of(site_.offer)]),
        quotas_(quotas),
        kinds_(kinds),
        tenant_(tenant),
        used_(site_.standing.size(), false) {}

  /// A new slice has no demand yet.
  std::vector<Held> run() {
    place(0, 0);
    return best_;
  }

 private:
  void place(std::size_t index, int kept) {
    if (++steps_ > kOverlapStepsMax && best_kept_ >= 0) return;
    if (kept + static_cast<int>(kinds_.size() - index) <= best_kept_) return;
    if (index == kinds_.size()) {
      best_kept_ = kept;
      best_ = held_;
      return;
    }
    const int kind = kinds_[index];
    for (std::size_t i = 0; i < site_.standing.size(); ++i) {
      const StandingView& stood = view_.standing[index_of(site_.standing[i])];
      if (used_[i] || !may_keep(stood, kind)) continue;
      used_[i] = true;
      try_place(index, kept + 1, {stood.place, stood.demand, site_.standing[i]});
      used_[i] = false;
    }
    for (std::size_t p = 0; p < offer_.places.size(); ++p) {
      if (offer_.place_kinds[p] == kind) try_place(index, kept, {static_cast<int>(p), kNone, kNone});
    }
  }

  bool may_keep(const StandingView& stood, int kind) const {
    if (stood.best == 0 || offer_.place_kinds[index_of(stood.place)] != kind) return false;
    if (tenant_ != kNone && view_.demands[index_of(stood.demand)].tenant != tenant_) return false;
    int quota = quotas_[index_of(stood.demand)][index_of(site_.offer)][index_of(kind)];
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].demand == stood.demand && kinds_[i] == kind) --quota;
    }
    return quota > 0;
  }

  void try_place(std::size_t index, int kept, const Held& held) {
    if (!offer_.fits(standing_, held.place)) return;
    standing_ |= Places{1} << held.place;
    held_.push_back(held);
    place(index + 1, kept);
    held_.pop_back();
    standing_ &= ~(Places{1} << held.place);
  }

  const TransitionView& view_;
  const SiteView& site_;
  const OfferView& offer_;
  const Quotas& quotas_;
  const std::vector<int>& kinds_;
  int tenant_;
  std::vector<bool> used_;
  Places standing_ = 0;
  std::vector<Held> held_;
  std::vector<Held> best_;
  int best_kept_ = -1;
  int steps_ = 0;
};

int kept_count(const std::vector<Held>& site) {
  return static_cast<int>(std::ranges::count_if(site, [](const Held& held) { return held.standing != kNone; }));
}

}  // namespace

std::vector<std::vector<HeldAt>> by_demand(const TransitionView& view, const SitePlan& plan) {
  std::vector<std::vector<HeldAt>> slices(view.demands.size());
  for (std::size_t site = 0; site < plan.size(); ++site) {
    for (const Held& held : plan[site]) slices[index_of(held.demand)].push_back({static_cast<int>(site), held});
  }
  return slices;
}

std::vector<SliceRates> rates_of(const TransitionView& view, const std::vector<HeldAt>& slices) {
  std::vector<SliceRates> rates;
  rates.reserve(slices.size());
  for (const auto& [site, held] : slices) {
    if (held.standing != kNone) {
      const StandingView& stood = view.standing[index_of(held.standing)];
      rates.push_back({stood.low, stood.best});
      continue;
    }
    const std::size_t offer = index_of(view.sites[index_of(site)].offer);
    const int kind = view.offers[offer].place_kinds[index_of(held.place)];
    const Rate rate = view.demands[index_of(held.demand)].rates[offer][index_of(kind)];
    rates.push_back({rate, rate});
  }
  return rates;
}

Places places_of(const std::vector<Held>& site) {
  Places places = 0;
  for (const Held& held : site) places |= Places{1} << held.place;
  return places;
}

bool is_complete(const TransitionView& view, const SitePlan& plan) {
  std::int64_t price = 0;
  std::vector<std::int64_t> counts(view.offers.size(), 0);
  for (std::size_t site = 0; site < plan.size(); ++site) {
    if (plan[site].empty()) continue;
    const std::size_t offer = index_of(view.sites[site].offer);
    price += view.offers[offer].price;
    if (++counts[offer] > view.offers[offer].count_max) return false;
  }
  if (price > view.budget) return false;
  const auto slices = by_demand(view, plan);
  for (std::size_t d = 0; d < slices.size(); ++d) {
    if (view.demands[d].need == 0 ? !slices[d].empty() : !tune(view.demands[d].need, rates_of(view, slices[d]))) {
      return false;
    }
  }
  return true;
}

Starter::Starter(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, SiteRoom& room)
    : view_(view), problem_(problem), fewest_(fewest), room_(room) {
  rank_sites(false);
}

void Starter::rank_sites(bool by_waste) {
  keepers_.clear();
  std::vector<int> counts(view_.sites.size(), 0);
  for (const StandingView& stood : view_.standing) {
    if (stood.best > 0) ++counts[index_of(stood.site)];
  }
  for (std::size_t site = 0; site < view_.sites.size(); ++site) {
    if (counts[site] > 0) keepers_.push_back(static_cast<int>(site));
  }
  sort_stably(
      keepers_,
      [&](int site) {
        const double count = counts[index_of(site)];
        return by_waste ? count / std::max(waste_of(site), kWasteMin) : count;
      },
      std::greater<>());
}

/// Compute slices of a site that its slices, retuned, use beyond what their rates would need elsewhere.
double Starter::waste_of(int site) const {
  const SiteView& own = view_.sites[index_of(site)];
  double waste = view_.offers[index_of(own.offer)].weight;
  for (const int i : own.standing) {
    const StandingView& stood = view_.standing[index_of(i)];
    if (stood.best == 0) continue;
    const DemandView& demand = view_.demands[index_of(stood.demand)];
    double worth = 0;
    for (std::size_t k = 0; k < view_.offers.size(); ++k) {
      for (std::size_t kind = 0; kind < view_.offers[k].kinds.size(); ++kind) {
        worth = std::max(worth, static_cast<double>(demand.rates[k][kind]) / view_.offers[k].weights[kind]);
      }
    }
    waste -= static_cast<double>(stood.best) / worth;
  }
  return waste;
}

std::optional<SitePlan> Starter::keep_sites(std::size_t count, bool fills_room, const Packer& pack) {
  SitePlan plan(view_.sites.size());
  if (count == 0) {
    place(wanted_of(fewest_), plan);
  } else {
    plan = keep_most(count);
    if (fills_room) fill(plan);
    const auto rest = pack_rest(plan, pack);
    if (!rest) return std::nullopt;
    place(wanted_of(*rest), plan);
  }
  drop_surplus(plan);
  if (!is_complete(view_, plan)) return std::nullopt;
  return plan;
}

/// Site by site, each slice, unless one of the demand's would be surplus.
SitePlan Starter::keep_most(std::size_t count) const {
  SitePlan plan(view_.sites.size());
  std::vector<Rate> sums(view_.demands.size(), 0);
  std::vector<Rate> least(view_.demands.size(), INT64_MAX);
  std::vector<std::int64_t> counts(view_.offers.size(), 0);
  std::int64_t price = 0;
  for (std::size_t rank = 0; rank < std::min(count, keepers_.size()); ++rank) {
    const std::size_t site = index_of(keepers_[rank]);
    const OfferView& offer = view_.offers[index_of(view_.sites[site].offer)];
    std::int64_t& used = counts[index_of(view_.sites[site].offer)];
    if (used >= offer.count_max || price + offer.price > view_.budget) continue;
    int tenant = kNone;
    for (const int i : view_.sites[site].standing) {
      const StandingView& stood = view_.standing[index_of(i)];
      if (stood.best == 0) continue;
      if (view_.keeps_tenants_apart && tenant != kNone && tenant != stood.tenant) continue;
      const std::size_t d = index_of(stood.demand);
      const Rate smallest = std::min(least[d], stood.low);
      if (sums[d] + stood.low - smallest >= view_.demands[d].need) continue;
      sums[d] += stood.low;
      least[d] = smallest;
      tenant = stood.tenant;
      plan[site].push_back({stood.place, stood.demand, i});
    }
    if (plan[site].empty()) continue;
    ++used;
    price += offer.price;
  }
  return plan;
}

std::vector<Rate> Starter::lacking(const SitePlan& plan) const {
  std::vector<Rate> lacking;
  const auto slices = by_demand(view_, plan);
  for (std::size_t d = 0; d < slices.size(); ++d) {
    Rate rest = view_.demands[d].need;
    for (const SliceRates& own : rates_of(view_, slices[d])) rest -= own.best;
    lacking.push_back(rest);
  }
  return lacking;
}

/// New slices in the free room of the sites in use, the largest shortage first.
void Starter::fill(SitePlan& plan) {
  std::vector<Rate> rest = lacking(plan);
  std::vector<int> order(rest.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  sort_stably(order, [&](int d) { return rest[index_of(d)]; }, std::greater<>());
  for (const int demand : order) {
    Rate left = rest[index_of(demand)];
    while (left > 0 && fill_one(plan, demand, left)) left = lacking(plan)[index_of(demand)];
  }
}

/// The smallest slice that covers the shortage, otherwise the one that covers most; where the least room is left over.
bool Starter::fill_one(SitePlan& plan, int demand, Rate lacking) {
  using Rank = std::tuple<bool, Rate, int, int, std::size_t, int>;
  std::optional<Rank> best;
  for (std::size_t site = 0; site < plan.size(); ++site) {
    if (plan[site].empty()) continue;
    const int tenant = view_.demands[index_of(plan[site].front().demand)].tenant;
    if (view_.keeps_tenants_apart && tenant != view_.demands[index_of(demand)].tenant) continue;
    const int model = view_.sites[site].offer;
    const OfferView& offer = view_.offers[index_of(model)];
    const Places standing = places_of(plan[site]);
    const SiteRoom::Extra before = room_.extra(model, standing);
    if (before.weight == 0) continue;
    for (const int place : room_.useful(model)) {
      const std::size_t kind = index_of(offer.place_kinds[index_of(place)]);
      const Rate rate = view_.demands[index_of(demand)].rates[index_of(model)][kind];
      if (rate == 0 || !offer.fits(standing, place)) continue;
      const SiteRoom::Extra after = room_.extra(model, standing | (Places{1} << place));
      const bool is_short = rate < lacking;
      const Rank rank(is_short, is_short ? -rate : 0, before.weight - after.weight, after.weight, site, place);
      if (!best || rank < *best) best = rank;
    }
  }
  if (!best) return false;
  plan[std::get<4>(*best)].push_back({std::get<5>(*best), demand, kNone});
  return true;
}

/// The shortage, packed for the remaining GPUs. Nothing if it needs more than allowed.
std::optional<Packing> Starter::pack_rest(const SitePlan& plan, const Packer& pack) const {
  PackingProblem rest = problem_;
  rest.rules.headroom = Decimal(1);
  const std::vector<Rate> rates = lacking(plan);
  bool is_empty = true;
  for (std::size_t d = 0; d < rates.size(); ++d) {
    rest.demands[d].requests_per_second = Decimal(std::max<Rate>(rates[d], 0)) / view_.demands[d].scale;
    is_empty = is_empty && rates[d] <= 0;
  }
  if (is_empty) return Packing{};
  std::int64_t left = view_.budget;
  std::vector<std::int64_t> counts(view_.offers.size(), 0);
  for (std::size_t site = 0; site < plan.size(); ++site) {
    if (plan[site].empty()) continue;
    ++counts[index_of(view_.sites[site].offer)];
    left -= view_.offers[index_of(view_.sites[site].offer)].price;
  }
  if (left <= 0) return std::nullopt;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const OfferView& offer = view_.offers[k];
    const std::int64_t sites = std::ranges::count(view_.sites, static_cast<int>(k), &SiteView::offer);
    rest.offers[k].count_max = std::max<std::int64_t>(0, std::min(offer.count_max, sites) - counts[k]);
  }
  auto packed = pack(rest);
  if (!packed) return std::nullopt;
  for (const std::uint32_t offer : packed->gpu_offers) left -= view_.offers[offer].price;
  return left >= 0 ? packed : std::nullopt;
}

Starter::PackedContent Starter::wanted_of(const Packing& packing) const {
  PackedContent wanted;
  wanted.site_tenants.assign(view_.sites.size(), kNone);
  for (std::size_t d = 0; d < view_.demands.size(); ++d) {
    wanted.quotas.emplace_back();
    for (const OfferView& offer : view_.offers) wanted.quotas.back().emplace_back(offer.kinds.size(), 0);
  }
  std::vector<GpuPartition> gpus;
  gpus.reserve(packing.gpu_offers.size());
  for (const std::uint32_t offer : packing.gpu_offers) gpus.push_back({static_cast<int>(offer), kNone, {}});
  for (const PackedSlice& slice : packing.slices) {
    GpuPartition& gpu = gpus[slice.slice.gpu.index];
    const OfferView& offer = view_.offers[index_of(gpu.offer)];
    const int kind = offer.place_kinds[index_of(offer.place_of({slice.slice.start, slice.slice.profile}))];
    gpu.kinds.push_back(kind);
    if (view_.keeps_tenants_apart) gpu.tenant = view_.demands[slice.demand].tenant;
    ++wanted.quotas[slice.demand][index_of(gpu.offer)][index_of(kind)];
  }
  for (GpuPartition& gpu : gpus) {
    const std::vector<int>& lengths = view_.offers[index_of(gpu.offer)].lengths;
    std::ranges::sort(gpu.kinds, {}, [&](int kind) { return std::pair(-lengths[index_of(kind)], kind); });
    ++wanted.partitions[std::move(gpu)];
  }
  return wanted;
}

std::vector<Held> Starter::overlap(const PackedContent& wanted, const GpuPartition& partition, int site) const {
  return OverlapSearch(view_, site, wanted.quotas, partition.kinds, partition.tenant).run();
}

/// Assigns partitions to free sites, the largest overlap first; then those without overlap; then demands to new slices.
void Starter::place(PackedContent wanted, SitePlan& plan) const {
  place_best(wanted, plan);
  for (auto& [partition, count] : wanted.partitions) {
    for (std::size_t site = 0; count > 0 && site < plan.size(); ++site) {
      if (!plan[site].empty() || view_.sites[site].offer != partition.offer) continue;
      plan[site] = overlap(wanted, partition, static_cast<int>(site));
      wanted.site_tenants[site] = partition.tenant;
      --count;
    }
  }
  share_out(wanted, plan);
}

/// An overlap only shrinks as demands are used up: one that has shrunk is queued again. O(partitions x sites x log)
/// overlaps and the repeated ones.
void Starter::place_best(PackedContent& wanted, SitePlan& plan) const {
  std::set<std::tuple<int, int, int>> waiting;  // -overlap, site, number of the partition
  std::vector<const GpuPartition*> partitions;
  for (const auto& [partition, count] : wanted.partitions) {
    for (const int site : keepers_) {
      if (!plan[index_of(site)].empty() || view_.sites[index_of(site)].offer != partition.offer) continue;
      const int kept = kept_count(overlap(wanted, partition, site));
      if (kept > 0) waiting.emplace(-kept, site, static_cast<int>(partitions.size()));
    }
    partitions.push_back(&partition);
  }
  while (!waiting.empty()) {
    const auto [rank, site, number] = *waiting.begin();
    waiting.erase(waiting.begin());
    const GpuPartition& partition = *partitions[index_of(number)];
    if (!plan[index_of(site)].empty() || wanted.partitions[partition] == 0) continue;
    std::vector<Held> held = overlap(wanted, partition, site);
    const int kept = kept_count(held);
    if (kept < -rank) {
      if (kept > 0) waiting.emplace(-kept, site, number);
      continue;
    }
    --wanted.partitions[partition];
    const OfferView& offer = view_.offers[index_of(partition.offer)];
    for (const Held& own : held) {
      const int kind = offer.place_kinds[index_of(own.place)];
      if (own.demand != kNone) --wanted.quotas[index_of(own.demand)][index_of(partition.offer)][index_of(kind)];
    }
    plan[index_of(site)] = std::move(held);
    wanted.site_tenants[index_of(site)] = partition.tenant;
  }
}

/// Assigns to each new slice a demand that still needs one.
void Starter::share_out(PackedContent& wanted, SitePlan& plan) const {
  for (std::size_t site = 0; site < plan.size(); ++site) {
    const std::size_t model = index_of(view_.sites[site].offer);
    const int tenant = wanted.site_tenants[site];
    for (Held& held : plan[site]) {
      if (held.demand != kNone) continue;
      const std::size_t kind = index_of(view_.offers[model].place_kinds[index_of(held.place)]);
      const auto has_left = [&](int d) {
        const bool is_own = tenant == kNone || view_.demands[index_of(d)].tenant == tenant;
        return is_own && wanted.quotas[index_of(d)][model][kind] > 0;
      };
      for (int d = 0; held.demand == kNone && d < static_cast<int>(view_.demands.size()); ++d) {
        if (!has_left(d)) continue;
        held.demand = d;
        --wanted.quotas[index_of(d)][model][kind];
      }
    }
  }
}

/// A slice without which the others meet the need: a new one first, then the smallest.
std::optional<std::size_t> Starter::find_surplus(std::size_t demand, const std::vector<HeldAt>& slices) const {
  const std::vector<SliceRates> rates = rates_of(view_, slices);
  const Rate need = view_.demands[demand].need;
  const auto rank = [&](std::size_t i) { return std::tuple(slices[i].held.standing != kNone, rates[i].low, i); };
  for (const auto rate : {&SliceRates::low, &SliceRates::best}) {
    Rate sum = 0;
    for (const SliceRates& own : rates) sum += own.*rate;
    std::optional<std::size_t> surplus;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (sum - rates[i].*rate >= need && (!surplus || rank(i) < rank(*surplus))) surplus = i;
    }
    if (surplus) return surplus;
  }
  return std::nullopt;
}

/// Removes slices while one of a demand is surplus.
void Starter::drop_surplus(SitePlan& plan) const {
  auto slices = by_demand(view_, plan);
  for (std::size_t d = 0; d < slices.size(); ++d) {
    std::vector<HeldAt>& own = slices[d];
    while (!own.empty() && !tune(view_.demands[d].need, rates_of(view_, own))) {
      const std::optional<std::size_t> surplus = find_surplus(d, own);
      if (!surplus) break;
      std::erase(plan[index_of(own[*surplus].site)], own[*surplus].held);
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(*surplus));
    }
  }
}

}  // namespace berth::transition::detail
