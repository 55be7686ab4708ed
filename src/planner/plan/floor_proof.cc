#include "planner/plan/floor_proof.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::planner {
namespace {

/// The tolerance of a floor, and the margin of a proof for rounding, as shares.
constexpr double kSlack = 1e-6;
constexpr int kRounds = 60;
constexpr double kStep = 0.3;  ///< of the logarithm of a weight, for a service that gets nothing

std::size_t nth(int index) { return static_cast<std::size_t>(index); }

/// Requests per second of each service.
using Amounts = std::vector<double>;

/// Services that may share a GPU: {a service that must be alone, 0}, or {kNoService, a trust domain}.
using Group = std::pair<ServiceIndex, int>;

/// The most that a GPU can supply, by weights.
struct GpuSupply {
  double value = 0;
  Amounts given;
};

class ShortageProof {
 public:
  explicit ShortageProof(const Problem& problem) : problem_(problem) {
    for (const ServiceTerms& service : problem.services) {
      const double floor = has_rate_floor(service) ? service.floor_rate : 0;
      needed_.push_back(std::max(0.0, floor * (1 - kSlack) - service.outside_floor_rate));
    }
    for (const ServiceIndex service : indices_of<ServiceIndex>(problem.services)) {
      const ServiceTerms& terms = problem.services[nth(service)];
      groups_.insert(terms.is_alone_on_gpu ? Group(service, 0) : Group(kNoService, terms.trust_domain));
    }
  }

  bool run() {
    if (problem_.floors_from >= problem_.slots) return false;
    Amounts weights(needed_.size());
    for (const ServiceIndex service : indices_of<ServiceIndex>(needed_)) {
      if (needed_[service] <= 0) continue;
      Amounts alone(needed_.size());
      alone[service] = 1 / needed_[service];
      if (is_proof(alone)) return true;
      weights[service] = 1 / needed_[service];
    }
    for (int round = 0; round < kRounds; ++round) {
      if (is_proof(weights)) return true;
      for (const ServiceIndex service : indices_of<ServiceIndex>(needed_)) {
        if (needed_[service] <= 0) continue;
        const double missing = 1 - given_[service] / needed_[service];
        weights[service] *= std::exp(kStep * std::max(-1.0, missing));
      }
    }
    return false;
  }

 private:
  /// Computes and keeps the best supplies. Returns whether they prove a shortage.
  bool is_proof(const Amounts& weights) {
    given_.assign(needed_.size(), 0);
    double most = 0;
    std::map<std::pair<ModelIndex, std::vector<std::pair<SiteIndex, ServiceIndex>>>, GpuSupply>
        changed;  // by model and pins
    for (const GpuTerms& gpu : problem_.gpus) {
      std::pair<ModelIndex, std::vector<std::pair<SiteIndex, ServiceIndex>>> key{gpu.model, {}};
      for (const PinnedSite& pin : gpu.pins) key.second.emplace_back(pin.site, pin.service);
      const auto [known, is_new] = changed.try_emplace(std::move(key));
      if (is_new) known->second = best_change(gpu, weights);
      const GpuSupply standing = standing_on(gpu, weights);
      const GpuSupply& best = standing.value > known->second.value ? standing : known->second;
      most += best.value;
      for (const ServiceIndex service : indices_of<ServiceIndex>(given_)) given_[service] += best.given[service];
    }
    double needed = 0;
    for (const ServiceIndex service : indices_of<ServiceIndex>(needed_)) needed += weights[service] * needed_[service];
    return most < needed * (1 - kSlack);
  }

  [[nodiscard]] GpuSupply standing_on(const GpuTerms& gpu, const Amounts& weights) const {
    GpuSupply supply{.value = 0, .given = Amounts(needed_.size())};
    const ModelTerms& model = problem_.models[nth(gpu.model)];
    for (const auto& [piece, ready_in] : gpu.standing) {
      if (piece.service == kNoService || piece.use == kRetraining) continue;
      const double rate =
          model.rates[nth(model.sites[nth(piece.site)].kind)][nth(piece.service)].requests_per_second[nth(piece.use)];
      supply.given[nth(piece.service)] += rate;
      supply.value += weights[nth(piece.service)] * rate;
    }
    return supply;
  }

