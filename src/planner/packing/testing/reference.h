/// An exhaustive solver of small packing problems, for tests, and the parts that it shares with the simple one
/// (first_fit.h) and the integer model (integer_model.h). They use the problem's rows and the rules of MIG
/// (`mig::for_each_state`), and share nothing with the search of `pack`.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "domain/mig/geometry.h"
#include "domain/values/packing.h"
#include "domain/values/scenario.h"

namespace berth::packing::reference {

/// The size of a free slice: SMs, then length. Zeros if nothing is free.
struct FreeSize {
  int sms = 0;
  int length = 0;
  friend auto operator<=>(const FreeSize&, const FreeSize&) = default;
};

/// The best plan, in the order in which plans are compared.
struct Optimum {
  std::int64_t cost = 0;  ///< GPUs, or micro-USD per hour
  FreeSize largest_free;
  std::int64_t slices = 0;
  friend bool operator==(const Optimum&, const Optimum&) = default;
};

/// Profiles on one GPU, ascending, without placements.
using Multiset = std::vector<ProfileId>;

inline bool is_usable(const PackingProblem& problem, const Demand& demand, const PerformancePoint& point) {
  return point.processes <= problem.rules.processes_max &&
         point.latency_ms < problem.rules.slo_factor * demand.latency_ms;
}

/// The usable row with the highest throughput; ties: smaller batch, then fewer processes.
inline const PerformancePoint* best_row(const PackingProblem& problem, const Demand& demand, const GpuModel& model,
                                        ProfileId profile) {
  const PerformanceTable* table = problem.table_of(demand.model);
  if (table == nullptr) return nullptr;
  const std::string name = profile_name(model, profile);
  const PerformancePoint* best = nullptr;
  for (const PerformancePoint& point : table->points) {
    if (point.gpu != model.name || point.profile != name || !is_usable(problem, demand, point)) continue;
    if (best == nullptr || point.requests_per_second > best->requests_per_second ||
        (point.requests_per_second == best->requests_per_second &&
         std::pair(point.batch, point.processes) < std::pair(best->batch, best->processes))) {
      best = &point;
    }
  }
  return best;
}

inline std::int64_t price_of(const GpuOffer& offer) { return offer.micro_usd_per_hour.value_or(1); }

/// Whole numbers for exact sums: millionths.
inline std::int64_t in_millionths(const Decimal& value) {
  const Decimal scaled = value * Decimal(1'000'000);
  ENSURE(scaled.is_integer());
  return scaled.floor();
}

inline Decimal rate_wanted(const PackingProblem& problem, const Demand& demand) {
  return demand.requests_per_second * problem.rules.headroom;
}

inline FreeSize largest_free(const GpuModel& model, const mig::State& state) {
  FreeSize largest;
  if (!model.is_mig_capable()) return largest;
  for (const mig::Placement& placement : mig::placements_that_fit(model, state, mig::plain_rules(model))) {
    const FreeSize size{profile_sms(model, placement.profile), model.profiles[placement.profile.index].length};
    largest = std::max(largest, size);
  }
  return largest;
}

inline std::vector<ProfileId> all_profiles(const GpuModel& model) {
  std::vector<ProfileId> profiles = mig::all_rules(model).profiles;
  profiles.push_back(ProfileId::full());
  return profiles;
}

/// Profiles that some demand can use.
inline std::vector<ProfileId> profiles_used(const PackingProblem& problem, const GpuModel& model) {
  std::vector<ProfileId> used;
  for (const ProfileId profile : all_profiles(model)) {
    const bool is_used = std::ranges::any_of(
        problem.demands, [&](const Demand& demand) { return best_row(problem, demand, model, profile) != nullptr; });
    if (is_used) used.push_back(profile);
  }
  return used;
}

/// Every multiset of these profiles that one GPU can hold, with the largest slice that can then still be free.
inline std::map<Multiset, FreeSize> enumerate_multisets(const GpuModel& model, const std::vector<ProfileId>& profiles) {
  std::map<Multiset, FreeSize> found;
  const auto add = [&](const mig::State& state) {
    Multiset multiset;
    for (const mig::Placement& placement : state) multiset.push_back(placement.profile);
    std::ranges::sort(multiset);
    FreeSize& best = found[multiset];
    best = std::max(best, largest_free(model, state));
  };
  mig::Rules rules;
  std::ranges::copy_if(profiles, std::back_inserter(rules.profiles), [](ProfileId p) { return !p.is_full(); });
  if (model.is_mig_capable()) mig::for_each_state(model, rules, add);
  if (std::ranges::find(profiles, ProfileId::full()) != profiles.end()) found[{ProfileId::full()}] = {};
  found.erase(Multiset{});
  return found;
}

/// The same, cached between calls: the enumeration takes most of the time.
inline const std::map<Multiset, FreeSize>& multisets_of(const PackingProblem& problem, const GpuModel& model) {
  static std::map<std::pair<std::string, std::vector<ProfileId>>, std::map<Multiset, FreeSize>> known;
  const auto key = std::pair(model.name, profiles_used(problem, model));
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, enumerate_multisets(model, key.second)).first->second;
}

