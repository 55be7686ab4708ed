/// Large fleets for tests and benchmarks.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "planner/window/testing/problems.h"

namespace berth::planner::testing {

/// Loads like those of a forecaster: quantiles around a mean that rises or falls by up to 20 % over the window, with a
/// spread that grows with the lead.
inline void forecast_loads(Rng rng, Problem& problem) {
  for (ServiceTerms& service : problem.services) {
    const double mean =
        std::accumulate(service.loads.begin(), service.loads.end(), 0.0) / static_cast<double>(service.loads.size());
    const double trend = rng.unit() * 0.4 - 0.2;
    const double spread = 0.1 + 0.3 * rng.unit();
    for (const SlotIndex slot : Indices<SlotIndex>(problem.slots + 1)) {
      const double share = static_cast<double>(slot) / problem.slots;
      for (int sample = 0; sample < problem.samples; ++sample) {
        const double side = (2.0 * sample + 1) / problem.samples - 1;  // from -1 to 1
        const double load = mean * (1 + trend * (share - 0.5)) * (1 + side * spread * (0.3 + 0.7 * std::sqrt(share)));
        service.loads[static_cast<std::size_t>(slot) * static_cast<std::size_t>(problem.samples) +
                      static_cast<std::size_t>(sample)] = load;
      }
    }
  }
}

/// GPUs of three models, one of which cannot be partitioned, from random legal layouts; loads 60 to 120 % of what they
/// can serve; each service has a floor, 20 to 80 % of its mean load, less where floors would need more than 80 % of the
/// GPUs.
[[nodiscard]] inline Problem large_fleet(Rng rng, int gpus, int services, int retraining_percent = 0,
                                         int start_seconds_min = 5, int start_seconds_max = 5) {
  Shape shape;
  const Rng models = rng.split("models");
  for (int i = 0; i < gpus; ++i) {
    Rng draw = models.split("gpu", static_cast<std::uint64_t>(i));
    shape.gpus.emplace_back(std::vector<const char*>{"A100-80GB", "A30-24GB", "L4-24GB"}[draw.below(3)]);
  }
  shape.services = services;
  shape.slots = 200;
  shape.samples = 5;
  shape.start_seconds_min = start_seconds_min;
  shape.start_seconds_max = start_seconds_max;
  shape.retraining_percent = retraining_percent;
  Problem problem = ProblemGenerator(shape, rng.split("problem")).draw();
  forecast_loads(rng.split("loads"), problem);
  Rng floors = rng.split("floors");
  double needed = 0;
  for (const ServiceIndex i : indices_of<ServiceIndex>(problem.services)) {
    ServiceTerms& service = problem.services[i];
    const double mean =
        std::accumulate(service.loads.begin(), service.loads.end(), 0.0) / static_cast<double>(service.loads.size());
    service.floor_rate = mean * (0.2 + 0.6 * floors.unit());
    double whole = 0;
    for (const GpuTerms& gpu : problem.gpus) {
      const auto& rates = problem.models[static_cast<std::size_t>(gpu.model)].rates;
      double best = 0;
      for (const auto& kind : rates) best = std::max(best, kind[i].requests_per_second.front());
      whole += best;
    }
    needed += service.floor_rate / std::max(whole, 1e-9);
  }
  for (ServiceTerms& service : problem.services) service.floor_rate *= std::min(1.0, 0.8 / needed);
  return problem;
}

}  // namespace berth::planner::testing
