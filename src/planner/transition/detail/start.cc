#include "planner/transition/detail/start.h"

#include "base/core/sort_stably.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace berth::transition::detail {
namespace {

constexpr int kOverlapStepsMax = 2000;
constexpr double kWasteMin = 0.05;

std::size_t index_of(int number) { return static_cast<std::size_t>(number); }

/// The ways to place the slices of a packed GPU on one of the view, one after the other: as many as possible on
/// existing slices, no more of a demand than it has.
class OverlapSearch {
 public:
  using Quotas = std::vector<std::vector<std::vector<int>>>;

  OverlapSearch(const TransitionView& view, int gpu, const Quotas& quotas, const std::vector<int>& kinds, int tenant)
      : view_(view),
        gpu_(view.gpus[index_of(gpu)]),
        offer_(view.offers[index_of(gpu_.offer)]),
        quotas_(quotas),
        kinds_(kinds),
        tenant_(tenant),
        used_(gpu_.standing.size(), false) {}

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
    for (std::size_t i = 0; i < gpu_.standing.size(); ++i) {
      const StandingView& stood = view_.standing[index_of(gpu_.standing[i])];
      if (used_[i] || !may_keep(stood, kind)) continue;
      used_[i] = true;
      try_place(index, kept + 1, {stood.site, stood.demand, gpu_.standing[i]});
      used_[i] = false;
    }
    for (std::size_t p = 0; p < offer_.map.sites.size(); ++p) {
      if (offer_.map.sites[p].kind == kind) try_place(index, kept, {static_cast<int>(p), kNone, kNone});
    }
  }

  bool may_keep(const StandingView& stood, int kind) const {
    if (stood.best == 0 || offer_.map.sites[index_of(stood.site)].kind != kind) return false;
    if (tenant_ != kNone && view_.demands[index_of(stood.demand)].tenant != tenant_) return false;
    int quota = quotas_[index_of(stood.demand)][index_of(gpu_.offer)][index_of(kind)];
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].demand == stood.demand && kinds_[i] == kind) --quota;
    }
    return quota > 0;
  }

  void try_place(std::size_t index, int kept, const Held& held) {
    if (!offer_.fits(standing_, held.site)) return;
    standing_ |= SiteSet{1} << held.site;
    held_.push_back(held);
    place(index + 1, kept);
    held_.pop_back();
    standing_ &= ~(SiteSet{1} << held.site);
  }

  const TransitionView& view_;
  const GpuView& gpu_;
  const OfferView& offer_;
  const Quotas& quotas_;
  const std::vector<int>& kinds_;
  int tenant_;
  std::vector<bool> used_;
  SiteSet standing_ = 0;
  std::vector<Held> held_;
  std::vector<Held> best_;
  int best_kept_ = -1;
  int steps_ = 0;
};

int kept_count(const std::vector<Held>& gpu) {
  return static_cast<int>(std::ranges::count_if(gpu, [](const Held& held) { return held.standing != kNone; }));
}

}  // namespace

std::vector<std::vector<HeldAt>> by_demand(const TransitionView& view, const SlicesByGpu& plan) {
  std::vector<std::vector<HeldAt>> slices(view.demands.size());
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    for (const Held& held : plan[gpu]) slices[index_of(held.demand)].push_back({static_cast<int>(gpu), held});
  }
  return slices;
}

std::vector<SliceRates> rates_of(const TransitionView& view, const std::vector<HeldAt>& slices) {
  std::vector<SliceRates> rates;
  rates.reserve(slices.size());
  for (const auto& [gpu, held] : slices) {
    if (held.standing != kNone) {
      const StandingView& stood = view.standing[index_of(held.standing)];
      rates.push_back({stood.low, stood.best});
      continue;
    }
    const std::size_t offer = index_of(view.gpus[index_of(gpu)].offer);
    const int kind = view.offers[offer].map.sites[index_of(held.site)].kind;
    const Rate rate = view.demands[index_of(held.demand)].rates[offer][index_of(kind)];
    rates.push_back({rate, rate});
  }
  return rates;
}

SiteSet sites_of(const std::vector<Held>& gpu) {
  SiteSet sites = 0;
  for (const Held& held : gpu) sites |= SiteSet{1} << held.site;
  return sites;
}

