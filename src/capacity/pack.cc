#include "capacity/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "capacity/detail/assemble.h"
#include "capacity/detail/covers.h"
#include "capacity/detail/instance.h"
#include "capacity/detail/plan_search.h"
#include "domain/scenario.h"

namespace berth::capacity {
namespace {

using detail::Budget;
using detail::FoundPlan;
using detail::Instance;
using detail::Kind;
using detail::NoPlan;
using detail::PlanSearch;

/// Kinds that could stay free, the largest first.
std::vector<std::size_t> kinds_by_size(const Instance& instance) {
  std::vector<std::size_t> kinds;
  for (std::size_t k = 0; k < instance.kinds.size(); ++k) {
    if (instance.kinds[k].is_plain) kinds.push_back(k);
  }
  std::ranges::stable_sort(kinds, [&](std::size_t a, std::size_t b) {
    return std::pair(instance.kinds[a].sms, instance.kinds[a].length) >
           std::pair(instance.kinds[b].sms, instance.kinds[b].length);
  });
  return kinds;
}

/// One part of a problem that is packed by itself: all demands, or those of one tenant.
struct Part {
  Instance instance;
  std::unique_ptr<PlanSearch> search;
  FoundPlan plan;                      ///< the best without a thought of free slices
  std::optional<FoundPlan> with_free;  ///< as good, with the largest free slice that any part can keep
};

/// Shares of the budget: after these the next question has its turn.
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
  [[nodiscard]] static PackResult nothing_to_do() {
    PackResult result;
    result.is_proven = result.is_largest_free_proven = result.is_slice_count_proven = true;
    return result;
  }

  /// Tenants apart on offers without limits do not touch each other. With limits they compete for GPUs.
  void split(Instance instance) {
    const bool is_limited =
        std::ranges::any_of(instance.offers, [](const auto& offer) { return offer.count_max.has_value(); });
    if (instance.pool_count == 1 || is_limited) {
      parts_.push_back({std::move(instance), nullptr, {}, std::nullopt});
    } else {
      for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
        parts_.push_back({instance.only_pool(pool), nullptr, {}, std::nullopt});
      }
    }
    for (Part& part : parts_) part.search = std::make_unique<PlanSearch>(part.instance, budget_);
  }

