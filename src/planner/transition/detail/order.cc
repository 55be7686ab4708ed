#include "planner/transition/detail/order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/core/ensure.h"
#include "base/core/sort_stably.h"

namespace berth::transition::detail {
namespace {

constexpr std::size_t kDeadlockTriesMax = 16;

std::size_t position(int number) { return static_cast<std::size_t>(number); }

/// An existing slice.
struct Live {
  int gpu = 0;
  int site = 0;
  int demand = kNone;
  int tenant = 0;
  Rate rate = 0;
  int standing = kNone;
  bool is_going = false;
  bool is_temporary = false;
  bool is_here = true;
};

/// A slice to be created.
struct NewSlice {
  int gpu = 0;
  int site = 0;
  int demand = 0;
  bool is_done = false;
};

struct Retune {
  std::size_t live = 0;
  Rate rate = 0;
  bool is_done = false;
};

/// Temporary slices that let one step be done.
struct Relief {
  std::vector<NewSlice> slices;
  std::vector<int> spare_offers;  ///< new spare GPUs
};

class Ordering {
 public:
  Ordering(const TransitionView& view, const SlicesByGpu& plan, const std::vector<Rate>& retuned) : view_(view) {
    for (const GpuView& gpu : view.gpus) gpu_offers_.push_back(gpu.offer);
    for (const std::vector<Held>& gpu : plan) is_released_.push_back(gpu.empty());
    standing_.assign(view.gpus.size(), 0);
    on_gpu_.resize(view.gpus.size());
    service_.assign(view.demands.size(), 0);
    add_standing(plan, retuned);
    add_wanted(plan);
    for (std::size_t d = 0; d < view.demands.size(); ++d) {
      floors_.push_back(std::min(service_[d], view.demands[d].need));
    }
  }

  Order run() {
    while (go_unwanted() || create_one() || retune_one(true) || clear_one() || retune_one(false) || release_one() ||
           break_deadlock()) {
    }
    return std::move(order_);
  }

 private:
  const OfferView& offer_at(int gpu) const { return view_.offers[position(gpu_offers_[position(gpu)])]; }
  Rate slack(int demand) const { return service_[position(demand)] - floors_[position(demand)]; }

  void add_standing(const SlicesByGpu& plan, const std::vector<Rate>& retuned) {
    std::vector<bool> is_kept(view_.standing.size(), false);
    for (const std::vector<Held>& gpu : plan) {
      for (const Held& held : gpu) {
        if (held.standing != kNone) is_kept[position(held.standing)] = true;
      }
    }
    for (std::size_t i = 0; i < view_.standing.size(); ++i) {
      const StandingView& stood = view_.standing[i];
      Live live = {.gpu = stood.gpu, .site = stood.site, .demand = stood.demand, .tenant = stood.tenant};
      live.rate = stood.in_force;
      live.standing = static_cast<int>(i);
      live.is_going = !is_kept[i];
      if (retuned[i] > 0) retunes_.push_back({lives_.size(), retuned[i]});
      arrive(live);
    }
  }

  void add_wanted(const SlicesByGpu& plan) {
    for (std::size_t gpu = 0; gpu < plan.size(); ++gpu) {
      for (const Held& held : plan[gpu]) {
        if (held.standing == kNone) wanted_.push_back({static_cast<int>(gpu), held.site, held.demand});
      }
    }
  }

  void arrive(const Live& live) {
    standing_[position(live.gpu)] |= SiteSet{1} << live.site;
    on_gpu_[position(live.gpu)].push_back(lives_.size());
    if (live.demand != kNone) service_[position(live.demand)] += live.rate;
    lives_.push_back(live);
  }

  void create(const NewSlice& wanted, bool is_temporary) {
    Live live = {.gpu = wanted.gpu, .site = wanted.site, .demand = wanted.demand};
    live.tenant = view_.demands[position(wanted.demand)].tenant;
    live.rate = rate_at(wanted.gpu, wanted.site, wanted.demand);
    live.is_going = live.is_temporary = is_temporary;
    arrive(live);
    order_.steps.push_back({StepKind::kCreate, live.gpu, live.site, live.demand, kNone, is_temporary});
  }

  void destroy(std::size_t index) {
    Live& live = lives_[index];
    live.is_here = false;
    standing_[position(live.gpu)] &= ~(SiteSet{1} << live.site);
    std::erase(on_gpu_[position(live.gpu)], index);
    if (live.demand != kNone) service_[position(live.demand)] -= live.rate;
    order_.steps.push_back({StepKind::kDestroy, live.gpu, live.site, live.demand, live.standing, live.is_temporary});
  }

