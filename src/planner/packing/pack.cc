#include "planner/packing/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "domain/profile/operating_point.h"
#include "domain/values/scenario.h"
#include "planner/packing/detail/assemble.h"
#include "planner/packing/detail/covers.h"
#include "planner/packing/detail/instance.h"
#include "planner/packing/detail/plan_search.h"

namespace berth::packing {
namespace {

using detail::Budget;
using detail::FoundPlan;
using detail::Instance;
using detail::NoPlan;
using detail::OfferedKind;
using detail::PlanSearch;

/// Kinds that could stay free, by size: the largest first, those of one size together.
std::vector<std::vector<std::size_t>> kinds_by_size(const Instance& instance) {
  std::map<std::pair<int, int>, std::vector<std::size_t>, std::greater<>> by_size;
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    const OfferedKind& kind = instance.kinds[k];
    if (kind.is_plain) by_size[{kind.sms, kind.length}].push_back(k);
  }
  std::vector<std::vector<std::size_t>> groups;
  groups.reserve(by_size.size());
  for (const auto& [size, kinds] : by_size) groups.push_back(kinds);
  return groups;
}

/// A part of the problem that is packed separately: all demands, or those of one tenant.
struct Subproblem {
  Instance instance;
  std::unique_ptr<PlanSearch> search;
  FoundPlan plan;  ///< the best, ignoring free slices
};

/// A subproblem that keeps the free slice, and its plan with it.
struct Keeper {
  std::size_t subproblem = 0;
  FoundPlan plan;
};

/// Shares of the budget: after these the next objective is searched.
std::int64_t share(const PackOptions& options, int percent) { return options.nodes_max / 100 * percent; }

class Packer {
 public:
  Packer(const PackingProblem& problem, const PackOptions& options) : problem_(problem), options_(options) {}

  Result<PackResult> run(Instance instance) {
    if (instance.demands.empty()) return nothing_to_do();
    split(std::move(instance));
    if (const Result<void> found = find_cheapest(); !found) return pass_on(found.error());
    keep_largest_free();
    return finish();
  }

 private:
  [[nodiscard]] PackResult nothing_to_do() const {
    PackResult result;
    if (!problem_.offers.empty() && problem_.offers.front().micro_usd_per_hour) result.score.micro_usd_per_hour = 0;
    result.is_proven = result.is_largest_free_proven = result.is_slice_count_proven = true;
    return result;
  }

  /// Separate tenants on offers without limits are independent. With limits they compete for GPUs.
  void split(Instance instance) {
    const bool is_limited =
        std::ranges::any_of(instance.offers, [](const auto& offer) { return offer.count_max.has_value(); });
    if (instance.pool_count == 1 || is_limited) {
      subproblems_.push_back({std::move(instance), nullptr, {}});
    } else {
      for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
        subproblems_.push_back({instance.only_pool(pool), nullptr, {}});
      }
    }
    for (Subproblem& subproblem : subproblems_)
      subproblem.search = std::make_unique<PlanSearch>(subproblem.instance, budget_);
  }

  Result<void> find_cheapest() {
    for (std::size_t i = 0; i < subproblems_.size(); ++i) {
      budget_.nodes_max =
          share(options_, 60) * static_cast<std::int64_t>(i + 1) / static_cast<std::int64_t>(subproblems_.size());
      tl::expected<FoundPlan, NoPlan> plan = subproblems_[i].search->cheapest();
      if (!plan) {
        return invalid(
            plan.error().is_proven
                ? "wanted GPUs enough for every demand, found that no plan exists within the counts of the fleet"
                : fmt::format("wanted GPUs enough for every demand, found no plan within the counts of the "
                              "fleet in {} nodes (that there is none is not proven)",
                              budget_.nodes));
      }
      subproblems_[i].plan = std::move(*plan);
    }
    return {};
  }

  /// The next objective may use this share of all nodes.
  void allow(int percent, std::size_t turns) {
    budget_.nodes_max = budget_.nodes + share(options_, percent) / static_cast<std::int64_t>(turns);
  }

  /// One pool of one subproblem has to keep a free slice. Which one costs the fewest slices is decided at the end.
  void keep_largest_free() {
    const std::vector<std::vector<std::size_t>> groups = kinds_by_size(subproblems_.front().instance);
    is_largest_free_proven_ = true;
    for (std::size_t i = 0; i < groups.size() && keepers_.empty(); ++i) {
      is_some_keeper_unsure_ = false;
      for (std::size_t subproblem = 0; subproblem < subproblems_.size(); ++subproblem) {
        allow(20, groups.size() * subproblems_.size());
        for (const std::size_t kind : groups[i]) keep_free(subproblem, kind);
      }
      if (is_some_keeper_unsure_ && keepers_.empty()) is_largest_free_proven_ = false;
    }
  }