bool is_complete(const TransitionView& view, const SlicesByGpu& plan) {
  std::int64_t price = 0;
  std::vector<std::int64_t> counts(view.offers.size(), 0);
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    if (plan[gpu].empty()) continue;
    const std::size_t offer = index_of(view.gpus[gpu].offer);
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

Starter::Starter(const TransitionView& view, const PackingProblem& problem, const Packing& fewest, GpuRoom& room)
    : view_(view), problem_(problem), fewest_(fewest), room_(room) {
  rank_gpus(false);
}

void Starter::rank_gpus(bool by_waste) {
  keepers_.clear();
  std::vector<int> counts(view_.gpus.size(), 0);
  for (const StandingView& stood : view_.standing) {
    if (stood.best > 0) ++counts[index_of(stood.gpu)];
  }
  for (std::size_t gpu = 0; gpu < view_.gpus.size(); ++gpu) {
    if (counts[gpu] > 0) keepers_.push_back(static_cast<int>(gpu));
  }
  sort_stably(
      keepers_,
      [&](int gpu) {
        const double count = counts[index_of(gpu)];
        return by_waste ? count / std::max(waste_of(gpu), kWasteMin) : count;
      },
      std::greater<>());
}

/// Compute slices of a GPU that its slices, retuned, use beyond what their rates would need elsewhere.
double Starter::waste_of(int gpu) const {
  const GpuView& own = view_.gpus[index_of(gpu)];
  double waste = view_.offers[index_of(own.offer)].weight;
  for (const int i : own.standing) {
    const StandingView& stood = view_.standing[index_of(i)];
    if (stood.best == 0) continue;
    const DemandView& demand = view_.demands[index_of(stood.demand)];
    double worth = 0;
    for (std::size_t k = 0; k < view_.offers.size(); ++k) {
      for (std::size_t kind = 0; kind < view_.offers[k].map.kinds.size(); ++kind) {
        worth = std::max(worth, static_cast<double>(demand.rates[k][kind]) / view_.offers[k].weights[kind]);
      }
    }
    waste -= static_cast<double>(stood.best) / worth;
  }
  return waste;
}

std::optional<SlicesByGpu> Starter::keep_gpus(std::size_t count, bool fills_room, const Packer& pack) {
  SlicesByGpu plan(view_.gpus.size());
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

/// Keeps each slice, GPU by GPU, unless one of the demand's would be surplus.
SlicesByGpu Starter::keep_most(std::size_t count) const {
  SlicesByGpu plan(view_.gpus.size());
  std::vector<Rate> sums(view_.demands.size(), 0);
  std::vector<Rate> least(view_.demands.size(), INT64_MAX);
  std::vector<std::int64_t> counts(view_.offers.size(), 0);
  std::int64_t price = 0;
  for (std::size_t rank = 0; rank < std::min(count, keepers_.size()); ++rank) {
    const std::size_t gpu = index_of(keepers_[rank]);
    const OfferView& offer = view_.offers[index_of(view_.gpus[gpu].offer)];
    std::int64_t& used = counts[index_of(view_.gpus[gpu].offer)];
    if (used >= offer.count_max || price + offer.price > view_.budget) continue;
    int tenant = kNone;
    for (const int i : view_.gpus[gpu].standing) {
      const StandingView& stood = view_.standing[index_of(i)];
      if (stood.best == 0) continue;
      if (view_.keeps_tenants_apart && tenant != kNone && tenant != stood.tenant) continue;
      const std::size_t d = index_of(stood.demand);
      const Rate smallest = std::min(least[d], stood.low);
      if (sums[d] + stood.low - smallest >= view_.demands[d].need) continue;
      sums[d] += stood.low;
      least[d] = smallest;
      tenant = stood.tenant;
      plan[gpu].push_back({stood.site, stood.demand, i});
    }
    if (plan[gpu].empty()) continue;
    ++used;
    price += offer.price;
  }
  return plan;
}

std::vector<Rate> Starter::shortfalls(const SlicesByGpu& plan) const {
  std::vector<Rate> shortfalls;
  const auto slices = by_demand(view_, plan);
  for (std::size_t d = 0; d < slices.size(); ++d) {
    Rate rest = view_.demands[d].need;
    for (const SliceRates& own : rates_of(view_, slices[d])) rest -= own.best;
    shortfalls.push_back(rest);
  }
  return shortfalls;
}

/// New slices in the free room of the GPUs in use, the largest shortage first.
void Starter::fill(SlicesByGpu& plan) {
  std::vector<Rate> rest = shortfalls(plan);
  std::vector<int> order(rest.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  sort_stably(order, [&](int d) { return rest[index_of(d)]; }, std::greater<>());
  for (const int demand : order) {
    Rate left = rest[index_of(demand)];
    while (left > 0 && fill_one(plan, demand, left)) left = shortfalls(plan)[index_of(demand)];
  }
}

/// The smallest slice that covers the shortage, otherwise the one that covers most; in the site that leaves the least
/// room over.
bool Starter::fill_one(SlicesByGpu& plan, int demand, Rate shortfall) {
  using Rank = std::tuple<bool, Rate, int, int, std::size_t, int>;
  std::optional<Rank> best;
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    if (plan[gpu].empty()) continue;
    const int tenant = view_.demands[index_of(plan[gpu].front().demand)].tenant;
    if (view_.keeps_tenants_apart && tenant != view_.demands[index_of(demand)].tenant) continue;
    const int model = view_.gpus[gpu].offer;
    const OfferView& offer = view_.offers[index_of(model)];
    const SiteSet standing = sites_of(plan[gpu]);
    const GpuRoom::Extra before = room_.extra(model, standing);
    if (before.weight == 0) continue;
    for (const int site : room_.useful(model)) {
      const std::size_t kind = index_of(offer.map.sites[index_of(site)].kind);
      const Rate rate = view_.demands[index_of(demand)].rates[index_of(model)][kind];
      if (rate == 0 || !offer.fits(standing, site)) continue;
      const GpuRoom::Extra after = room_.extra(model, standing | (SiteSet{1} << site));
      const bool is_short = rate < shortfall;
      const Rank rank(is_short, is_short ? -rate : 0, before.weight - after.weight, after.weight, gpu, site);
      if (!best || rank < *best) best = rank;
    }
  }
  if (!best) return false;
  plan[std::get<4>(*best)].push_back({std::get<5>(*best), demand, kNone});
  return true;
}

/// Packs the shortage for the remaining GPUs. Nothing if that exceeds the budget.
std::optional<Packing> Starter::pack_rest(const SlicesByGpu& plan, const Packer& pack) const {
  PackingProblem rest = problem_;
  rest.rules.headroom = Decimal(1);
  const std::vector<Rate> rates = shortfalls(plan);
  bool is_empty = true;
  for (std::size_t d = 0; d < rates.size(); ++d) {
    rest.demands[d].requests_per_second = Decimal(std::max<Rate>(rates[d], 0)) / view_.demands[d].scale;
    is_empty = is_empty && rates[d] <= 0;
  }
  if (is_empty) return Packing{};
  std::int64_t left = view_.budget;
  std::vector<std::int64_t> counts(view_.offers.size(), 0);
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    if (plan[gpu].empty()) continue;
    ++counts[index_of(view_.gpus[gpu].offer)];
    left -= view_.offers[index_of(view_.gpus[gpu].offer)].price;
  }
  if (left <= 0) return std::nullopt;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const OfferView& offer = view_.offers[k];
    const std::int64_t gpus = std::ranges::count(view_.gpus, static_cast<int>(k), &GpuView::offer);
    rest.offers[k].count_max = std::max<std::int64_t>(0, std::min(offer.count_max, gpus) - counts[k]);
  }
  auto packed = pack(rest);
  if (!packed) return std::nullopt;
  for (const std::uint32_t offer : packed->gpu_offers) left -= view_.offers[offer].price;
  return left >= 0 ? packed : std::nullopt;
}