  void retune(Retune& retune) {
    Live& live = lives_[retune.live];
    service_[position(live.demand)] += retune.rate - live.rate;
    live.rate = retune.rate;
    retune.is_done = true;
    order_.steps.push_back({StepKind::kRetune, live.gpu, live.site, live.demand, live.standing, false});
  }

  Rate rate_at(int gpu, int site, int demand) const {
    const std::size_t kind = position(offer_at(gpu).map.sites[position(site)].kind);
    return view_.demands[position(demand)].rates[position(gpu_offers_[position(gpu)])][kind];
  }

  /// Slices whose demands need nothing are destroyed at once.
  bool go_unwanted() {
    if (is_unwanted_gone_) return false;
    is_unwanted_gone_ = true;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const int demand = lives_[i].demand;
      if (demand == kNone || view_.demands[position(demand)].need == 0) destroy(i);
    }
    return true;
  }

  bool create_one() {
    for (NewSlice& wanted : wanted_) {
      if (wanted.is_done || !blockers_of(wanted).empty()) continue;
      wanted.is_done = true;
      create(wanted, false);
      return true;
    }
    return false;
  }

  /// The slices that block a slice; only slices to be destroyed do. Among slices of its kind that could exist next to
  /// it, only the excess ones.
  std::vector<std::size_t> blockers_of(const NewSlice& wanted) const {
    const OfferView& offer = offer_at(wanted.gpu);
    const std::size_t kind = position(offer.map.sites[position(wanted.site)].kind);
    const int tenant = view_.demands[position(wanted.demand)].tenant;
    std::vector<std::size_t> blockers;
    std::vector<std::size_t> alike;
    int count = 0;  // of its kind that are left
    for (const std::size_t i : on_gpu_[position(wanted.gpu)]) {
      const Live& live = lives_[i];
      const SiteSet site = SiteSet{1} << live.site;
      const bool clashes = (offer.map.sites[position(wanted.site)].clashes & site) != 0;
      const bool is_alien = view_.keeps_tenants_apart && live.tenant != tenant;
      if (clashes || is_alien) {
        blockers.push_back(i);
      } else if ((offer.map.kinds[kind].sites & site) != 0) {
        ++count;
        if (live.is_going) alike.push_back(i);
      }
    }
    for (const std::size_t i : alike) {
      if (count-- >= offer.map.kinds[kind].instances_max) blockers.push_back(i);
    }
    return blockers;
  }

  bool retune_one(bool only_gains) {
    for (Retune& next : retunes_) {
      if (next.is_done) continue;
      const Live& live = lives_[next.live];
      if (slack(live.demand) < live.rate || (only_gains && next.rate < live.rate)) continue;
      retune(next);
      return true;
    }
    return false;
  }

  /// How much each demand is short of without all these slices.
  std::map<int, Rate> shortfalls_without(const std::vector<std::size_t>& lives) const {
    std::map<int, Rate> shortfalls;
    for (const std::size_t i : lives) shortfalls[lives_[i].demand] += lives_[i].rate;
    for (auto& [demand, rate] : shortfalls) rate -= slack(demand);
    std::erase_if(shortfalls, [](const auto& item) { return item.second <= 0; });
    return shortfalls;
  }

  /// Clears the site of the new slice with the fewest blocking slices, if their demands do not need them.
  bool clear_one() {
    std::vector<std::size_t> fewest;
    for (const NewSlice& wanted : wanted_) {
      if (wanted.is_done) continue;
      std::vector<std::size_t> blockers = blockers_of(wanted);
      if (!fewest.empty() && blockers.size() >= fewest.size()) continue;
      if (shortfalls_without(blockers).empty()) fewest = std::move(blockers);
    }
    for (const std::size_t i : fewest) destroy(i);
    return !fewest.empty();
  }

  /// The rate that a demand must be able to lose in later steps.
  std::vector<Rate> reserved() const {
    std::vector<Rate> reserved(view_.demands.size(), 0);
    std::vector<bool> is_counted(lives_.size(), false);
    for (const NewSlice& wanted : wanted_) {
      if (wanted.is_done) continue;
      for (const std::size_t i : blockers_of(wanted)) {
        if (!is_counted[i]) reserved[position(lives_[i].demand)] += lives_[i].rate;
        is_counted[i] = true;
      }
    }
    for (const Retune& next : retunes_) {
      const Live& live = lives_[next.live];
      if (!next.is_done) reserved[position(live.demand)] += live.rate;
    }
    return reserved;
  }

  bool is_pending() const {
    return std::ranges::any_of(wanted_, [](const NewSlice& wanted) { return !wanted.is_done; }) ||
           std::ranges::any_of(retunes_, [](const Retune& next) { return !next.is_done; });
  }

