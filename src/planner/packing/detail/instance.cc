#include "planner/packing/detail/instance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "base/core/sort_stably.h"
#include "base/core/text.h"
#include "domain/mig/site_map.h"
#include "planner/packing/pack.h"

namespace berth::packing::detail {
namespace {

/// Usable profiles of a model: those that some demand can use, and the plain ones, which may stay free.
std::vector<ProfileId> profiles_in_use(const PackingProblem& problem, const GpuModel& model) {
  std::set<ProfileId> used;
  std::vector<ProfileId> candidates = {ProfileId::full()};
  candidates.reserve(model.profiles.size() + 1);
  for (std::size_t i = 0; i < model.profiles.size(); ++i) {
    const ProfileId profile = {static_cast<std::uint16_t>(i)};
    if (model.profiles[i].is_plain()) used.insert(profile);
    candidates.push_back(profile);
  }
  for (const ProfileId profile : candidates) {
    const bool is_used = std::ranges::any_of(problem.demands, [&](const Demand& demand) {
      return demand.requests_per_second.sign() > 0 && best_point(problem, demand, model, profile).has_value();
    });
    if (is_used) used.insert(profile);
  }
  return {used.begin(), used.end()};
}

/// The kinds of each offer's slices and the partitions of its GPU.
void add_offers(const PackingProblem& problem, Instance& instance) {
  std::vector<std::vector<mig::KindCounts>> partitions;  // by offer; over its own kinds
  for (std::uint32_t o = 0; o < problem.offers.size(); ++o) {
    const GpuModel& model = problem.offers[o].model;
    const mig::SiteMap map = mig::make_site_map(model, profiles_in_use(problem, model));
    partitions.push_back(mig::maximal_multisets(model, map));
    for (const mig::SiteKind& kind : map.kinds) {
      const bool is_plain = !kind.profile.is_full() && model.profiles[kind.profile.index].is_plain();
      instance.kinds.push_back(
          {.offer = o, .profile = kind.profile, .sms = kind.sms, .length = kind.length, .is_plain = is_plain});
    }
  }
  for (std::uint32_t o = 0; o < problem.offers.size(); ++o) {
    OfferedGpus& offer = instance.offers.emplace_back();
    offer.count_max = problem.offers[o].count_max;
    const auto first = std::ranges::find(instance.kinds, o, &OfferedKind::offer) - instance.kinds.begin();
    for (const mig::KindCounts& counts : partitions[o]) {
      std::ranges::copy(counts, offer.partitions.emplace_back(instance.kinds.size(), 0).begin() + first);
    }
  }
}

/// Prices in their greatest common unit, so that costs are small whole numbers.
void set_prices(const PackingProblem& problem, Instance& instance) {
  std::int64_t unit = 0;
  for (const GpuOffer& offer : problem.offers) unit = std::gcd(unit, offer.micro_usd_per_hour.value_or(1));
  instance.micro_usd_per_price = std::max<std::int64_t>(unit, 1);
  for (std::size_t o = 0; o < problem.offers.size(); ++o) {
    instance.offers[o].price = problem.offers[o].micro_usd_per_hour.value_or(1) / instance.micro_usd_per_price;
  }
}

/// Rate and throughputs of a demand in whole numbers. Nothing: too long for exact work.
std::optional<InstanceDemand> scaled_demand(const PackingProblem& problem, std::uint32_t index,
                                            const std::vector<OfferedKind>& kinds) {
  const Demand& demand = problem.demands[index];
  std::vector<Decimal> values = {demand.requests_per_second * problem.rules.headroom};
  values.reserve(kinds.size() + 1);
  for (const OfferedKind& kind : kinds) {
    const auto point = best_point(problem, demand, problem.offers[kind.offer].model, kind.profile);
    values.push_back(point ? point->requests_per_second : Decimal(0));
  }
  const std::optional<std::vector<Int128>> integers = Decimal::to_common_integers(values);
  if (!integers) return std::nullopt;
  return InstanceDemand{
      .demand = index, .pool = 0, .rate = integers->front(), .throughput = {integers->begin() + 1, integers->end()}};
}

std::string name_of(const Demand& demand) {
  return demand.tenant == demand.model ? in_quotes(demand.model)
                                       : fmt::format("{} of {}", in_quotes(demand.model), in_quotes(demand.tenant));
}

/// The faults of the demands, each kind once, with all names.
struct Troubles {
  std::vector<std::string> without_table;
  std::vector<std::string> without_point;
  std::vector<std::string> too_long;
  Int128 slices = 0;

