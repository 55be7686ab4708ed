#include "planner/goodput_bound/goodput_bound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "planner/goodput_bound/detail/blocks.h"
#include "planner/goodput_bound/detail/crowds.h"
#include "planner/goodput_bound/detail/demand.h"
#include "planner/goodput_bound/detail/descent.h"
#include "planner/goodput_bound/detail/dual.h"
#include "planner/goodput_bound/detail/supply.h"

namespace berth::bound {
namespace {

using detail::Blocks;
using detail::Crowds;
using detail::Demand;
using detail::Supply;

constexpr int kSteps = 200;
/// Sums are doubles: the bound is raised by more than their rounding error.
constexpr double kMargin = 1e-9;
/// At fidelity `rates`, accuracies of several variants are averaged and rounded to millionths.
constexpr double kMarginByRates = 1e-6;
/// The maximum number of values (goods on kinds of slices, by block) of a run of one hour; a longer run gets more, by
/// the square root of its length.
constexpr double kNumbersOfAnHour = 130'000;
constexpr double kNumbersMax = 3'000'000;
/// A target is divided into that many bins to count requests that arrive close together, fewer if that takes too long.
constexpr int kBinsMax = 32;
constexpr int kBinsMin = 4;
constexpr double kBinWork = 3e8;

/// The most pairs of a good and a kind of slice.
double numbers_in_a_block(const Scenario& scenario) {
  double goods = 0;
  for (const ServiceSpec& service : scenario.services) {
    goods += static_cast<double>(service.variants.size()) + 1 + (service.retraining ? 1 : 0);
  }
  double kinds = 0;
  std::vector<std::string> seen;
  for (const FleetEntry& entry : scenario.fleet) {
    if (std::ranges::find(seen, entry.model.name) != seen.end()) continue;
    seen.push_back(entry.model.name);
    kinds += 1 + static_cast<double>(entry.model.profiles.size());
  }
  return goods * kinds;
}

Blocks choose_blocks(const Scenario& scenario) {
  constexpr std::array<std::int64_t, 15> kMillis = {
      100, 200, 500, 1000, 2000, 5000, 10'000, 20'000, 30'000, 60'000, 120'000, 300'000, 600'000, 1'800'000, 3'600'000};
  const auto seconds = static_cast<double>(scenario.simulated_seconds());
  const double hours = std::max(1.0, seconds / 3600);
  const double numbers_max = std::min(kNumbersMax, kNumbersOfAnHour * std::sqrt(hours));
  const double block_count_max = std::max(1.0, numbers_max / numbers_in_a_block(scenario));
  const std::int64_t end_us = scenario.simulated_seconds() * kMicrosPerSecond;
  for (const std::int64_t millis : kMillis) {
    const std::int64_t block_us = millis * 1000;
    if (static_cast<double>(end_us) / static_cast<double>(block_us) <= block_count_max) {
      return {.end_us = end_us, .block_us = block_us};
    }
  }
  return {.end_us = end_us,
          .block_us = static_cast<std::int64_t>(std::ceil(static_cast<double>(end_us) / block_count_max))};
}

/// The number of bins of a target: windows x bins over the run stay within the limit of work.
int bins_for(const Scenario& scenario, const ServiceSpec& service) {
  const double targets = static_cast<double>(scenario.simulated_seconds()) / service.target.to_seconds();
  const double work = kBinWork / static_cast<double>(scenario.services.size());
  return static_cast<int>(std::clamp(std::sqrt(work / targets), 1.0 * kBinsMin, 1.0 * kBinsMax));
}

/// Requests that arrive close together, by service. At fidelity `rates` capacity does not depend on them.
std::vector<Crowds> make_crowds(const Scenario& scenario, const KnownArrivals& arrivals, Blocks blocks) {
  std::vector<Crowds> crowds(scenario.services.size());
  if (!arrivals.offsets || scenario.fidelity == Fidelity::kRates) return crowds;
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    const ServiceSpec& service = scenario.services[index];
    const auto offsets = [&](std::int64_t second, std::vector<std::uint32_t>& out) {
      arrivals.offsets({index}, second, out);
    };
    crowds[index] = Crowds(blocks, std::min(scenario.simulated_seconds(), service.arrivals.seconds),
                           service.target.count(), bins_for(scenario, service), offsets);
  }
  return crowds;
}

std::vector<Demand> make_demands(const Scenario& scenario, const Supply& supply, const KnownArrivals& arrivals,
                                 Blocks blocks) {
  std::vector<Demand> demands;
  demands.reserve(scenario.services.size());
  for (std::uint32_t index = 0; index < scenario.services.size(); ++index) {
    detail::DemandInput input{.service = scenario.services[index],
                              .blocks = blocks,
                              .count = [&, index](std::int64_t second) { return arrivals.count({index}, second); },
                              .offsets = {},
                              .is_patient = scenario.fidelity == Fidelity::kRates,
                              .serving_goods = {},
                              .serving_variants = {},
                              .retraining_good = std::nullopt};
    if (arrivals.offsets) {
      input.offsets = [&, index](std::int64_t second, std::vector<std::uint32_t>& offsets) {
        arrivals.offsets({index}, second, offsets);
      };
    }
    for (std::uint32_t good = 0; good < supply.goods.size(); ++good) {
      const double most = supply.goods[good].per_second_max;
      if (supply.goods[good].service != index || most <= 0) continue;
      if (supply.goods[good].is_retraining()) {
        input.retraining_good = good;
        input.progress_per_second_max = most;
      } else {
        input.serving_goods.push_back(good);
        input.serving_variants.push_back(supply.goods[good].variant);
      }
    }
    demands.emplace_back(input);
  }
  return demands;
}

/// The greatest accuracy that any answer can have.
double accuracy_max(const Scenario& scenario) {
  std::int64_t most = 0;
  for (const ServiceSpec& service : scenario.services) {
    most = std::max({most, service.accuracy.before_micro, service.accuracy.after_micro});
    for (const Variant& variant : service.variants) {
      most = std::max({most, variant.accuracy.before_micro, variant.accuracy.after_micro});
    }
  }
  return static_cast<double>(most) / 1e6;
}

/// The weight of an answer in both goodputs, by service.
struct AnswerWeights {
  std::vector<double> by_request;
  std::vector<double> by_service;
};

/// Nothing: no service has a request.
std::optional<AnswerWeights> weights_of(const Scenario& scenario, const std::vector<Demand>& demands) {
  double requests = 0;
  double weights = 0;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    requests += demands[i].requests();
    if (demands[i].requests() > 0) weights += scenario.services[i].weight.to_double();
  }
  if (requests == 0) return std::nullopt;
  AnswerWeights result;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const double own = demands[i].requests();
    result.by_request.push_back(own > 0 ? 1 / requests : 0);
    result.by_service.push_back(own > 0 ? scenario.services[i].weight.to_double() / weights / own : 0);
  }
  return result;
}

}  // namespace

