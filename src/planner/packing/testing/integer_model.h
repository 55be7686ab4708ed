/// Packing as an integer model for a generic solver, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/solver/linear.h"
#include "domain/values/packing.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing::reference {

/// The goal of an integer model: the least cost; or, among plans of at most that cost that leave a slice of at least
/// the given size free on some GPU, the fewest slices.
struct IntegerGoal {
  std::optional<std::int64_t> cost_max;
  FreeSize free_min;
};

/// The problem as an integer model: columns for slices of each demand and kind, and for GPUs of each tenant and
/// multiset; rows for rates, kinds, counts and the goal. The least cost needs maximal multisets only.
class IntegerModel {
 public:
  IntegerModel(const PackingProblem& problem, const IntegerGoal& goal) : problem_(problem), goal_(goal) {
    if (goal.cost_max) cost_.upper = static_cast<double>(*goal.cost_max) + 0.5;
    if (goal.free_min > FreeSize{}) free_.lower = 1;
    std::set<std::string> tenants;
    for (const Demand& demand : problem.demands) tenants.insert(pool_of(demand));
    for (const Demand& demand : problem.demands) {
      model_.rows.push_back({.lower = rate_wanted(problem, demand).to_double(), .entries = {}});
    }
    for (const GpuOffer& offer : problem.offers) add_offer(offer, tenants);
    model_.rows.push_back(cost_);
    model_.rows.push_back(free_);
  }

  [[nodiscard]] solver::MipAnswer solve(const solver::MipLimits& limits = {.nodes_max = 100'000}) const {
    return solver::solve_mip(model_, limits);
  }

 private:
  /// Slices in use minus slices of the chosen multisets, by profile of one offer and tenant.
  using KindRows = std::map<ProfileId, solver::Row>;

  [[nodiscard]] std::string pool_of(const Demand& demand) const {
    return problem_.rules.keeps_tenants_apart ? demand.tenant : std::string();
  }

  int add_column(double cost) {
    model_.columns.push_back({.cost = cost, .is_integer = true});
    return static_cast<int>(model_.columns.size()) - 1;
  }

  void add_offer(const GpuOffer& offer, const std::set<std::string>& tenants) {
    solver::Row count{.entries = {}};
    if (offer.count_max) count.upper = static_cast<double>(*offer.count_max);
    for (const std::string& tenant : tenants) {
      KindRows kinds = add_slices(offer.model, tenant);
      add_gpus(offer, kinds, count);
      for (auto& [profile, kind] : kinds) model_.rows.push_back(std::move(kind));
    }
    model_.rows.push_back(std::move(count));
  }

  [[nodiscard]] KindRows add_slices(const GpuModel& model, const std::string& tenant) {
    KindRows kinds;
    for (const ProfileId profile : profiles_used(problem_, model)) {
      // With a limit on costs, slices are counted: a plan's score counts every slice that is created.
      const double least = goal_.cost_max ? 0 : -solver::kInfinity;
      solver::Row& kind = kinds.emplace(profile, solver::Row{.lower = least, .upper = 0, .entries = {}}).first->second;
      for (std::size_t d = 0; d < problem_.demands.size(); ++d) {
        const PerformancePoint* row = best_row(problem_, problem_.demands[d], model, profile);
        if (row == nullptr || pool_of(problem_.demands[d]) != tenant) continue;
        const int slices = add_column(goal_.cost_max ? 1 : 0);
        kind.entries.push_back({slices, 1});
        model_.rows[d].entries.push_back({slices, row->requests_per_second.to_double()});
      }
    }
    return kinds;
  }

  void add_gpus(const GpuOffer& offer, KindRows& kinds, solver::Row& count) {
    const auto price = static_cast<double>(price_of(offer));
    for (const auto& [multiset, free] : multisets_of(problem_, offer.model)) {
      if (!goal_.cost_max && !is_maximal(offer.model, multiset)) continue;
      const int gpus = add_column(goal_.cost_max ? 0 : price);
      count.entries.push_back({gpus, 1});
      cost_.entries.push_back({gpus, price});
      if (free >= goal_.free_min) free_.entries.push_back({gpus, 1});
      for (auto& [profile, kind] : kinds) {
        const auto slices = std::ranges::count(multiset, profile);
        if (slices > 0) kind.entries.push_back({gpus, -static_cast<double>(slices)});
      }
    }
  }

  [[nodiscard]] bool is_maximal(const GpuModel& model, const Multiset& multiset) const {
    return std::ranges::none_of(multisets_of(problem_, model), [&](const auto& other) {
      return other.first.size() > multiset.size() && std::ranges::includes(other.first, multiset);
    });
  }

  const PackingProblem& problem_;
  IntegerGoal goal_;
  solver::LinearModel model_;
  solver::Row cost_{.entries = {}};
  solver::Row free_{.entries = {}};
};

}  // namespace berth::packing::reference
