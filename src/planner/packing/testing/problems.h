/// Random small packing problems for tests: rates that are exact sums, latencies exactly at the limit, larger slices
/// that are slower, rates of 0, counts that do not suffice.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/rng.h"
#include "domain/mig/catalogue.h"
#include "domain/values/packing.h"
#include "planner/packing/testing/reference.h"

namespace berth::packing::reference {

/// Draws one problem from one seed: at most four demands, three offers, and rates from a plan of at most four GPUs.
class ProblemGenerator {
 public:
  explicit ProblemGenerator(std::uint64_t seed) : rng_(Rng(seed).split("problem")) {}

  [[nodiscard]] PackingProblem draw() {
    outlier_percent_ = chance(40) ? 25 : 4;
    draw_rules();
    draw_offers();
    draw_demands();
    for (const Demand& demand : problem_.demands) draw_table(demand);
    std::ranges::sort(problem_.tables, {}, &PerformanceTable::model);
    draw_rates();
    return problem_;
  }

 private:
  [[nodiscard]] int from(int low, int high) {
    const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    return low + static_cast<int>(rng_.below(span));
  }
  [[nodiscard]] bool chance(int percent) { return from(1, 100) <= percent; }

  void draw_rules() {
    static const std::array<Decimal, 3> factors = {Decimal(45, 100), Decimal(1, 2), Decimal(1)};
    static const std::array<Decimal, 4> headrooms = {Decimal(1), Decimal(2), Decimal(1, 2), Decimal(5, 4)};
    problem_.rules.slo_factor = factors[rng_.below(factors.size())];
    problem_.rules.headroom = chance(50) ? Decimal(1) : headrooms[rng_.below(headrooms.size())];
    problem_.rules.processes_max = from(1, 3);
    problem_.rules.keeps_tenants_apart = chance(25);
  }

  void draw_offers() {
    std::vector<const char*> names = {"A100-80GB", "A30-24GB", "H100-80GB", "RTX-PRO-6000-Blackwell-96GB",
                                      "T4-16GB",   "L4-24GB"};
    const int count = chance(50) ? 1 : from(2, 3);
    const bool is_priced = chance(count == 1 ? 10 : 80);
    for (int i = 0; i < count; ++i) {
      const std::size_t pick = chance(40) ? 0 : rng_.below(names.size());
      GpuOffer offer{.model = *mig::find_gpu_model(names[pick]), .count_max = {}, .micro_usd_per_hour = {}};
      names.erase(names.begin() + static_cast<std::ptrdiff_t>(pick));
      if (chance(15)) offer.count_max = from(0, 3);
      if (is_priced)
        offer.micro_usd_per_hour = chance(50) ? std::int64_t{500'000} * from(1, 5) : from(100'000, 4'000'000);
      problem_.offers.push_back(std::move(offer));
    }
  }

  void draw_demands() {
    const int count = from(1, 4);
    for (int i = 0; i < count; ++i) {
      Demand demand;
      const bool is_shared = i > 0 && chance(20);
      demand.model = is_shared ? problem_.demands.front().model : "model" + std::to_string(i);
      demand.tenant = is_shared ? "tenant" + std::to_string(i) : demand.model;
      if (!is_shared && chance(40)) demand.tenant = "tenant" + std::to_string(from(0, 1));
      demand.latency_ms = Decimal(20) * Decimal(from(1, 10));
      problem_.demands.push_back(std::move(demand));
    }
  }

  void draw_table(const Demand& demand) {
    if (problem_.table_of(demand.model) != nullptr) return;
    PerformanceTable table{.model = demand.model, .points = {}};
    const int base = from(8, 60);
    for (const GpuOffer& offer : problem_.offers) {
      for (const ProfileId profile : all_profiles(offer.model)) {
        if (chance(chance_of_rows(offer.model, profile))) draw_rows(demand, offer.model, profile, base, table);
      }
    }
    std::ranges::sort(table.points, {}, [](const PerformancePoint& point) {
      return std::tuple(point.gpu, point.profile, point.processes, point.batch);
    });
    problem_.tables.push_back(std::move(table));
    std::ranges::sort(problem_.tables, {}, &PerformanceTable::model);
  }

