#include "planner/transition/detail/search.h"

#include "base/core/sort_stably.h"

#include <algorithm>
#include <numeric>

namespace berth::transition::detail {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

SliceRates rates_of(const TransitionView& view, int gpu, const Held& held) {
  if (held.standing != kNone) {
    const StandingView& stood = view.standing[at(held.standing)];
    return {stood.low, stood.best};
  }
  const int offer = view.gpus[at(gpu)].offer;
  const int kind = view.offers[at(offer)].map.sites[at(held.site)].kind;
  const Rate rate = view.demands[at(held.demand)].rates[at(offer)][at(kind)];
  return {rate, rate};
}

}  // namespace

GpuRoom::GpuRoom(const TransitionView& view) : view_(view), known_(view.offers.size()) {
  for (std::size_t k = 0; k < view.offers.size(); ++k) {
    const OfferView& offer = view.offers[k];
    std::vector<int> sites;
    for (std::size_t i = 0; i < offer.map.sites.size(); ++i) {
      const std::size_t kind = at(offer.map.sites[i].kind);
      const auto runs = [&](const DemandView& demand) { return demand.rates[k][kind] > 0; };
      if (std::ranges::any_of(view.demands, runs)) sites.push_back(static_cast<int>(i));
    }
    // Small kinds first: a search that fills a rest takes the smallest that suffices.
    sort_stably(sites, [&](int site) { return offer.weights[at(offer.map.sites[at(site)].kind)]; });
    useful_.push_back(std::move(sites));
  }
}

GpuRoom::Extra GpuRoom::extra(int offer, SiteSet standing) {
  const auto found = known_[at(offer)].find(standing);
  if (found != known_[at(offer)].end()) return found->second;
  const OfferView& model = view_.offers[at(offer)];
  Extra best;
  for (const int site : useful_[at(offer)]) {
    if (!model.fits(standing, site)) continue;
    const Extra rest = extra(offer, standing | (SiteSet{1} << site));
    const std::size_t kind = at(model.map.sites[at(site)].kind);
    best.weight = std::max(best.weight, rest.weight + model.weights[kind]);
    best.length = std::max(best.length, rest.length + model.lengths[kind]);
  }
  known_[at(offer)].emplace(standing, best);
  return best;
}

GpuSearch::GpuSearch(const TransitionView& view, GpuRoom& room, SlicesByGpu plan, std::vector<int> free)
    : view_(view),
      room_(room),
      plan_(std::move(plan)),
      free_(std::move(free)),
      standing_(view.gpus.size(), 0),
      is_blank_(view.gpus.size(), true),
      used_counts_(view.offers.size(), 0) {
  clear_free_gpus();
  add_open_demands();
  order_open_demands();
}

/// Removes the free GPUs' slices and counts the rest.
void GpuSearch::clear_free_gpus() {
  std::vector<bool> is_free(view_.gpus.size(), false);
  for (const int gpu : free_) is_free[at(gpu)] = true;
  open_.resize(view_.demands.size());
  std::vector<bool> is_open(view_.demands.size(), false);
  for (std::size_t d = 0; d < open_.size(); ++d) open_[d].demand = static_cast<int>(d);
  for (std::size_t gpu = 0; gpu < plan_.size(); ++gpu) {
    for (const Held& held : plan_[gpu]) {
      if (is_free[gpu]) {
        is_open[at(held.demand)] = true;
      } else {
        open_[at(held.demand)].slices.push_back(rates_of(view_, static_cast<int>(gpu), held));
        standing_[gpu] |= SiteSet{1} << held.site;
      }
    }
    if (is_free[gpu]) plan_[gpu].clear();
    if (plan_[gpu].empty()) continue;
    ++used_counts_[at(view_.gpus[gpu].offer)];
    used_price_ += view_.offers[at(view_.gpus[gpu].offer)].price;
  }
  fixed_changes_ = changes_of(view_, plan_);
  const auto is_settled = [&](const OpenDemand& open) {
    const DemandView& demand = view_.demands[at(open.demand)];
    return demand.need == 0 || (!is_open[at(open.demand)] && tune(demand.need, open.slices));
  };
  std::erase_if(open_, is_settled);
}

