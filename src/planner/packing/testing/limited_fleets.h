/// Random fleets for tests, with as many GPUs of each model as a known plan takes: there is a plan, and hardly a better
/// one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "domain/values/packing.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing::reference {

/// Draws one problem from one seed: 2 to 5 offers, 2 to 4 tenants that are mostly kept apart, up to 11 demands and 30
/// GPUs.
class LimitedFleet {
 public:
  explicit LimitedFleet(std::uint64_t seed) : rng_(Rng(seed).split("limited fleet")) {
    draw_offers();
    draw_demands();
    draw_plan();
  }

  [[nodiscard]] const PackingProblem& problem() const { return problem_; }
  /// The cost of the plan from which limits and rates were taken.
  [[nodiscard]] std::int64_t cost() const { return cost_; }

 private:
  [[nodiscard]] std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

  void draw_offers() {
    std::vector<const char*> names = {"A100-80GB", "A30-24GB", "H100-80GB", "T4-16GB", "L4-24GB", "V100-16GB"};
    for (std::int64_t i = from(2, 5); i > 0; --i) {
      const auto pick = static_cast<std::ptrdiff_t>(rng_.below(names.size()));
      problem_.offers.push_back({.model = *mig::find_gpu_model(names[static_cast<std::size_t>(pick)]),
                                 .count_max = 0,
                                 .micro_usd_per_hour = 100'000 * from(3, 80)});
      names.erase(names.begin() + pick);
    }
    problem_.rules.keeps_tenants_apart = from(0, 3) > 0;
  }

  void draw_demands() {
    tenant_count_ = from(2, 4);
    const std::int64_t count = from(tenant_count_, 11);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tenant = i < tenant_count_ ? i : from(0, tenant_count_ - 1);
      const std::string model = "model" + std::to_string(i);
      problem_.demands.push_back({model, "tenant" + std::to_string(tenant), Decimal(0), Decimal(100)});
      problem_.tables.push_back({.model = model, .points = {}});
      for (const GpuOffer& offer : problem_.offers) draw_points(offer.model, from(5, 40), problem_.tables.back());
    }
  }

  /// Points roughly proportional to the slice's size, on whole GPUs or on plain profiles.
  void draw_points(const GpuModel& model, std::int64_t base, PerformanceTable& table) {
    for (const ProfileId profile : all_profiles(model)) {
      if (profile.is_full() == model.is_mig_capable()) continue;
      if (!profile.is_full() && !model.profiles[profile.index].is_plain()) continue;
      const std::int64_t size = profile.is_full() ? 3 : model.profiles[profile.index].compute_slices;
      if (from(0, 9) == 0) continue;
      table.points.push_back({.gpu = model.name,
                              .profile = profile_name(model, profile),
                              .batch = 1,
                              .processes = 1,
                              .requests_per_second = Decimal(base * size * from(80, 120), 100),
                              .latency_ms = Decimal(10)});
    }
  }

  /// GPUs for one tenant each, and their load.
  void draw_plan() {
    std::vector<Decimal> sums(problem_.demands.size());
    for (std::int64_t gpu = from(tenant_count_, 30); gpu > 0; --gpu) {
      const auto offer = static_cast<std::size_t>(rng_.below(problem_.offers.size()));
      const std::string tenant = "tenant" + std::to_string(gpu % tenant_count_);
      if (!fill(problem_.offers[offer].model, tenant, sums)) continue;
      ++*problem_.offers[offer].count_max;
      cost_ += *problem_.offers[offer].micro_usd_per_hour;
    }
    for (std::size_t d = 0; d < sums.size(); ++d) problem_.demands[d].requests_per_second = sums[d];
  }

  bool fill(const GpuModel& model, const std::string& tenant, std::vector<Decimal>& sums) {
    const auto& multisets = multisets_of(problem_, model);
    if (multisets.empty()) return false;
    // The last ones have the most slices.
    const auto back = static_cast<std::ptrdiff_t>(rng_.below(std::min<std::size_t>(multisets.size(), 12)));
    bool is_used = false;
    for (const ProfileId profile : std::prev(multisets.end(), back + 1)->first) {
      const auto first = static_cast<std::size_t>(rng_.below(sums.size()));
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::size_t d = (first + i) % sums.size();
        const PerformancePoint* row = best_row(problem_, problem_.demands[d], model, profile);
        if (row == nullptr || problem_.demands[d].tenant != tenant) continue;
        sums[d] += row->requests_per_second;
        is_used = true;
        break;
      }
    }
    return is_used;
  }

  Rng rng_;
  PackingProblem problem_;
  std::int64_t tenant_count_ = 0;
  std::int64_t cost_ = 0;
};

}  // namespace berth::packing::reference