Starter::PackedContent Starter::wanted_of(const Packing& packing) const {
  PackedContent wanted;
  wanted.gpu_tenants.assign(view_.gpus.size(), kNone);
  for (std::size_t d = 0; d < view_.demands.size(); ++d) {
    wanted.quotas.emplace_back();
    for (const OfferView& offer : view_.offers) wanted.quotas.back().emplace_back(offer.map.kinds.size(), 0);
  }
  std::vector<GpuPartition> partitions;
  partitions.reserve(packing.gpu_offers.size());
  for (const std::uint32_t offer : packing.gpu_offers) partitions.push_back({static_cast<int>(offer), kNone, {}});
  for (const PackedSlice& slice : packing.slices) {
    GpuPartition& partition = partitions[slice.slice.gpu.index];
    const OfferView& offer = view_.offers[index_of(partition.offer)];
    const int kind = offer.map.sites[index_of(offer.site_of({slice.slice.start, slice.slice.profile}))].kind;
    partition.kinds.push_back(kind);
    if (view_.keeps_tenants_apart) partition.tenant = view_.demands[slice.demand].tenant;
    ++wanted.quotas[slice.demand][index_of(partition.offer)][index_of(kind)];
  }
  for (GpuPartition& partition : partitions) {
    const std::vector<int>& lengths = view_.offers[index_of(partition.offer)].lengths;
    std::ranges::sort(partition.kinds, {}, [&](int kind) { return std::pair(-lengths[index_of(kind)], kind); });
    ++wanted.partitions[std::move(partition)];
  }
  return wanted;
}

