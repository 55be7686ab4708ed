/// Tiny random cases for the tests of the bound's parts: their times, services, requests and prices.
///
/// Times lie on a grid of a quarter of a second, so that coincidences to the microsecond (a due time at the end of the
/// run, a model that becomes fresh when a request is answered) are frequent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "base/core/rng.h"
#include "domain/values/service.h"
#include "planner/goodput_bound/detail/blocks.h"
#include "planner/goodput_bound/detail/demand.h"

namespace berth::bound::testing {

using detail::Blocks;

inline constexpr std::int64_t kGridMicros = kMicrosPerSecond / 4;

/// Larger than the error of sums of so few doubles.
inline constexpr double kError = 1e-9;

/// Uniform in [low, end).
inline std::int64_t drawn(Rng& rng, std::int64_t low, std::int64_t end) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(end - low)));
}
inline bool happens(Rng& rng, int percent) { return drawn(rng, 0, 100) < percent; }

/// One to `seconds_max` seconds in blocks of a quarter of a second to one and a half, which need not divide them.
inline Blocks draw_blocks(Rng& rng, std::int64_t seconds_max) {
  return {.end_us = drawn(rng, 1, seconds_max + 1) * kMicrosPerSecond, .block_us = drawn(rng, 1, 7) * kGridMicros};
}

/// A service of this many variants beyond the model itself, with accuracies in percent and a target on the grid or just
/// next to it. No table, no retraining.
inline ServiceSpec draw_service(Rng& rng, Blocks blocks, int variants) {
  const auto accuracy = [&] {
    return Accuracy{.before_micro = drawn(rng, 1, 11) * 100'000, .after_micro = drawn(rng, 1, 11) * 100'000};
  };
  ServiceSpec service;
  service.name = service.tenant = "s";
  service.target = Micros(drawn(rng, 1, 6) * kGridMicros + drawn(rng, -1, 2));
  service.target_ms = Decimal(service.target.count(), 1000);
  service.arrivals.seconds = blocks.end_us / kMicrosPerSecond;
  service.accuracy = accuracy();
  for (int i = 0; i < variants; ++i) service.variants.push_back({.name = "v", .table = {}, .accuracy = accuracy()});
  return service;
}

/// Ascending: half of them on the grid, with the microsecond before and after it.
inline std::vector<std::int64_t> draw_requests(Rng& rng, Blocks blocks, std::int64_t count_max) {
  std::vector<std::int64_t> at_us(static_cast<std::size_t>(drawn(rng, 0, count_max + 1)));
  for (std::int64_t& at : at_us) {
    at = happens(rng, 50) ? drawn(rng, 0, blocks.end_us)
                          : drawn(rng, 0, blocks.end_us / kGridMicros) * kGridMicros + drawn(rng, -1, 2);
    at = std::clamp<std::int64_t>(at, 0, blocks.end_us - 1);
  }
  std::ranges::sort(at_us);
  return at_us;
}

inline std::int64_t count_in(const std::vector<std::int64_t>& at_us, std::int64_t second) {
  return std::ranges::count_if(at_us, [&](std::int64_t at) { return at / kMicrosPerSecond == second; });
}

/// Sets `offsets` to those of the requests of a second, from its beginning.
inline void offsets_in(const std::vector<std::int64_t>& at_us, std::int64_t second,
                       std::vector<std::uint32_t>& offsets) {
  offsets.clear();
  for (const std::int64_t at : at_us) {
    if (at / kMicrosPerSecond == second) offsets.push_back(static_cast<std::uint32_t>(at % kMicrosPerSecond));
  }
}

/// The input of a demand for these requests, known to the microsecond, with the goods `first_good` .. for the variants.
/// Keeps a reference to `service`.
inline detail::DemandInput input_of(const ServiceSpec& service, Blocks blocks, const std::vector<std::int64_t>& at_us,
                                    std::uint32_t first_good = 0) {
  detail::DemandInput input{
      .service = service,
      .blocks = blocks,
      .count = [at_us](std::int64_t second) { return count_in(at_us, second); },
      .offsets = [at_us](std::int64_t second, std::vector<std::uint32_t>& out) { offsets_in(at_us, second, out); },
      .is_patient = false,
      .serving_goods = {},
      .serving_variants = {},
      .retraining_good = std::nullopt};
  for (int variant = 0; variant <= static_cast<int>(service.variants.size()); ++variant) {
    input.serving_goods.push_back(first_good + static_cast<std::uint32_t>(variant));
    input.serving_variants.push_back(variant);
  }
  return input;
}

/// Prices from 0 to `most`, a fifth of them 0.
inline detail::Rows draw_prices(Rng& rng, std::size_t goods, Blocks blocks, double most) {
  detail::Rows prices(goods, std::vector<double>(static_cast<std::size_t>(blocks.count())));
  for (std::vector<double>& row : prices) {
    for (double& price : row) price = happens(rng, 20) ? 0 : most * rng.unit();
  }
  return prices;
}

/// Rows of zeros as long as those given.
inline detail::Rows zeros_like(const detail::Rows& rows) {
  detail::Rows zeros;
  for (const std::vector<double>& row : rows) zeros.emplace_back(row.size());
  return zeros;
}

/// The sum of the products of two tables of equal shape.
inline double product(const detail::Rows& a, const detail::Rows& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) sum += a[i][j] * b[i][j];
  }
  return sum;
}

inline detail::Rows difference(detail::Rows a, const detail::Rows& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) a[i][j] -= b[i][j];
  }
  return a;
}

}  // namespace berth::bound::testing
