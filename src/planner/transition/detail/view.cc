#include "planner/transition/detail/view.h"

#include <algorithm>
#include <map>

#include "base/core/ensure.h"
#include "domain/profile/operating_point.h"
#include "domain/values/gpu_name.h"
#include "domain/values/scenario.h"
#include "planner/packing/pack.h"

namespace berth::transition::detail {
namespace {

constexpr std::int64_t kScaledRateMax = std::int64_t{1} << 48;
constexpr int kDigitsMax = 30;

OfferView offer_view(const GpuOffer& asked) {
  OfferView offer;
  offer.model = &asked.model;
  offer.map = mig::make_site_map(asked.model, mig::with_full(asked.model, mig::all_rules(asked.model)));
  for (const mig::SiteKind& kind : offer.map.kinds) {
    offer.weights.push_back(std::max(1, kind.compute_slices));
    offer.lengths.push_back(std::max(1, kind.length));
  }
  offer.weight = offer.weights.back();
  offer.length = offer.lengths.back();
  offer.price = asked.micro_usd_per_hour.value_or(1);
  offer.count_max = asked.count_max.value_or(INT64_MAX);
  return offer;
}

/// value x factor as a whole number, or nothing if it is not whole or too large.
std::optional<Rate> scaled(const Decimal& value, const Decimal& factor) {
  const Decimal product = value * factor;
  if (!product.is_integer() || !product.fits_int64()) return std::nullopt;
  const std::int64_t whole = product.floor();
  return whole <= kScaledRateMax ? std::optional(whole) : std::nullopt;
}

struct WholeRates {
  std::vector<Rate> rates;
  Decimal scale;
};

/// Turns the rates of one demand, each limited to the need, into whole numbers; the need is the last one.
Result<WholeRates> whole_rates(std::vector<Decimal> rates, const Demand& demand, const Decimal& need) {
  rates.push_back(need);
  Decimal factor(1);
  for (int digits = 0; digits <= kDigitsMax; ++digits) {
    std::vector<Rate> whole;
    whole.reserve(rates.size());
    for (const Decimal& rate : rates) {
      const auto value = scaled(std::min(rate, need), factor);
      if (!value) break;
      whole.push_back(*value);
    }
    if (whole.size() == rates.size()) return WholeRates{std::move(whole), factor};
    factor = factor * Decimal(10);
  }
  return invalid("model " + demand.model + ": wanted rates that are exact with fewer digits, found a need of " +
                 need.to_string() + " requests per second");
}

const PerformancePoint* find_point(const PackingProblem& problem, const GpuModel& model, const Demand& demand,
                                   const PackedSlice& slice) {
  const PerformanceTable* table = problem.table_of(demand.model);
  if (table == nullptr) return nullptr;
  const std::string profile = profile_name(model, slice.slice.profile);
  const auto is_it = [&](const PerformancePoint& point) {
    return point.gpu == model.name && point.profile == profile && point.batch == slice.batch &&
           point.processes == slice.processes;
  };
  const auto found = std::ranges::find_if(table->points, is_it);
  return found == table->points.end() ? nullptr : &*found;
}

/// The rate of a slice at its own point under the new rules, or nothing.
std::optional<Decimal> usable_rate(const PackingProblem& problem, const GpuModel& model, const Demand& demand,
                                   const PackedSlice& slice) {
  const PerformancePoint* point = find_point(problem, model, demand, slice);
  if (point == nullptr || !profile::is_usable(*point, packing::usable_rule(problem, demand))) return std::nullopt;
  return point->requests_per_second;
}

std::optional<std::string> find_standing_fault(const PackingProblem& problem, const StandingPlan& standing) {
  const Packing& packing = standing.packing;
  std::vector<mig::State> states(packing.gpu_offers.size());
  for (const std::uint32_t offer : packing.gpu_offers) {
    if (offer >= problem.offers.size()) return "the standing plan has a GPU of an unknown model";
  }
  for (const PackedSlice& slice : packing.slices) {
    if (slice.slice.gpu.index >= states.size()) return "the standing plan has a slice on a GPU that it does not have";
    if (slice.demand >= standing.demands.size()) return "the standing plan has a slice of an unknown model";
    states[slice.slice.gpu.index].push_back({slice.slice.start, slice.slice.profile});
  }
  for (std::uint32_t gpu = 0; gpu < states.size(); ++gpu) {
    const auto clash = mig::find_clash(problem.offers[packing.gpu_offers[gpu]].model, states[gpu]);
    if (clash) return "the standing plan, " + gpu_name({gpu}) + ": " + *clash;
  }
  return std::nullopt;
}

/// Fills a view, demand by demand.
class Builder {
 public:
  Builder(const PackingProblem& problem, const StandingPlan& standing) : problem_(problem), standing_(standing) {}