std::optional<Bound> goodput_bound(const Scenario& scenario, const KnownArrivals& arrivals,
                                   std::span<const double> sharing_factors,
                                   const std::function<bool(double done)>& progress) {
  ENSURE(!sharing_factors.empty() && std::ranges::is_sorted(sharing_factors) && sharing_factors.front() >= 1);
  const Blocks blocks = choose_blocks(scenario);
  const std::vector<Crowds> crowds = make_crowds(scenario, arrivals, blocks);
  const double most = accuracy_max(scenario);
  const double margin = scenario.fidelity == Fidelity::kRates ? kMarginByRates : kMargin;
  constexpr double kDescents = 4;
  double descents_done = 0;
  const auto goes_on = [&](int step) {
    return !progress || progress((descents_done + static_cast<double>(step) / kSteps) / kDescents);
  };
  Bound bound;
  for (const bool is_shared : {true, false}) {
    const Supply supply = detail::make_supply(scenario, blocks, crowds, is_shared);
    std::vector<Demand> demands = make_demands(scenario, supply, arrivals, blocks);
    const std::optional<AnswerWeights> weights = weights_of(scenario, demands);
    if (!weights) return Bound{};
    Goodputs& goodputs = is_shared ? bound.any : bound.without_sharing;
    for (const bool is_by_service : {false, true}) {
      detail::Dual dual(supply, demands, is_by_service ? weights->by_service : weights->by_request, blocks,
                        is_shared ? sharing_factors : std::span<const double>());
      const std::optional<double> least = detail::least_value(dual, kSteps, goes_on);
      if (!least) return std::nullopt;
      ++descents_done;
      (is_by_service ? goodputs.goodput_mean_of_services : goodputs.goodput) = std::min(most, *least * (1 + margin));
    }
  }
  // The bound of all policies is also one of those that do not share.
  Goodputs& lower = bound.without_sharing;
  lower.goodput = std::min(lower.goodput, bound.any.goodput);
  lower.goodput_mean_of_services = std::min(lower.goodput_mean_of_services, bound.any.goodput_mean_of_services);
  return bound;
}

}  // namespace berth::bound
