/// Reference solvers of small packing problems, for tests: an exhaustive one, a simple one, an integer model. They know
/// the problem's rows and the rules of MIG (`mig::for_each_state`), and share nothing with the search of `pack`.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ensure.h"
#include "domain/packing.h"
#include "domain/scenario.h"
#include "mig/geometry.h"
#include "solver/linear.h"

namespace berth::capacity::reference {

/// How large a free slice is: SMs, then length. Nothing free: zeros.
struct FreeSize {
  int sms = 0;
  int length = 0;
  friend auto operator<=>(const FreeSize&, const FreeSize&) = default;
};

/// The best plan, in the order in which plans are compared.
struct Optimum {
  std::int64_t cost = 0;  ///< GPUs, or micro-USD an hour
  FreeSize largest_free;
  std::int64_t slices = 0;
  friend bool operator==(const Optimum&, const Optimum&) = default;
};

/// Profiles on one GPU, ascending, without places.
using Multiset = std::vector<ProfileId>;

inline bool is_usable(const PackingProblem& problem, const Demand& demand, const PerformancePoint& point) {
  return point.processes <= problem.rules.processes_max &&
         point.latency_ms < problem.rules.slo_factor * demand.latency_ms;
}

/// The usable row with most throughput; ties: smaller batch, then fewer processes.
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

/// Every multiset of these profiles that can stand on one GPU, with the largest slice that can be left free beside it.
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

/// The same, kept between calls: the enumeration takes most of the time.
inline const std::map<Multiset, FreeSize>& multisets_of(const PackingProblem& problem, const GpuModel& model) {
  static std::map<std::pair<std::string, std::vector<ProfileId>>, std::map<Multiset, FreeSize>> known;
  const auto key = std::pair(model.name, profiles_used(problem, model));
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, enumerate_multisets(model, key.second)).first->second;
}

/// What one GPU can do: how much of each demand it carries, in millionths, up to what is wanted.
struct Content {
  std::vector<std::int64_t> carried;
  FreeSize free;
  std::int64_t slices = 0;

  [[nodiscard]] bool is_as_good_as(const Content& other) const {
    if (free < other.free || slices > other.slices) return false;
    return std::ranges::equal(carried, other.carried, std::ranges::greater_equal{});
  }
};

/// Tries every way to get the demands served, GPU by GPU. Exact; time and memory grow with the GPUs needed.
///
/// A plan is a sequence of GPU contents; each next one serves the first demand that still misses something, which some
/// GPU of every plan does. What is still missing is the state; contents that another one beats in every respect are
/// left out. With a price of 0 only the cost is exact.
class Exhaustive {
 public:
  explicit Exhaustive(const PackingProblem& problem) : problem_(problem) {
    for (const Demand& demand : problem.demands) wanted_.push_back(in_millionths(rate_wanted(problem, demand)));
    for (const GpuOffer& offer : problem.offers) {
      contents_.push_back(contents_of(offer.model));
      left_.push_back(offer.count_max.value_or(kUnlimited));
    }
  }

  /// The optimum, or nothing: the offers cannot carry the demands. Requires: !has_given_up() afterwards.
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

  /// The cheapest way to serve what is missing: for each size of the largest free slice the fewest slices.
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
  std::vector<std::int64_t> left_;              ///< by offer: GPUs that may still be taken
  std::map<std::pair<Missing, std::vector<std::int64_t>>, std::optional<Completion>> known_;
};

/// First fit: for each demand in turn the slice with most throughput per SM, on the first GPU with room, until the rate
/// is met; then surplus slices go. Nothing: it found no plan, which proves nothing.
class FirstFit {
 public:
  explicit FirstFit(const PackingProblem& problem) : problem_(problem) {}

  [[nodiscard]] std::optional<Packing> solve() {
    for (std::uint32_t d = 0; d < problem_.demands.size(); ++d) {
      Decimal missing = rate_wanted(problem_, problem_.demands[d]);
      while (missing.sign() > 0) {
        if (!place_best(d)) return std::nullopt;
        missing = missing - slices_.back().requests_per_second;
      }
    }
    drop_surplus();
    return numbered();
  }

 private:
  struct Choice {
    std::uint32_t offer = 0;
    ProfileId profile;
    const PerformancePoint* row = nullptr;
    double score = 0;
  };

  [[nodiscard]] std::vector<Choice> choices_for(const Demand& demand) const {
    std::vector<Choice> choices;
    for (std::uint32_t o = 0; o < problem_.offers.size(); ++o) {
      const GpuModel& model = problem_.offers[o].model;
      for (const ProfileId profile : all_profiles(model)) {
        const PerformancePoint* row = best_row(problem_, demand, model, profile);
        if (row == nullptr) continue;
        choices.push_back({o, profile, row, row->requests_per_second.to_double() / profile_sms(model, profile)});
      }
    }
    std::ranges::stable_sort(choices, std::ranges::greater{}, &Choice::score);
    return choices;
  }