/// The content of one GPU: the rate of each demand that it serves, in millionths, at most the wanted one.
struct Content {
  std::vector<std::int64_t> carried;
  FreeSize free;
  std::int64_t slices = 0;

  [[nodiscard]] bool is_as_good_as(const Content& other) const {
    if (free < other.free || slices > other.slices) return false;
    return std::ranges::equal(carried, other.carried, std::ranges::greater_equal{});
  }
};

/// Tries every way to serve the demands, GPU by GPU. Exact; time and memory grow with the GPUs needed.
///
/// A plan is a sequence of GPU contents; each next one serves the first demand that is still short, as some GPU of
/// every plan must. The state is the rates still missing; dominated contents are left out. With a price of 0 only the
/// cost is exact.
class Exhaustive {
 public:
  explicit Exhaustive(const PackingProblem& problem) : problem_(problem) {
    for (const Demand& demand : problem.demands) wanted_.push_back(in_millionths(rate_wanted(problem, demand)));
    for (const GpuOffer& offer : problem.offers) {
      contents_.push_back(contents_of(offer.model));
      left_.push_back(offer.count_max.value_or(kUnlimited));
    }
  }

  /// The optimum, or nothing if the offers cannot serve the demands. Valid only if !has_given_up() afterwards.
  [[nodiscard]] std::optional<Optimum> solve() {
    const std::optional<Completion> best = complete(wanted_);
    if (!best) return std::nullopt;
    const auto& [free, slices] = *best->slices_by_free.rbegin();
    return Optimum{.cost = best->cost, .largest_free = free, .slices = slices};
  }

  [[nodiscard]] bool has_given_up() const { return known_.size() >= kStatesMax; }

 private:
  static constexpr std::int64_t kUnlimited = INT64_MAX;
  static constexpr std::size_t kStatesMax = 20'000;

  using Missing = std::vector<std::int64_t>;

  /// The cheapest way to serve the missing rates: for each size of the largest free slice the fewest slices.
  struct Completion {
    std::int64_t cost = 0;
    std::map<FreeSize, std::int64_t> slices_by_free;
  };

  void assign(const GpuModel& model, const Multiset& multiset, std::size_t next, std::vector<std::size_t>& demands,
              Content& content, std::vector<Content>& all) const {
    if (next == multiset.size()) return keep(content, all);
    const bool is_twin = next > 0 && multiset[next] == multiset[next - 1];
    for (std::size_t d = is_twin ? demands.back() : 0; d < wanted_.size(); ++d) {
      if (!demands.empty() && problem_.rules.keeps_tenants_apart &&
          problem_.demands[demands.front()].tenant != problem_.demands[d].tenant) {
        continue;
      }
      const PerformancePoint* row = best_row(problem_, problem_.demands[d], model, multiset[next]);
      if (row == nullptr || wanted_[d] == 0) continue;
      const std::int64_t before = content.carried[d];
      content.carried[d] += in_millionths(row->requests_per_second);
      demands.push_back(d);
      assign(model, multiset, next + 1, demands, content, all);
      demands.pop_back();
      content.carried[d] = before;
    }
  }

