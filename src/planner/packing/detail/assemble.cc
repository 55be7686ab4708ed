#include "planner/packing/detail/assemble.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"
#include "domain/mig/multiset.h"
#include "domain/values/scenario.h"
#include "planner/packing/pack.h"

namespace berth::packing::detail {
namespace {

/// The slices of one GPU before placement: counts by kind, and perhaps the one that stays free.
struct Load {
  Counts counts;
  std::optional<std::size_t> free;
};

Counts pool_counts(const Instance& instance, const FoundPlan& plan, std::uint32_t pool) {
  Counts counts(instance.kinds.size(), 0);
  for (std::size_t d = 0; d < instance.demands.size(); ++d) {
    if (instance.demands[d].pool != pool) continue;
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += plan.covers[d][k];
  }
  return counts;
}

/// Assigns the slices of a pool to GPUs by their partitions. The free slice is on the last GPU with its kind.
std::vector<Load> loads_of(const OfferedGpus& offer, const std::vector<PartitionUse>& partitions, Counts left,
                           std::optional<std::size_t> free) {
  std::vector<Load> loads;
  for (const PartitionUse& use : partitions) {
    for (std::int64_t i = 0; i < use.gpus; ++i) {
      Load load{Counts(left.size(), 0), std::nullopt};
      for (std::size_t k = 0; k < left.size(); ++k) {
        load.counts[k] = std::min(left[k], offer.partitions[use.partition][k]);
        left[k] -= load.counts[k];
      }
      loads.push_back(std::move(load));
    }
  }
  if (!free) return loads;
  for (std::size_t i = loads.size(); i-- > 0;) {
    if (loads[i].counts[*free] == 0) continue;
    --loads[i].counts[*free];
    loads[i].free = free;
    break;
  }
  std::erase_if(loads, [](const Load& load) { return std::ranges::all_of(load.counts, [](int n) { return n == 0; }); });
  return loads;
}

/// Placements for a load, with space for its free slice.
mig::State places_of(const Instance& instance, const GpuModel& model, const Load& load) {
  mig::Multiset wanted;
  for (std::size_t k = 0; k < load.counts.size(); ++k) {
    const int count = load.counts[k] + (load.free == k ? 1 : 0);
    if (count == 0) continue;
    if (instance.kinds[k].profile.is_full()) return {{0, ProfileId::full()}};
    wanted.push_back({instance.kinds[k].profile, count});
  }
  std::optional<mig::State> state = mig::place_multiset(model, wanted);
  ENSURE(state.has_value());
  if (load.free) {
    // The last of its kind stays empty.
    const auto place = std::find_if(state->rbegin(), state->rend(), [&](const mig::Placement& placement) {
      return placement.profile == instance.kinds[*load.free].profile;
    });
    ENSURE(place != state->rend());
    state->erase(std::next(place).base());
  }
  return *state;
}

/// A demand that still needs a slice of a kind in a pool, in the order of demands.
struct Waiting {
  std::size_t demand = 0;  ///< of the instance
  std::int32_t count = 0;
};

std::vector<std::deque<Waiting>> waiting_in(const Instance& instance, const FoundPlan& plan, std::uint32_t pool) {
  std::vector<std::deque<Waiting>> waiting(instance.kinds.size());
  for (std::size_t d = 0; d < instance.demands.size(); ++d) {
    if (instance.demands[d].pool != pool) continue;
    for (std::size_t k = 0; k < waiting.size(); ++k) {
      if (plan.covers[d][k] > 0) waiting[k].push_back({d, plan.covers[d][k]});
    }
  }
  return waiting;
}

class Assembly {
 public:
  Assembly(const PackingProblem& problem, const Instance& instance, const FoundPlan& plan)
      : problem_(problem), instance_(instance) {
    for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool)
      waiting_.push_back(waiting_in(instance, plan, pool));
  }

  void add_gpu(std::uint32_t offer, std::uint32_t pool, const Load& load) {
    const GpuId gpu = {static_cast<std::uint32_t>(packing_.gpu_offers.size())};
    packing_.gpu_offers.push_back(offer);
    const GpuModel& model = problem_.offers[offer].model;
    auto [known, is_new] = places_.try_emplace({offer, load.counts, load.free});
    if (is_new) known->second = places_of(instance_, model, load);
    for (const mig::Placement& placement : known->second) {
      add_slice({gpu, placement.start, placement.profile}, offer, pool);
    }
  }

  [[nodiscard]] Packing take() { return std::move(packing_); }

 private:
  void add_slice(const Slice& slice, std::uint32_t offer, std::uint32_t pool) {
    const auto kind = std::ranges::find_if(instance_.kinds, [&](const OfferedKind& candidate) {
      return candidate.offer == offer && candidate.profile == slice.profile;
    });
    std::deque<Waiting>& queue = waiting_[pool][static_cast<std::size_t>(kind - instance_.kinds.begin())];
    ENSURE(!queue.empty());
    const std::uint32_t demand = instance_.demands[queue.front().demand].demand;
    if (--queue.front().count == 0) queue.pop_front();
    const PerformancePoint& point = point_of(demand, offer, slice.profile);
    packing_.slices.push_back({.slice = slice,
                               .demand = demand,
                               .batch = point.batch,
                               .processes = point.processes,
                               .requests_per_second = point.requests_per_second});
  }

  const PerformancePoint& point_of(std::uint32_t demand, std::uint32_t offer, ProfileId profile) {
    auto [known, is_new] = points_.try_emplace({demand, offer, profile});
    if (is_new) {
      const auto point = best_point(problem_, problem_.demands[demand], problem_.offers[offer].model, profile);
      ENSURE(point.has_value());
      known->second = *point;
    }
    return known->second;
  }

  const PackingProblem& problem_;
  const Instance& instance_;
  std::vector<std::vector<std::deque<Waiting>>> waiting_;  ///< by pool, then kind
  std::map<std::tuple<std::uint32_t, Counts, std::optional<std::size_t>>, mig::State> places_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, ProfileId>, PerformancePoint> points_;
  Packing packing_;
};

}  // namespace

Packing assemble(const PackingProblem& problem, const Instance& instance, PlanSearch& search, const FoundPlan& plan,
                 Budget& budget) {
  Assembly assembly(problem, instance, plan);
  for (std::uint32_t o = 0; o < instance.offers.size(); ++o) {
    for (std::uint32_t pool = 0; pool < instance.pool_count; ++pool) {
      Counts counts = pool_counts(instance, plan, pool);
      const bool is_free_here = plan.free && pool == plan.free_pool && instance.kinds[*plan.free].offer == o;
      if (is_free_here) ++counts[*plan.free];
      for (std::size_t k = 0; k < counts.size(); ++k) {
        if (instance.kinds[k].offer != o) counts[k] = 0;
      }
      const GpusNeeded needed = search.fillers()[o].gpus_for(counts, budget);
      const std::vector<Load> loads =
          loads_of(instance.offers[o], needed.partitions, counts, is_free_here ? plan.free : std::nullopt);
      for (const Load& load : loads) assembly.add_gpu(o, pool, load);
    }
  }
  return assembly.take();
}

void append_packing(Packing& packing, const Packing& more) {
  const auto offset = static_cast<std::uint32_t>(packing.gpu_offers.size());
  packing.gpu_offers.insert(packing.gpu_offers.end(), more.gpu_offers.begin(), more.gpu_offers.end());
  for (PackedSlice packed : more.slices) {
    packed.slice.gpu.index += offset;
    packing.slices.push_back(std::move(packed));
  }
}

}  // namespace berth::packing::detail