  bool place_best(std::uint32_t demand) {
    return std::ranges::any_of(choices_for(problem_.demands[demand]),
                               [&](const Choice& choice) { return place(demand, choice); });
  }

  bool place(std::uint32_t demand, const Choice& choice) {
    for (std::uint32_t gpu = 0; gpu < offers_.size(); ++gpu) {
      if (offers_[gpu] == choice.offer && is_open_to(gpu, demand) && place_on(gpu, demand, choice)) return true;
    }
    const GpuOffer& offer = problem_.offers[choice.offer];
    if (offer.count_max && std::ranges::count(offers_, choice.offer) >= *offer.count_max) return false;
    offers_.push_back(choice.offer);
    return place_on(static_cast<std::uint32_t>(offers_.size() - 1), demand, choice);
  }

  [[nodiscard]] bool is_open_to(std::uint32_t gpu, std::uint32_t demand) const {
    return std::ranges::none_of(slices_, [&](const PackedSlice& other) {
      return other.slice.gpu.index == gpu && problem_.rules.keeps_tenants_apart &&
             problem_.demands[other.demand].tenant != problem_.demands[demand].tenant;
    });
  }

  bool place_on(std::uint32_t gpu, std::uint32_t demand, const Choice& choice) {
    const GpuModel& model = problem_.offers[choice.offer].model;
    mig::State state;
    for (const PackedSlice& other : slices_) {
      if (other.slice.gpu.index == gpu) state.push_back({other.slice.start, other.slice.profile});
    }
    const std::vector<int> starts =
        choice.profile.is_full() ? std::vector<int>{0} : model.profiles[choice.profile.index].starts;
    for (const int start : starts) {
      mig::State larger = state;
      larger.push_back({start, choice.profile});
      if (mig::find_clash(model, larger)) continue;
      slices_.push_back({.slice = {.gpu = {gpu}, .start = start, .profile = choice.profile},
                         .demand = demand,
                         .batch = choice.row->batch,
                         .processes = choice.row->processes,
                         .requests_per_second = choice.row->requests_per_second});
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_surplus(const PackedSlice& packed) const {
    Decimal rest = Decimal(0) - packed.requests_per_second;
    for (const PackedSlice& other : slices_) {
      if (other.demand == packed.demand) rest += other.requests_per_second;
    }
    return rest >= rate_wanted(problem_, problem_.demands[packed.demand]);
  }

  void drop_surplus() {
    for (std::size_t i = 0; i < slices_.size();) {
      if (is_surplus(slices_[i])) {
        slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  [[nodiscard]] Packing numbered() const {
    Packing packing{.gpu_offers = {}, .slices = slices_};
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (const PackedSlice& packed : slices_) numbers.emplace(packed.slice.gpu.index, 0);
    for (auto& [gpu, number] : numbers) {
      number = static_cast<std::uint32_t>(packing.gpu_offers.size());
      packing.gpu_offers.push_back(offers_[gpu]);
    }
    for (PackedSlice& packed : packing.slices) packed.slice.gpu.index = numbers.at(packed.slice.gpu.index);
    std::ranges::sort(packing.slices, {}, &PackedSlice::slice);
    return packing;
  }

  const PackingProblem& problem_;
  std::vector<std::uint32_t> offers_;
  std::vector<PackedSlice> slices_;
};

/// What an integer model looks for: the least cost; or, among plans of at most that cost which leave so large a slice
/// free on some GPU, the fewest slices.
struct IntegerGoal {
  std::optional<std::int64_t> cost_max;
  FreeSize free_min;
};

/// The problem as an integer model: columns for slices of each demand and kind, and for GPUs of each tenant and
/// multiset; rows for rates, kinds, counts, and what the goal demands. The least cost needs maximal multisets only.
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

  [[nodiscard]] solver::MipAnswer solve() const { return solver::solve_mip(model_, {.nodes_max = 100'000}); }

 private:
  /// Slices in use - slices cut, by profile of one offer and tenant.
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
      const double least = goal_.cost_max ? 0 : -solver::kInfinity;  // of a plan's score every slice that is cut counts
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
        const auto cut = std::ranges::count(multiset, profile);
        if (cut > 0) kind.entries.push_back({gpus, -static_cast<double>(cut)});
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

/// GPUs, or micro-USD an hour.
inline std::int64_t cost_of(const PackingProblem& problem, const Packing& packing) {
  return std::accumulate(packing.gpu_offers.begin(), packing.gpu_offers.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::uint32_t offer) { return sum + price_of(problem.offers[offer]); });
}

/// By GPU: what stands on it.
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

}  // namespace berth::capacity::reference