  [[nodiscard]] bool is_in(const Group& group, ServiceIndex service) const {
    const ServiceTerms& terms = problem_.services[nth(service)];
    return group.first >= 0 ? service == group.first : !terms.is_alone_on_gpu && terms.trust_domain == group.second;
  }

  /// The best supply of a GPU that changes, over the groups that may share one.
  [[nodiscard]] GpuSupply best_change(const GpuTerms& gpu, const Amounts& weights) const {
    GpuSupply best{.value = 0, .given = Amounts(needed_.size())};
    for (const Group& group : groups_) {
      const auto is_other = [&](const PinnedSite& pin) { return !is_in(group, pin.service); };
      if (std::ranges::any_of(gpu.pins, is_other)) continue;
      GpuSupply supply = best_of_group(gpu, weights, group);
      if (supply.value > best.value) best = std::move(supply);
    }
    return best;
  }

  /// The value of a site to the service that makes the most of it.
  struct BestUse {
    double value = 0;
    double rate = 0;
    ServiceIndex service;
  };

  [[nodiscard]] GpuSupply best_of_group(const GpuTerms& gpu, const Amounts& weights, const Group& group) const {
    const ModelTerms& model = problem_.models[nth(gpu.model)];
    std::vector<BestUse> uses(model.sites.size());
    std::uint64_t free = model.sites.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << model.sites.size()) - 1;
    for (const SiteIndex site : indices_of<SiteIndex>(uses)) {
      const auto pin = std::ranges::find(gpu.pins, site, &PinnedSite::site);
      for (const ServiceIndex service : indices_of<ServiceIndex>(needed_)) {
        if (!is_in(group, service) || (pin != gpu.pins.end() && pin->service != service)) continue;
        const auto& rates = model.rates[nth(model.sites[site].kind)][nth(service)].requests_per_second;
        const double rate = rates.empty() ? 0 : std::ranges::max(rates);
        if (weights[nth(service)] * rate <= uses[site].value) continue;
        uses[site] = {.value = weights[nth(service)] * rate, .rate = rate, .service = service};
      }
    }
    for (const PinnedSite& pin : gpu.pins) {
      free &= ~model.sites[nth(pin.site)].clashes | (std::uint64_t{1} << pin.site);
    }
    std::unordered_map<std::uint64_t, double> known;
    GpuSupply supply{.value = best_packing(model, uses, free, known), .given = Amounts(needed_.size())};
    while (free != 0) {  // recovers the choice behind the best value
      const SiteIndex site(std::countr_zero(free));
      const std::uint64_t without = free & ~(std::uint64_t{1} << site);
      const std::uint64_t with = free & ~model.sites[site].clashes;
      const double value = best_packing(model, uses, free, known);
      const bool takes = best_packing(model, uses, without, known) < value;
      if (takes) supply.given[nth(uses[site].service)] += uses[site].rate;
      free = takes ? with : without;
    }
    return supply;
  }

  /// The largest sum of uses on free sites that do not clash.
  static double best_packing(const ModelTerms& model, const std::vector<BestUse>& uses, std::uint64_t free,
                             std::unordered_map<std::uint64_t, double>& known) {
    if (free == 0) return 0;
    if (const auto found = known.find(free); found != known.end()) return found->second;
    const SiteIndex site(std::countr_zero(free));
    const double without = best_packing(model, uses, free & ~(std::uint64_t{1} << site), known);
    const double with = uses[site].value + best_packing(model, uses, free & ~model.sites[site].clashes, known);
    return known[free] = std::max(with, without);
  }

  const Problem& problem_;
  Amounts needed_;
  std::set<Group> groups_;
  Amounts given_;
};

}  // namespace

bool is_floor_shortage_proven(const Problem& problem) { return ShortageProof(problem).run(); }

}  // namespace berth::planner