std::vector<Held> Starter::overlap(const PackedContent& wanted, const GpuPartition& partition, int gpu) const {
  return OverlapSearch(view_, gpu, wanted.quotas, partition.kinds, partition.tenant).run();
}

/// Assigns partitions to free GPUs, the largest overlap first; then those without overlap; then demands to new slices.
void Starter::place(PackedContent wanted, SlicesByGpu& plan) const {
  place_best(wanted, plan);
  for (auto& [partition, count] : wanted.partitions) {
    for (std::size_t gpu = 0; count > 0 && gpu < plan.size(); ++gpu) {
      if (!plan[gpu].empty() || view_.gpus[gpu].offer != partition.offer) continue;
      plan[gpu] = overlap(wanted, partition, static_cast<int>(gpu));
      wanted.gpu_tenants[gpu] = partition.tenant;
      --count;
    }
  }
  share_out(wanted, plan);
}

/// An overlap only shrinks as demands are used up: one that has shrunk is queued again. O(partitions x GPUs x log)
/// overlaps and the repeated ones.
void Starter::place_best(PackedContent& wanted, SlicesByGpu& plan) const {
  std::set<std::tuple<int, int, int>> waiting;  // -overlap, GPU, number of the partition
  std::vector<const GpuPartition*> partitions;
  for (const auto& [partition, count] : wanted.partitions) {
    for (const int gpu : keepers_) {
      if (!plan[index_of(gpu)].empty() || view_.gpus[index_of(gpu)].offer != partition.offer) continue;
      const int kept = kept_count(overlap(wanted, partition, gpu));
      if (kept > 0) waiting.emplace(-kept, gpu, static_cast<int>(partitions.size()));
    }
    partitions.push_back(&partition);
  }
  while (!waiting.empty()) {
    const auto [rank, gpu, number] = *waiting.begin();
    waiting.erase(waiting.begin());
    const GpuPartition& partition = *partitions[index_of(number)];
    if (!plan[index_of(gpu)].empty() || wanted.partitions[partition] == 0) continue;
    std::vector<Held> held = overlap(wanted, partition, gpu);
    const int kept = kept_count(held);
    if (kept < -rank) {
      if (kept > 0) waiting.emplace(-kept, gpu, number);
      continue;
    }
    --wanted.partitions[partition];
    const OfferView& offer = view_.offers[index_of(partition.offer)];
    for (const Held& own : held) {
      const int kind = offer.map.sites[index_of(own.site)].kind;
      if (own.demand != kNone) --wanted.quotas[index_of(own.demand)][index_of(partition.offer)][index_of(kind)];
    }
    plan[index_of(gpu)] = std::move(held);
    wanted.gpu_tenants[index_of(gpu)] = partition.tenant;
  }
}

/// Assigns to each new slice a demand that still needs one.
void Starter::share_out(PackedContent& wanted, SlicesByGpu& plan) const {
  for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
    const std::size_t model = index_of(view_.gpus[gpu].offer);
    const int tenant = wanted.gpu_tenants[gpu];
    for (Held& held : plan[gpu]) {
      if (held.demand != kNone) continue;
      const std::size_t kind = index_of(view_.offers[model].map.sites[index_of(held.site)].kind);
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
void Starter::drop_surplus(SlicesByGpu& plan) const {
  auto slices = by_demand(view_, plan);
  for (std::size_t d = 0; d < slices.size(); ++d) {
    std::vector<HeldAt>& own = slices[d];
    while (!own.empty() && !tune(view_.demands[d].need, rates_of(view_, own))) {
      const std::optional<std::size_t> surplus = find_surplus(d, own);
      if (!surplus) break;
      std::erase(plan[index_of(own[*surplus].gpu)], own[*surplus].held);
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(*surplus));
    }
  }
}

}  // namespace berth::transition::detail