  Result<TransitionView> run(const packing::PackResult& fewest) {
    for (const GpuOffer& offer : problem_.offers) view_.offers.push_back(offer_view(offer));
    view_.keeps_tenants_apart = problem_.rules.keeps_tenants_apart;
    add_standing();
    for (std::size_t d = 0; d < problem_.demands.size(); ++d) {
      if (const auto added = add_demand(d); !added) return pass_on(added.error());
    }
    add_gpus(fewest);
    return view_;
  }

 private:
  int tenant_of(const std::string& tenant) {
    return tenants_.try_emplace(tenant, static_cast<int>(tenants_.size())).first->second;
  }

  void add_standing() {
    const std::vector<Demand>& demands = problem_.demands;
    for (const PackedSlice& slice : standing_.packing.slices) {
      const Demand& old = standing_.demands[slice.demand];
      const auto is_same = [&](const Demand& demand) {
        return demand.model == old.model && demand.tenant == old.tenant;
      };
      const auto found = std::ranges::find_if(demands, is_same);
      StandingView stood;
      stood.gpu = static_cast<int>(slice.slice.gpu.index);
      stood.site = offer_at(slice).site_of({slice.slice.start, slice.slice.profile});
      stood.demand = found == demands.end() ? kNone : static_cast<int>(found - demands.begin());
      stood.tenant = tenant_of(old.tenant);
      view_.standing.push_back(stood);
    }
  }

  const OfferView& offer_at(const PackedSlice& slice) const {
    return view_.offers[standing_.packing.gpu_offers[slice.slice.gpu.index]];
  }

  /// The rates of a demand: at its best points by offer and kind, then two of each existing slice.
  Result<void> add_demand(std::size_t index) {
    const Demand& asked = problem_.demands[index];
    const Decimal need = asked.requests_per_second * problem_.rules.headroom;
    std::vector<Decimal> rates = best_rates(asked);
    for (std::size_t i = 0; i < view_.standing.size(); ++i) {
      if (view_.standing[i].demand != static_cast<int>(index)) continue;
      const PackedSlice& slice = standing_.packing.slices[i];
      const GpuModel& model = *offer_at(slice).model;
      rates.push_back(rate_in_force(problem_, model, asked, slice));
      rates.push_back(usable_rate(problem_, model, asked, slice).value_or(Decimal(0)));
    }
    const auto whole = whole_rates(std::move(rates), asked, need);
    if (!whole) return pass_on(whole.error());
    take_rates(static_cast<int>(index), whole->rates);
    view_.demands.back().scale = whole->scale;
    return {};
  }

  std::vector<Decimal> best_rates(const Demand& asked) const {
    std::vector<Decimal> rates;
    for (const OfferView& offer : view_.offers) {
      for (const mig::SiteKind& kind : offer.map.kinds) {
        const auto point = packing::best_point(problem_, asked, *offer.model, kind.profile);
        rates.push_back(point ? point->requests_per_second : Decimal(0));
      }
    }
    return rates;
  }