  static int chance_of_rows(const GpuModel& model, ProfileId profile) {
    if (!model.is_mig_capable()) return 95;
    if (profile.is_full()) return 10;
    return model.profiles[profile.index].is_plain() ? 80 : 8;
  }

  void draw_rows(const Demand& demand, const GpuModel& model, ProfileId profile, int base, PerformanceTable& table) {
    const int size = profile.is_full() ? 7 : model.profiles[profile.index].compute_slices;
    const Decimal limit = problem_.rules.slo_factor * demand.latency_ms;
    for (const int batch : {1, 4, 16}) {
      if (!chance(60)) continue;
      const int tenths = chance(outlier_percent_) ? from(50, 3000) : base * size * from(8, 12);
      table.points.push_back({.gpu = model.name,
                              .profile = profile_name(model, profile),
                              .batch = batch,
                              .processes = from(1, 4),
                              .requests_per_second = chance(60) ? Decimal(tenths / 10) : Decimal(tenths, 10),
                              .latency_ms = chance(15) ? limit : Decimal(from(1, 40))});
    }
  }

  /// The rates that the slices of up to four random GPUs can serve, exactly or nearly.
  void draw_rates() {
    std::vector<Decimal> sums(problem_.demands.size());
    for (int gpus = from(1, 4); gpus > 0; --gpus) add_random_gpu(sums);
    for (std::size_t d = 0; d < sums.size(); ++d) {
      Decimal rate = sums[d];
      if (rate.sign() == 0 && chance(80)) rate = Decimal(from(1, 100));
      if (chance(25)) rate = rate - Decimal(from(1, 10), 10);
      if (chance(15)) rate = rate + Decimal(from(1, 10), 10);
      if (rate.sign() < 0 || chance(5)) rate = Decimal(0);
      problem_.demands[d].requests_per_second = rate / problem_.rules.headroom;
    }
  }

  void add_random_gpu(std::vector<Decimal>& sums) {
    const GpuModel& model = problem_.offers[rng_.below(problem_.offers.size())].model;
    const std::map<Multiset, FreeSize>& multisets = multisets_of(problem_, model);
    if (multisets.empty()) return;
    const auto pick = std::next(multisets.begin(), static_cast<std::ptrdiff_t>(rng_.below(multisets.size())));
    for (const ProfileId profile : pick->first) {
      const std::size_t demand = rng_.below(sums.size());
      const PerformancePoint* row = best_row(problem_, problem_.demands[demand], model, profile);
      if (row != nullptr) sums[demand] += row->requests_per_second;
    }
  }

  Rng rng_;
  int outlier_percent_ = 0;  ///< percent of the rows whose throughput is independent of the slice's size
  PackingProblem problem_;
};

/// A problem as text, for the message of a test that failed.
inline std::string to_text(const PackingProblem& problem) {
  std::string text;
  for (const GpuOffer& offer : problem.offers) {
    text += "offer " + offer.model.name + " count " + (offer.count_max ? std::to_string(*offer.count_max) : "any") +
            " price " + (offer.micro_usd_per_hour ? std::to_string(*offer.micro_usd_per_hour) : "none") + "\n";
  }
  for (const Demand& demand : problem.demands) {
    text += "demand " + demand.model + " tenant " + demand.tenant + " rate " + demand.requests_per_second.to_string() +
            " target " + demand.latency_ms.to_string() + "\n";
  }
  for (const PerformanceTable& table : problem.tables) {
    for (const PerformancePoint& point : table.points) {
      text += table.model + "," + point.gpu + "," + point.profile + "," + std::to_string(point.batch) + "," +
              std::to_string(point.processes) + "," + point.requests_per_second.to_string() + "," +
              point.latency_ms.to_string() + "\n";
    }
  }
  return text + "slo_factor " + problem.rules.slo_factor.to_string() + " headroom " +
         problem.rules.headroom.to_string() + " processes_max " + std::to_string(problem.rules.processes_max) +
         (problem.rules.keeps_tenants_apart ? " tenants apart\n" : "\n");
}

}  // namespace berth::packing::reference