  void keep(Content content, std::vector<Content>& all) const {
    for (std::size_t d = 0; d < wanted_.size(); ++d) content.carried[d] = std::min(content.carried[d], wanted_[d]);
    if (std::ranges::any_of(all, [&](const Content& other) { return other.is_as_good_as(content); })) return;
    std::erase_if(all, [&](const Content& other) { return content.is_as_good_as(other); });
    all.push_back(std::move(content));
  }

  [[nodiscard]] std::vector<Content> contents_of(const GpuModel& model) const {
    std::vector<Content> all;
    for (const auto& [multiset, free] : multisets_of(problem_, model)) {
      Content content{
          .carried = std::vector<std::int64_t>(wanted_.size()), .free = free, .slices = std::ssize(multiset)};
      std::vector<std::size_t> demands;
      assign(model, multiset, 0, demands, content, all);
    }
    return all;
  }

  std::optional<Completion> complete(const Missing& missing) {
    const auto first = std::ranges::find_if(missing, [](std::int64_t rate) { return rate > 0; });
    if (first == missing.end()) return Completion{.cost = 0, .slices_by_free = {{FreeSize{}, 0}}};
    const auto key = std::pair(missing, left_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if (has_given_up()) return std::nullopt;
    std::optional<Completion> best;
    for (std::size_t o = 0; o < contents_.size(); ++o) {
      if (left_[o] == 0) continue;
      if (left_[o] != kUnlimited) --left_[o];
      for (const Content& content : contents_[o]) {
        if (content.carried[static_cast<std::size_t>(first - missing.begin())] > 0)
          try_content(o, content, missing, best);
      }
      if (left_[o] != kUnlimited) ++left_[o];
    }
    return known_[key] = best;
  }

  void try_content(std::size_t offer, const Content& content, Missing missing, std::optional<Completion>& best) {
    for (std::size_t d = 0; d < missing.size(); ++d) missing[d] -= std::min(missing[d], content.carried[d]);
    const std::optional<Completion> rest = complete(missing);
    if (!rest) return;
    const std::int64_t cost = rest->cost + price_of(problem_.offers[offer]);
    if (best && cost > best->cost) return;
    if (!best || cost < best->cost) best = Completion{.cost = cost, .slices_by_free = {}};
    for (const auto& [free, slices] : rest->slices_by_free) {
      const auto [entry, is_new] = best->slices_by_free.emplace(std::max(free, content.free), slices + content.slices);
      if (!is_new) entry->second = std::min(entry->second, slices + content.slices);
    }
  }

  const PackingProblem& problem_;
  std::vector<std::int64_t> wanted_;
  std::vector<std::vector<Content>> contents_;  ///< by offer
  std::vector<std::int64_t> left_;              ///< by offer: GPUs still available
  std::map<std::pair<Missing, std::vector<std::int64_t>>, std::optional<Completion>> known_;
};

/// The cost in GPUs, or in micro-USD per hour.
inline std::int64_t cost_of(const PackingProblem& problem, const Packing& packing) {
  return std::accumulate(packing.gpu_offers.begin(), packing.gpu_offers.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::uint32_t offer) { return sum + price_of(problem.offers[offer]); });
}

/// The slices of each GPU.
inline std::vector<mig::State> states_on(const Packing& packing) {
  std::vector<mig::State> states(packing.gpu_offers.size());
  for (const PackedSlice& packed : packing.slices) {
    states[packed.slice.gpu.index].push_back({packed.slice.start, packed.slice.profile});
  }
  return states;
}

inline FreeSize largest_free_of(const PackingProblem& problem, const Packing& packing) {
  FreeSize largest;
  const std::vector<mig::State> states = states_on(packing);
  for (std::size_t gpu = 0; gpu < states.size(); ++gpu) {
    largest = std::max(largest, largest_free(problem.offers[packing.gpu_offers[gpu]].model, states[gpu]));
  }
  return largest;
}

}  // namespace berth::packing::reference