  void take_rates(int index, const std::vector<Rate>& whole) {
    DemandView demand;
    demand.need = whole.back();
    demand.tenant = tenant_of(problem_.demands[static_cast<std::size_t>(index)].tenant);
    auto next = whole.begin();
    for (const OfferView& offer : view_.offers) {
      const auto end = next + static_cast<std::ptrdiff_t>(offer.map.kinds.size());
      demand.rates.emplace_back(next, end);
      if (offer.count_max > 0) demand.rate_max = std::max(demand.rate_max, *std::max_element(next, end));
      next = end;
    }
    for (std::size_t i = 0; i < view_.standing.size(); ++i) {
      StandingView& stood = view_.standing[i];
      if (stood.demand != index) continue;
      const auto offer = standing_.packing.gpu_offers[static_cast<std::size_t>(stood.gpu)];
      const auto kind =
          static_cast<std::size_t>(view_.offers[offer].map.sites[static_cast<std::size_t>(stood.site)].kind);
      stood.in_force = *next++;
      stood.low = *next++;
      stood.best = view_.offers[offer].count_max > 0 ? demand.rates[offer][kind] : 0;
      stood.must_retune = stood.low == 0;
      if (stood.must_retune) stood.low = stood.best;
      if (stood.best > 0) demand.standing.push_back(static_cast<int>(i));
    }
    view_.demands.push_back(std::move(demand));
  }

  void add_gpus(const packing::PackResult& fewest) {
    std::vector<std::int64_t> counts(view_.offers.size(), 0);
    for (const std::uint32_t offer : standing_.packing.gpu_offers) {
      view_.gpus.push_back({static_cast<int>(offer), true, {}});
      ++counts[offer];
    }
    for (std::size_t i = 0; i < view_.standing.size(); ++i) {
      view_.gpus[static_cast<std::size_t>(view_.standing[i].gpu)].standing.push_back(static_cast<int>(i));
    }
    std::vector<std::int64_t> packed(view_.offers.size(), 0);
    for (const std::uint32_t offer : fewest.packing.gpu_offers) {
      view_.budget += view_.offers[offer].price;
      ++packed[offer];
    }
    for (std::size_t k = 0; k < view_.offers.size(); ++k) {
      const OfferView& offer = view_.offers[k];
      // A new GPU is useless while an existing one of its model is free.
      const std::int64_t most = offer.price > 0 ? view_.budget / offer.price : packed[k];
      for (std::int64_t i = counts[k]; i < std::min(most, offer.count_max); ++i) {
        view_.gpus.push_back({static_cast<int>(k), false, {}});
      }
    }
  }

  const PackingProblem& problem_;
  const StandingPlan& standing_;
  TransitionView view_;
  std::map<std::string, int> tenants_;
};

}  // namespace

int OfferView::site_of(const mig::Placement& placement) const {
  const auto site = map.find_site(placement);
  ENSURE(site.has_value());
  return *site;
}

Result<TransitionView> view_of(const PackingProblem& problem, const StandingPlan& standing,
                               const packing::PackResult& fewest) {
  if (const auto fault = find_standing_fault(problem, standing)) return invalid(*fault);
  return Builder(problem, standing).run(fewest);
}

std::int64_t changes_of(const TransitionView& view, const SlicesByGpu& plan) {
  auto changes = static_cast<std::int64_t>(view.standing.size());
  for (const std::vector<Held>& gpu : plan) {
    for (const Held& held : gpu) changes += held.standing == kNone ? 1 : -1;
  }
  return changes;
}

}  // namespace berth::transition::detail

namespace berth::transition {

Decimal rate_in_force(const PackingProblem& problem, const GpuModel& model, const Demand& demand,
                      const PackedSlice& slice) {
  const PerformancePoint* point = detail::find_point(problem, model, demand, slice);
  return point == nullptr ? slice.requests_per_second : point->requests_per_second;
}

}  // namespace berth::transition