  [[nodiscard]] Result<void> report(const PackingProblem& problem) const {
    std::vector<std::string> parts;
    if (!without_table.empty()) {
      parts.push_back(fmt::format("wanted a profile of every model, found none of {}", fmt::join(without_table, ", ")));
    }
    if (!without_point.empty()) {
      std::vector<std::string> gpus;
      gpus.reserve(problem.offers.size());
      for (const GpuOffer& offer : problem.offers) gpus.push_back(offer.model.name);
      parts.push_back(
          fmt::format("wanted a profiled point on {} with a latency below {} x the target and at most {} processes, "
                      "found none for {}",
                      fmt::join(gpus, ", "), problem.rules.slo_factor.to_string(), problem.rules.processes_max,
                      fmt::join(without_point, ", ")));
    }
    if (!too_long.empty()) {
      parts.push_back(fmt::format("wanted rates and throughputs with fewer digits (30 together), found those of {}",
                                  fmt::join(too_long, ", ")));
    }
    if (slices > kSlicesMax) {
      parts.push_back(fmt::format("wanted demands for at most {} slices, found more", kSlicesMax));
    }
    if (parts.empty()) return {};
    return invalid(fmt::format("{}", fmt::join(parts, "; ")));
  }
};

Result<void> add_demands(const PackingProblem& problem, Instance& instance) {
  Troubles troubles;
  for (std::uint32_t i = 0; i < problem.demands.size(); ++i) {
    const Demand& demand = problem.demands[i];
    if (demand.requests_per_second.sign() == 0) continue;
    if (problem.table_of(demand.model) == nullptr) {
      troubles.without_table.push_back(name_of(demand));
      continue;
    }
    std::optional<InstanceDemand> scaled = scaled_demand(problem, i, instance.kinds);
    if (!scaled) {
      troubles.too_long.push_back(name_of(demand));
      continue;
    }
    const Int128 best = scaled->throughput.empty() ? 0 : *std::ranges::max_element(scaled->throughput);
    if (best == 0) {
      troubles.without_point.push_back(name_of(demand));
      continue;
    }
    troubles.slices += (scaled->rate + best - 1) / best;
    instance.demands.push_back(std::move(*scaled));
  }
  return troubles.report(problem);
}

void set_pools(const PackingProblem& problem, Instance& instance) {
  if (!problem.rules.keeps_tenants_apart) return;
  std::map<std::string, std::uint32_t> pools;
  for (InstanceDemand& demand : instance.demands) {
    const auto next = static_cast<std::uint32_t>(pools.size());
    demand.pool = pools.emplace(problem.demands[demand.demand].tenant, next).first->second;
  }
  instance.pool_count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(pools.size()));
  sort_stably(instance.demands, &InstanceDemand::pool);
}

}  // namespace

Instance Instance::only_pools(std::span<const std::uint32_t> pools) const {
  Instance part = *this;
  part.demands.clear();
  for (std::uint32_t i = 0; i < pools.size(); ++i) {
    std::ranges::copy_if(demands, std::back_inserter(part.demands),
                         [&](const InstanceDemand& demand) { return demand.pool == pools[i]; });
  }
  for (InstanceDemand& demand : part.demands) {
    demand.pool = static_cast<std::uint32_t>(std::ranges::find(pools, demand.pool) - pools.begin());
  }
  part.pool_count = static_cast<std::uint32_t>(pools.size());
  return part;
}

Result<Instance> make_instance(const PackingProblem& problem) {
  Instance instance;
  add_offers(problem, instance);
  set_prices(problem, instance);
  if (const Result<void> added = add_demands(problem, instance); !added) return pass_on(added.error());
  set_pools(problem, instance);
  return instance;
}

}  // namespace berth::packing::detail