  void keep_free(std::size_t subproblem, std::size_t kind) {
    for (std::uint32_t pool = 0; pool < subproblems_[subproblem].instance.pool_count; ++pool) {
      PlanSearch::FreeAnswer answer =
          subproblems_[subproblem].search->with_free(subproblems_[subproblem].plan, kind, pool);
      if (answer.plan) {
        keepers_.push_back({subproblem, std::move(*answer.plan)});
      } else if (!answer.is_proven_none) {
        is_some_keeper_unsure_ = true;
      }
    }
  }

  /// The keeper whose free slice costs the fewest slices, or nothing.
  [[nodiscard]] const Keeper* best_keeper() const {
    const auto cost = [this](const Keeper& keeper) {
      return keeper.plan.slices - subproblems_[keeper.subproblem].plan.slices;
    };
    const auto best = std::ranges::min_element(keepers_, {}, cost);
    return best == keepers_.end() ? nullptr : &*best;
  }

  /// Fewer slices for every plan that may be the answer. A single subproblem that keeps a free slice has no other plan
  /// for comparison.
  void lower_slices() {
    const bool needs_plans_without = keepers_.empty() || subproblems_.size() > 1;
    const std::size_t turns = keepers_.size() + (needs_plans_without ? subproblems_.size() : 0);
    for (Subproblem& subproblem : subproblems_) {
      if (!needs_plans_without) break;
      allow(20, turns);
      subproblem.search->lower_slices(subproblem.plan);
    }
    for (Keeper& keeper : keepers_) {
      allow(20, turns);
      subproblems_[keeper.subproblem].search->lower_slices(keeper.plan);
    }
  }

  PackResult finish() {
    lower_slices();
    PackResult result;
    result.is_proven = true;
    result.is_largest_free_proven = is_largest_free_proven_;
    result.is_slice_count_proven =
        is_largest_free_proven_ && !is_some_keeper_unsure_ &&
        std::ranges::all_of(keepers_, [](const Keeper& keeper) { return keeper.plan.is_slice_count_proven; });
    const Keeper* const best = best_keeper();
    for (std::size_t i = 0; i < subproblems_.size(); ++i) {
      add_subproblem(subproblems_[i], best != nullptr && best->subproblem == i ? best->plan : subproblems_[i].plan,
                     result);
    }
    fill_score(result);
    return result;
  }

  void add_subproblem(Subproblem& subproblem, const FoundPlan& plan, PackResult& result) {
    detail::append_packing(result.packing,
                           detail::assemble(problem_, subproblem.instance, *subproblem.search, plan, budget_));
    result.bound += plan.bound;
    if (plan.price > plan.bound) result.is_proven = false;
    if (!plan.is_slice_count_proven) result.is_slice_count_proven = false;
  }

  void fill_score(PackResult& result) const {
    result.score = score_of(problem_, result.packing);
    if (problem_.offers.front().micro_usd_per_hour) result.bound *= subproblems_.front().instance.micro_usd_per_price;
    result.unused = empty_places(problem_, result.packing);
    result.nodes = budget_.nodes;
  }

  const PackingProblem& problem_;
  PackOptions options_;
  Budget budget_;
  std::vector<Subproblem> subproblems_;
  std::vector<Keeper> keepers_;
  bool is_some_keeper_unsure_ = false;  ///< whether some pool could keep a free slice of the last size is not known
  bool is_largest_free_proven_ = false;
};

}  // namespace

std::optional<PerformancePoint> best_point(const PackingProblem& problem, const Demand& demand, const GpuModel& model,
                                           ProfileId profile) {
  const PerformanceTable* table = problem.table_of(demand.model);
  if (table == nullptr) return std::nullopt;
  const std::string name = profile_name(model, profile);
  std::vector<PerformancePoint> points;
  std::ranges::copy_if(table->points, std::back_inserter(points),
                       [&](const PerformancePoint& point) { return point.gpu == model.name && point.profile == name; });
  const PerformancePoint* best = profile::best_usable(points, usable_rule(problem, demand));
  return best == nullptr ? std::nullopt : std::optional(*best);
}

profile::UsableRule usable_rule(const PackingProblem& problem, const Demand& demand) {
  return {.limit_ms = problem.rules.slo_factor * demand.latency_ms, .processes_max = problem.rules.processes_max};
}

Result<PackResult> pack(const PackingProblem& problem, const PackOptions& options) {
  Result<Instance> instance = detail::make_instance(problem);
  if (!instance) return pass_on(instance.error());
  return Packer(problem, options).run(std::move(*instance));
}

}  // namespace berth::packing
