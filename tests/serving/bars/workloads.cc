#include "workloads.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include "base/core/rng.h"

namespace berth::serving_bars {
namespace {

using serving::ModelIndex;
using serving::Request;
using serving::TenantIndex;

/// In (0, 1].
double unit_above_zero(Rng& rng) { return 1 - rng.unit(); }

double normal_draw(Rng& rng) {
  return std::sqrt(-2 * std::log(unit_above_zero(rng))) * std::cos(2 * std::numbers::pi * rng.unit());
}

/// Gamma with mean `shape` and scale 1 (Marsaglia and Tsang 2000).
double gamma_draw(Rng& rng, double shape) {
  const double boost = shape < 1 ? std::pow(unit_above_zero(rng), 1 / shape) : 1;
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal_draw(rng);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(unit_above_zero(rng)) < 0.5 * x * x + d - d * v + d * std::log(v)) return boost * d * v;
  }
}

void number(std::vector<Request>& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].number = static_cast<std::int64_t>(i);
}

}  // namespace

std::vector<Request> random_requests(const Case& of_case, double per_second, int count, std::uint64_t seed) {
  const Rng root(seed);
  const double shape = 1 / (of_case.cv * of_case.cv);
  const double scale = of_case.models / (per_second * shape);
  std::vector<Rng> draws;
  std::vector<double> next;
  for (int model = 0; model < of_case.models; ++model) {
    draws.push_back(root.split("arrivals", static_cast<std::uint64_t>(model)));
    next.push_back(gamma_draw(draws.back(), shape) * scale);
  }
  std::vector<Request> requests;
  requests.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto model = static_cast<std::size_t>(std::ranges::min_element(next) - next.begin());
    requests.push_back({.number = i,
                        .model = ModelIndex(model),
                        .tenant = TenantIndex(model),
                        .arrival = Instant(static_cast<std::int64_t>(next[model] * 1e6)),
                        .target = Micros(of_case.target_ms * 1000)});
    next[model] += gamma_draw(draws[model], shape) * scale;
  }
  return requests;
}

std::vector<Request> merged(const std::vector<Request>& a, const std::vector<Request>& b) {
  std::vector<Request> all;
  std::ranges::merge(a, b, std::back_inserter(all), {}, &Request::arrival, &Request::arrival);
  number(all);
  return all;
}

Popularity random_popularity(int count, int redraw_each, std::uint64_t seed) {
  constexpr int kModels = 100;
  constexpr double kPerSecond = 4;
  Rng rng(seed);
  Popularity made;
  for (int model = 0; model < kModels; ++model) {
    const auto bytes = static_cast<std::int64_t>(5e6 * std::pow(8.0, rng.unit()));
    const auto load_us = static_cast<std::int64_t>(std::ceil(20'000 + static_cast<double>(bytes) / 500));
    made.models.push_back({.name = "m" + std::to_string(1000 + model),
                           .bytes = bytes,
                           .load = Micros(load_us),
                           .latency = bar_latency(64)});
    made.memory += bytes;
  }
  made.memory /= 10;
  std::vector<double> ranks_below;
  for (int rank = 1; rank <= kModels; ++rank) {
    ranks_below.push_back((ranks_below.empty() ? 0 : ranks_below.back()) + std::pow(rank, -0.9));
  }
  std::vector<int> model_of_rank(kModels);
  std::iota(model_of_rank.begin(), model_of_rank.end(), 0);
  double at = 0;
  for (int i = 0; i < count; ++i) {
    if (i == 0 || (redraw_each > 0 && i % redraw_each == 0)) {
      for (std::size_t k = kModels - 1; k > 0; --k) std::swap(model_of_rank[k], model_of_rank[rng.below(k + 1)]);
    }
    at -= std::log(unit_above_zero(rng)) / kPerSecond;
    const auto rank = std::ranges::lower_bound(ranks_below, rng.unit() * ranks_below.back()) - ranks_below.begin();
    made.requests.push_back({.number = i,
                             .model = ModelIndex(model_of_rank[static_cast<std::size_t>(rank)]),
                             .arrival = Instant(static_cast<std::int64_t>(at * 1e6)),
                             .target = Micros::seconds(30)});
  }
  return made;
}

serving::LatencyTable bar_latency(serving::RowCount rows_max) {
  std::vector<Micros> by_rows;
  for (serving::RowCount rows = 1; rows <= rows_max; ++rows) {
    by_rows.emplace_back(6125 + std::llround(66'339.0 * (rows - 1) / 63));
  }
  return serving::LatencyTable(std::move(by_rows));
}

}  // namespace berth::serving_bars