  /// One slice to be destroyed that no later step needs: temporary ones and those of GPUs that become empty at once,
  /// the emptiest GPU first; others at the end.
  bool release_one() {
    const bool is_at_end = !is_pending();
    const std::vector<Rate> kept_back = reserved();
    using Rank = std::tuple<bool, std::size_t, std::size_t>;
    std::optional<Rank> best;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      const Live& live = lives_[i];
      if (!live.is_here || !live.is_going) continue;
      const bool is_early = live.is_temporary || is_released_[position(live.gpu)];
      if (!is_early && !is_at_end) continue;
      if (slack(live.demand) - live.rate < kept_back[position(live.demand)]) continue;
      const Rank rank(!is_early, on_gpu_[position(live.gpu)].size(), i);
      if (!best || rank < *best) best = rank;
    }
    if (best) destroy(std::get<2>(*best));
    return best.has_value();
  }

  /// Does one step that needs temporary slices: of those with the smallest shortage, the one that needs the fewest
  /// spare GPUs, then slices.
  bool break_deadlock() {
    struct Try {
      Rate shortfall = 0;
      std::size_t index = 0;
      bool is_retune = false;
    };
    std::vector<Try> tries;
    const auto total = [](const std::map<int, Rate>& shortfalls) {
      Rate sum = 0;
      for (const auto& [demand, rate] : shortfalls) sum += rate;
      return sum;
    };
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (!wanted_[i].is_done) tries.push_back({total(shortfalls_without(blockers_of(wanted_[i]))), i, false});
    }
    for (std::size_t i = 0; i < retunes_.size(); ++i) {
      if (!retunes_[i].is_done) tries.push_back({total(shortfalls_for(retunes_[i])), i, true});
    }
    if (tries.empty()) return false;
    awaited_ = awaited_sites();
    sort_stably(tries, &Try::shortfall);
    if (tries.size() > kDeadlockTriesMax) tries.resize(kDeadlockTriesMax);
    std::optional<Relief> best;
    Try chosen;
    for (const Try& next : tries) {
      Relief relief = next.is_retune
                          ? relief_for(shortfalls_for(retunes_[next.index]), nullptr)
                          : relief_for(shortfalls_without(blockers_of(wanted_[next.index])), &wanted_[next.index]);
      const auto cost = [](const Relief& r) { return std::pair(r.spare_offers.size(), r.slices.size()); };
      if (best && cost(*best) <= cost(relief)) continue;
      best = std::move(relief);
      chosen = next;
    }
    apply(*best);
    if (chosen.is_retune) {
      retune(retunes_[chosen.index]);
    } else {
      for (const std::size_t i : blockers_of(wanted_[chosen.index])) destroy(i);
      wanted_[chosen.index].is_done = true;
      create(wanted_[chosen.index], false);
    }
    return true;
  }

  std::map<int, Rate> shortfalls_for(const Retune& next) const { return shortfalls_without({next.live}); }

  /// Temporary slices for the shortage, none of them blocking the slice to be created.
  Relief relief_for(const std::map<int, Rate>& shortfalls, const NewSlice* coming) const {
    Relief relief;
    std::vector<SiteSet> standing = standing_;
    std::vector<int> offers = gpu_offers_;
    std::map<int, int> tenants;  // of GPUs that get a temporary slice
    if (coming != nullptr) tenants[coming->gpu] = view_.demands[position(coming->demand)].tenant;
    for (const auto& [demand, rate] : shortfalls) {
      for (Rate left = rate; left > 0;) {
        auto spot = find_spot(demand, left, coming, standing, tenants, offers);
        if (!spot) {
          const int offer = spare_offer(demand);
          relief.spare_offers.push_back(offer);
          offers.push_back(offer);
          standing.push_back(0);
          continue;
        }
        left -= rate_of(offers[position(spot->gpu)], spot->site, demand);
        standing[position(spot->gpu)] |= SiteSet{1} << spot->site;
        tenants[spot->gpu] = view_.demands[position(demand)].tenant;
        relief.slices.push_back(*spot);
      }
    }
    return relief;
  }

  Rate rate_of(int offer, int site, int demand) const {
    const std::size_t kind = position(view_.offers[position(offer)].map.sites[position(site)].kind);
    return view_.demands[position(demand)].rates[position(offer)][kind];
  }

  /// The smallest free site that covers the shortage, otherwise the one that covers most: GPUs that stay first.
  std::optional<NewSlice> find_spot(int demand, Rate shortfall, const NewSlice* coming,
                                    const std::vector<SiteSet>& standing, const std::map<int, int>& tenants,
                                    const std::vector<int>& offers) const {
    using Rank = std::tuple<bool, bool, Rate, bool, int, std::size_t, std::size_t>;
    std::optional<Rank> best;
    for (std::size_t gpu = 0; gpu < standing.size(); ++gpu) {
      const bool is_new_gpu = gpu >= view_.gpus.size();
      if (!is_new_gpu && is_released_[gpu] && !is_in_use(gpu)) continue;
      if (!may_stand(gpu, demand, tenants)) continue;
      const OfferView& offer = view_.offers[position(offers[gpu])];
      const bool is_leaving = is_new_gpu || is_released_[gpu];
      for (std::size_t site = 0; site < offer.map.sites.size(); ++site) {
        const Rate rate = rate_of(offers[gpu], static_cast<int>(site), demand);
        if (rate == 0 || !offer.fits(standing[gpu], static_cast<int>(site))) continue;
        const NewSlice spot = {static_cast<int>(gpu), static_cast<int>(site), demand};
        if (coming != nullptr && is_in_way(spot, *coming, standing[gpu])) continue;
        const bool is_short = rate < shortfall;
        const int weight = offer.weights[position(offer.map.sites[site].kind)];
        const bool is_awaited = !is_new_gpu && (awaited_[gpu] >> site & 1U) != 0;
        const Rank rank(is_short, is_leaving, is_short ? -rate : 0, is_awaited, weight, gpu, site);
        if (!best || rank < *best) best = rank;
      }
    }
    if (!best) return std::nullopt;
    return NewSlice{static_cast<int>(std::get<5>(*best)), static_cast<int>(std::get<6>(*best)), demand};
  }

  /// A GPU that is released still exists while it has slices; one that was never used does not.
  bool is_in_use(std::size_t gpu) const { return standing_[gpu] != 0; }

  bool may_stand(std::size_t gpu, int demand, const std::map<int, int>& tenants) const {
    if (!view_.keeps_tenants_apart) return true;
    const int tenant = view_.demands[position(demand)].tenant;
    const auto taken = tenants.find(static_cast<int>(gpu));
    if (taken != tenants.end() && taken->second != tenant) return false;
    if (gpu >= on_gpu_.size()) return true;
    const auto is_alien = [&](std::size_t i) { return lives_[i].tenant != tenant; };
    return std::ranges::none_of(on_gpu_[gpu], is_alien);
  }

  /// Whether a slice, with the existing slices that are not destroyed for it, would block another one.
  bool is_in_way(const NewSlice& spot, const NewSlice& coming, SiteSet standing) const {
    if (spot.gpu != coming.gpu) return false;
    SiteSet after = standing | (SiteSet{1} << spot.site);
    for (const std::size_t i : blockers_of(coming)) after &= ~(SiteSet{1} << lives_[i].site);
    return !offer_at(coming.gpu).fits(after, coming.site);
  }

  /// By GPU: the sites that would block slices to be created.
  std::vector<SiteSet> awaited_sites() const {
    std::vector<SiteSet> awaited(standing_.size(), 0);
    for (const NewSlice& wanted : wanted_) {
      if (!wanted.is_done)
        awaited[position(wanted.gpu)] |= offer_at(wanted.gpu).map.sites[position(wanted.site)].clashes;
    }
    return awaited;
  }

  /// The cheapest available GPU model on which a demand can run.
  int spare_offer(int demand) const {
    std::optional<int> best;
    for (std::size_t k = 0; k < view_.offers.size(); ++k) {
      const std::vector<Rate>& rates = view_.demands[position(demand)].rates[k];
      if (view_.offers[k].count_max == 0 || std::ranges::max(rates) == 0) continue;
      if (!best || view_.offers[k].price < view_.offers[position(*best)].price) best = static_cast<int>(k);
    }
    ENSURE(best.has_value());
    return *best;
  }

  void apply(const Relief& relief) {
    for (const int offer : relief.spare_offers) {
      order_.spare_offers.push_back(offer);
      gpu_offers_.push_back(offer);
      is_released_.push_back(true);
      standing_.push_back(0);
      on_gpu_.emplace_back();
    }
    for (const NewSlice& slice : relief.slices) create(slice, true);
  }

  const TransitionView& view_;
  std::vector<int> gpu_offers_;
  std::vector<bool> is_released_;
  std::vector<SiteSet> standing_;
  std::vector<std::vector<std::size_t>> on_gpu_;
  std::vector<Live> lives_;
  std::vector<NewSlice> wanted_;
  std::vector<Retune> retunes_;
  std::vector<Rate> service_;
  std::vector<Rate> floors_;
  std::vector<SiteSet> awaited_;  ///< while a deadlock is resolved
  bool is_unwanted_gone_ = false;
  Order order_;
};

}  // namespace

Order order_of(const TransitionView& view, const SlicesByGpu& plan, const std::vector<Rate>& retuned) {
  return Ordering(view, plan, retuned).run();
}

}  // namespace berth::transition::detail