/// Adds the demands with their needs from the free GPUs.
void GpuSearch::add_open_demands() {
  std::vector<int> open_of(view_.demands.size(), kNone);
  for (std::size_t i = 0; i < open_.size(); ++i) open_of[at(open_[i].demand)] = static_cast<int>(i);
  std::vector<bool> is_offered(view_.offers.size(), false);
  for (const int gpu : free_) {
    is_offered[at(view_.gpus[at(gpu)].offer)] = true;
    for (const int i : view_.gpus[at(gpu)].standing) {
      const StandingView& stood = view_.standing[at(i)];
      if (stood.best == 0 || open_of[at(stood.demand)] == kNone) continue;
      open_[at(open_of[at(stood.demand)])].standing.push_back(i);
      is_blank_[at(gpu)] = false;
      --fixed_changes_;  // counted again if it is dropped
    }
  }
  for (OpenDemand& open : open_) measure(open, is_offered);
}

void GpuSearch::measure(OpenDemand& open, const std::vector<bool>& is_offered) const {
  const DemandView& demand = view_.demands[at(open.demand)];
  SizeQuestion question = {open.demand, open.standing, is_offered, {demand.need, 0, open.slices, {}}};
  for (std::size_t k = 0; k < view_.offers.size(); ++k) {
    if (!is_offered[k]) continue;
    question.cover.rate_max = std::max(question.cover.rate_max, std::ranges::max(demand.rates[k]));
  }
  for (const int i : open.standing) {
    question.cover.standing.push_back({view_.standing[at(i)].low, view_.standing[at(i)].best});
  }
  open.weight = size_curve(view_, question, kComputeSlices);
  open.length = size_curve(view_, question, kUnits);
  open.changes = fewest_changes(question.cover);
}

/// Demands that need no change come first, so that the remaining room is known for the others; then the largest.
void GpuSearch::order_open_demands() {
  sort_stably(open_, [](const OpenDemand& open) { return std::pair(open.changes != 0, -open.weight.back()); });
  later_changes_.assign(open_.size() + 1, 0);
  later_weight_.assign(open_.size() + 1, Curve{0});
  later_length_ = later_weight_;
  for (std::size_t i = open_.size(); i-- > 0;) {
    later_changes_[i] = later_changes_[i + 1] + std::min<std::int64_t>(open_[i].changes, INT32_MAX);
    later_weight_[i] = joined(later_weight_[i + 1], open_[i].weight);
    later_length_[i] = joined(later_length_[i + 1], open_[i].length);
  }
  sort_stably(free_, [&](int gpu) { return static_cast<bool>(is_blank_[at(gpu)]); });
}

std::optional<SlicesByGpu> GpuSearch::run(std::int64_t changes_max, std::int64_t& nodes_left) {
  changes_max_ = changes_max;
  changes_ = fixed_changes_;
  nodes_left_ = &nodes_left;
  if (changes_ + later_changes_.front() > changes_max_ || !serve(0)) return std::nullopt;
  SlicesByGpu found = plan_;
  for (const int gpu : free_) {
    while (!plan_[at(gpu)].empty()) release(gpu);
  }
  for (std::vector<Held>& held : found) std::ranges::sort(held, {}, &Held::site);
  return found;
}

bool GpuSearch::is_spent() {
  --*nodes_left_;
  return *nodes_left_ <= 0;
}

/// Whether the least that the later demands need, with the remaining changes, is available.
bool GpuSearch::has_room(std::size_t rank) {
  std::int64_t weight = 0;
  std::int64_t length = 0;
  *nodes_left_ -= static_cast<std::int64_t>(free_.size());
  for (const int gpu : free_) {
    if (plan_[at(gpu)].empty()) continue;
    const GpuRoom::Extra extra = room_.extra(view_.gpus[at(gpu)].offer, standing_[at(gpu)]);
    weight += extra.weight;
    length += extra.length;
  }
  const std::int64_t left = view_.budget - used_price_;
  const auto more_weight = capacity_of(view_, kComputeSlices, left);
  const auto more_length = capacity_of(view_, kUnits, left);
  if (!more_weight || !more_length) return true;
  const std::int64_t changes = changes_max_ - changes_;
  return weight + *more_weight >= size_at(later_weight_[rank], changes) &&
         length + *more_length >= size_at(later_length_[rank], changes);
}

bool GpuSearch::serve(std::size_t rank) {
  if (rank == open_.size()) return true;
  return has_room(rank) && keep(rank, 0);
}