  Result<void> find_cheapest() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      budget_.nodes_max =
          share(options_, 60) * static_cast<std::int64_t>(i + 1) / static_cast<std::int64_t>(parts_.size());
      tl::expected<FoundPlan, NoPlan> plan = parts_[i].search->cheapest();
      if (!plan) {
        return invalid(
            plan.error().is_proven
                ? "wanted GPUs enough for every demand, found that no plan exists within the counts of the fleet"
                : fmt::format("wanted GPUs enough for every demand, found no plan within the counts of the "
                              "fleet in {} nodes (that there is none is not proven)",
                              budget_.nodes));
      }
      parts_[i].plan = std::move(*plan);
    }
    return {};
  }

  /// Only one part has to keep a free slice; which one costs the fewest slices is decided in the end.
  void keep_largest_free() {
    const std::vector<std::size_t> kinds = kinds_by_size(parts_.front().instance);
    is_largest_free_proven_ = true;
    for (std::size_t i = 0; i < kinds.size() && !has_free(); ++i) {
      budget_.nodes_max = share(options_, 60) + share(options_, 20) * static_cast<std::int64_t>(i + 1) /
                                                    static_cast<std::int64_t>(kinds.size());
      budget_.nodes_max =
          std::max(budget_.nodes_max, budget_.nodes + share(options_, 20) / static_cast<std::int64_t>(kinds.size()));
      for (Part& part : parts_) {
        PlanSearch::FreeAnswer answer = part.search->with_free(part.plan, kinds[i]);
        if (!answer.plan && !answer.is_proven_none) is_largest_free_proven_ = false;
        part.with_free = std::move(answer.plan);
      }
    }
  }
  [[nodiscard]] bool has_free() const {
    return std::ranges::any_of(parts_, [](const Part& part) { return part.with_free.has_value(); });
  }

  void lower_slices(FoundPlan& plan, PlanSearch& search, std::size_t turns) {
    budget_.nodes_max = budget_.nodes + share(options_, 20) / static_cast<std::int64_t>(turns);
    search.lower_slices(plan);
  }

  PackResult finish() {
    std::size_t keeper = parts_.size();
    std::int64_t least_extra = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const bool is_only_part = parts_.size() == 1;
      if (!part.with_free || !is_only_part) lower_slices(part.plan, *part.search, 2 * parts_.size());
      if (!part.with_free) continue;
      lower_slices(*part.with_free, *part.search, 2 * parts_.size());
      const std::int64_t extra = part.with_free->slices - part.plan.slices;
      if (keeper == parts_.size() || extra < least_extra) {
        keeper = i;
        least_extra = extra;
      }
    }
    PackResult result;
    result.is_proven = result.is_slice_count_proven = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      add_part(parts_[i], i == keeper ? *parts_[i].with_free : parts_[i].plan, result);
    }
    result.is_largest_free_proven = is_largest_free_proven_;
    if (parts_.front().instance.pool_count > 1) {
      // Tenants who compete for GPUs: a free slice was looked for on the first one's only.
      result.is_largest_free_proven = result.is_slice_count_proven = false;
    }
    fill_score(result);
    return result;
  }

  void add_part(Part& part, const FoundPlan& plan, PackResult& result) {
    detail::append_packing(result.packing, detail::assemble(problem_, part.instance, *part.search, plan, budget_));
    result.bound += plan.bound;
    price_ += plan.price;
    if (plan.price > plan.bound) result.is_proven = false;
    if (!plan.is_slice_count_proven) result.is_slice_count_proven = false;
    for (const Part& other : parts_) {
      if (other.with_free && !other.with_free->is_slice_count_proven) result.is_slice_count_proven = false;
    }
  }

  void fill_score(PackResult& result) const {
    const Instance& instance = parts_.front().instance;
    PackScore& score = result.score;
    score.gpus = static_cast<std::int64_t>(result.packing.gpu_offers.size());
    score.slices = static_cast<std::int64_t>(result.packing.slices.size());
    if (problem_.offers.front().micro_usd_per_hour) {
      score.micro_usd_per_hour = price_ * instance.micro_usd_per_price;
      result.bound *= instance.micro_usd_per_price;
    }
    result.unused = detail::empty_places(problem_, result.packing);
    for (const Slice& slice : result.unused) {
      const auto model_of = [&](const Slice& of) -> const GpuModel& {
        return problem_.offers[result.packing.gpu_offers[of.gpu.index]].model;
      };
      if (!score.largest_free || detail::is_larger_slice(model_of(slice), slice.profile, model_of(*score.largest_free),
                                                         score.largest_free->profile)) {
        score.largest_free = slice;
      }
    }
    result.nodes = budget_.nodes;
  }

  const PackingProblem& problem_;
  PackOptions options_;
  Budget budget_;
  std::vector<Part> parts_;
  std::int64_t price_ = 0;
  bool is_largest_free_proven_ = false;
};

}  // namespace

std::optional<PerformancePoint> best_point(const PackingProblem& problem, const Demand& demand, const GpuModel& model,
                                           ProfileId profile) {
  const PerformanceTable* table = problem.table_of(demand.model);
  if (table == nullptr) return std::nullopt;
  const Decimal limit_ms = problem.rules.slo_factor * demand.latency_ms;
  const std::string name = profile_name(model, profile);
  const PerformancePoint* best = nullptr;
  for (const PerformancePoint& point : table->points) {
    if (point.gpu != model.name || point.profile != name) continue;
    if (point.processes > problem.rules.processes_max || point.latency_ms >= limit_ms) continue;
    const bool is_better = best == nullptr || point.requests_per_second > best->requests_per_second ||
                           (point.requests_per_second == best->requests_per_second &&
                            std::tie(point.batch, point.processes) < std::tie(best->batch, best->processes));
    if (is_better) best = &point;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

Result<PackResult> pack(const PackingProblem& problem, const PackOptions& options) {
  Result<Instance> instance = detail::make_instance(problem);
  if (!instance) return pass_on(instance.error());
  return Packer(problem, options).run(std::move(*instance));
}

}  // namespace berth::capacity
