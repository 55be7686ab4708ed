/// A small problem with a plan, for the tests of tables, JSON and pages of plans.
#pragma once

#include "domain/mig/catalogue.h"
#include "domain/values/packing.h"
#include "planner/packing/pack.h"
#include "sim/study/packing_replay.h"

namespace berth::cli::sample {

inline Decimal decimal(const char* text) { return Decimal::parse(text).value(); }

inline Slice slice_on(const PackingProblem& problem, const Packing& packing, std::uint32_t gpu, const char* profile,
                      int start) {
  const GpuModel& model = problem.offers[packing.gpu_offers[gpu]].model;
  return {GpuId{gpu}, start, mig::find_profile(model, profile).value()};
}

/// "bert" of its own tenant, "resnet" of "shop", and "idle", whose rate is 0.
inline PackingProblem problem(bool is_priced) {
  PackingProblem problem;
  const auto offer = [&](const char* name, std::int64_t price) {
    problem.offers.push_back({.model = mig::find_gpu_model(name).value(),
                              .count_max = std::nullopt,
                              .micro_usd_per_hour = is_priced ? std::optional(price) : std::nullopt});
  };
  offer("A30", 500'000);
  if (is_priced) offer("T4", 350'000);
  problem.demands = {{"bert", "bert", decimal("150.125"), Decimal(200)},
                     {"resnet", "shop", Decimal(290), decimal("99.5")},
                     {"idle", "idle", Decimal(0), Decimal(10)}};
  return problem;
}

/// Two GPUs: an A30 with two 1g for bert and 2g for resnet; the other is a whole T4 for resnet, or an A30 with 1g for
/// bert.
inline packing::PackResult result(const PackingProblem& problem) {
  const bool is_priced = problem.offers.size() > 1;
  packing::PackResult result;
  Packing& packing = result.packing;
  packing.gpu_offers = {0, is_priced ? 1U : 0U};
  const auto on = [&](std::uint32_t gpu, const char* profile, int start) {
    return slice_on(problem, packing, gpu, profile, start);
  };
  packing.slices = {{on(0, "1g.6gb", 0), 0, 4, 1, decimal("75.0625")},
                    {on(0, "1g.6gb", 1), 0, 4, 1, decimal("75.0625")},
                    {on(0, "2g.12gb", 2), 1, 8, 2, Decimal(300)}};
  if (is_priced) {
    packing.slices.push_back({on(1, "full", 0), 1, 8, 1, decimal("0.1234567890123456789")});
  } else {
    packing.slices.push_back({on(1, "1g.6gb", 0), 0, 4, 1, decimal("75.0625")});
    result.unused = {on(1, "2g.12gb", 2), on(1, "1g.6gb", 1)};
    result.score.largest_free = result.unused.front();
  }
  result.score.gpus = 2;
  result.score.slices = 4;
  if (is_priced) result.score.micro_usd_per_hour = 850'000;
  result.bound = is_priced ? 850'000 : 1;
  result.is_proven = is_priced;
  result.is_largest_free_proven = is_priced;
  result.nodes = 12345;
  return result;
}

inline study::PackingReplay replay() {
  study::PackingReplay replay{.seconds = 600, .seeds = {1, 2, 3}, .demands = {}};
  replay.demands.resize(3);
  replay.demands[0] = {.load = 0.5, .requests = 1000, .in_time = 1000, .slo_attainment = 1.0, .latency_p99_ms = 80.25};
  replay.demands[1] = {.load = 0.875, .requests = 1000, .in_time = 899, .slo_attainment = 0.899, .latency_p99_ms = 99};
  return replay;
}

}  // namespace berth::cli::sample