bool GpuSearch::keep(std::size_t rank, std::size_t index) {
  if (is_spent()) return false;
  OpenDemand& own = open_[rank];
  if (index == own.standing.size()) return create(rank, 0, 0);
  const StandingView& stood = view_.standing[at(own.standing[index])];
  const OfferView& offer = view_.offers[at(view_.gpus[at(stood.gpu)].offer)];
  if (may_hold(stood.gpu, own.demand) && offer.fits(standing_[at(stood.gpu)], stood.site)) {
    own.slices.push_back({stood.low, stood.best});
    hold(stood.gpu, {stood.site, own.demand, own.standing[index]});
    if (keep(rank, index + 1)) return true;
    release(stood.gpu);
    own.slices.pop_back();
  }
  if (changes_ + 1 + later_changes_[rank + 1] > changes_max_) return false;
  ++changes_;
  const bool is_found = keep(rank, index + 1);
  if (!is_found) --changes_;
  return is_found;
}

bool GpuSearch::create(std::size_t rank, std::size_t gpu, std::size_t site) {
  if (is_spent()) return false;
  const OpenDemand& own = open_[rank];
  const DemandView& demand = view_.demands[at(own.demand)];
  Rate low = 0;
  Rate best = 0;
  for (const SliceRates& slice : own.slices) {
    low += slice.low;
    best += slice.best;
  }
  if (best >= demand.need && tune(demand.need, own.slices)) return serve(rank + 1);
  if (low >= demand.need) return false;
  const std::int64_t left = changes_max_ - changes_ - later_changes_[rank + 1];
  if (left <= 0 || (demand.need - best + demand.rate_max - 1) / std::max<Rate>(demand.rate_max, 1) > left) return false;
  std::vector<bool> is_blank_tried(view_.offers.size(), false);
  for (; gpu < free_.size(); ++gpu, site = 0) {
    const int id = free_[gpu];
    --*nodes_left_;
    if (!may_hold(id, own.demand)) continue;
    if (is_blank_[at(id)] && plan_[at(id)].empty()) {
      const std::size_t offer = at(view_.gpus[at(id)].offer);
      if (is_blank_tried[offer]) continue;
      is_blank_tried[offer] = true;
    }
    if (create_at(rank, gpu, site)) return true;
    if (*nodes_left_ <= 0) return false;
  }
  return false;
}

/// Tries the sites of one GPU, from the given one on.
bool GpuSearch::create_at(std::size_t rank, std::size_t gpu, std::size_t first) {
  OpenDemand& own = open_[rank];
  const int id = free_[gpu];
  const std::size_t model = at(view_.gpus[at(id)].offer);
  const OfferView& offer = view_.offers[model];
  const std::vector<int>& sites = room_.useful(static_cast<int>(model));
  for (std::size_t i = first; i < sites.size(); ++i) {
    const Rate rate = view_.demands[at(own.demand)].rates[model][at(offer.map.sites[at(sites[i])].kind)];
    if (rate == 0 || !offer.fits(standing_[at(id)], sites[i])) continue;
    own.slices.push_back({rate, rate});
    hold(id, {sites[i], own.demand, kNone});
    ++changes_;
    if (create(rank, gpu, i + 1)) return true;
    --changes_;
    release(id);
    own.slices.pop_back();
  }
  return false;
}

/// Whether a demand's slice may be placed on a GPU, by the rules for tenants and the plan's budget.
bool GpuSearch::may_hold(int gpu, int demand) const {
  const std::vector<Held>& held = plan_[at(gpu)];
  if (held.empty()) {
    const std::size_t offer = at(view_.gpus[at(gpu)].offer);
    return used_counts_[offer] < view_.offers[offer].count_max &&
           used_price_ + view_.offers[offer].price <= view_.budget;
  }
  return !view_.keeps_tenants_apart ||
         view_.demands[at(held.front().demand)].tenant == view_.demands[at(demand)].tenant;
}

void GpuSearch::hold(int gpu, const Held& held) {
  const std::size_t offer = at(view_.gpus[at(gpu)].offer);
  if (plan_[at(gpu)].empty()) {
    ++used_counts_[offer];
    used_price_ += view_.offers[offer].price;
  }
  plan_[at(gpu)].push_back(held);
  standing_[at(gpu)] |= SiteSet{1} << held.site;
}

/// Removes the last slice.
void GpuSearch::release(int gpu) {
  const std::size_t offer = at(view_.gpus[at(gpu)].offer);
  standing_[at(gpu)] &= ~(SiteSet{1} << plan_[at(gpu)].back().site);
  plan_[at(gpu)].pop_back();
  if (!plan_[at(gpu)].empty()) return;
  --used_counts_[offer];
  used_price_ -= view_.offers[offer].price;
}

}  // namespace berth::transition::detail
