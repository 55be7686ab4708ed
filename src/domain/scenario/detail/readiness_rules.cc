#include "domain/scenario/detail/readiness_rules.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/duration.h"
#include "domain/profile/slice_price.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/service_keys.h"

namespace berth::scenario::detail {
namespace {

constexpr std::int64_t kSlicesMax = 1'000'000;
constexpr std::int64_t kMicrosPerUsd = 1'000'000;

/// Dollars, 0 or more, as whole micro-dollars rounded half up; nothing if absent.
std::optional<std::int64_t> micro_usd(const yaml::Value& usd) {
  if (!usd.is_present()) return std::nullopt;
  const Decimal value = usd.number(yaml::number_from(Decimal(0), Decimal(kPlainNumberMax)));
  return (value * Decimal(kMicrosPerUsd)).round_half_up();
}

/// Costs are compared with the price of slices, so every entry of the fleet needs one.
void check_fleet_prices(const yaml::Value& price, const Scenario& scenario) {
  for (std::size_t index = 0; index < scenario.fleet.size(); ++index) {
    if (scenario.fleet[index].usd_per_gpu_hour) continue;
    return price.fail(fmt::format("wanted fleet[{}].usd_per_gpu_hour, with which it is compared, found none for {}",
                                  index, scenario.fleet[index].model.name));
  }
}

void check_cost_of_min(const yaml::Value& pool, const Scenario& scenario, const ServiceSpec& spec,
                       const WarmPool& read) {
  if (!read.idle_micro_usd_per_hour || read.slices_min == 0) return;
  const std::optional<Decimal> cheapest = profile::cheapest_slice_usd_per_hour(scenario, spec);
  if (!cheapest) return;
  const Decimal wanted = *cheapest * Decimal(read.slices_min);
  if (wanted <= Decimal(*read.idle_micro_usd_per_hour, kMicrosPerUsd)) return;
  pool.at("usd_per_hour")
      .refuse(fmt::format("at least {:.6g}, which {} of its cheapest slices cost per hour ({}.min)", wanted.to_double(),
                          read.slices_min, pool.path()));
}

/// What is kept ready without load is within the limits for any load.
void check_replicas(const yaml::Value& pool, const ServiceSpec& spec, const WarmPool& read) {
  if (!spec.running.replicas) return;
  const ReplicaLimits& limits = *spec.running.replicas;
  const auto refuse = [&](std::string_view key, std::string_view bound, std::int64_t slices, std::int64_t found) {
    pool.at(key).fail(fmt::format("wanted {} {} slices (replicas.{}), found {}", bound, slices,
                                  bound == "at most" ? "max" : "min", found));
  };
  if (limits.slices_max && read.slices_min > *limits.slices_max) {
    return refuse("min", "at most", *limits.slices_max, read.slices_min);
  }
  if (limits.slices_max && read.slices_max && *read.slices_max > *limits.slices_max) {
    return refuse("max", "at most", *limits.slices_max, *read.slices_max);
  }
  if (pool.at("min").is_written() && read.slices_min < limits.slices_min) {
    return refuse("min", "at least", limits.slices_min, read.slices_min);
  }
  if (read.slices_max && *read.slices_max < limits.slices_min) {
    refuse("max", "at least", limits.slices_min, *read.slices_max);
  }
}

std::optional<WarmPool> read_pool(const yaml::Value& value, const Scenario& scenario, const ServiceSpec& spec) {
  if (!value.is_present()) return std::nullopt;
  value.check_keys(key_names("warm_pool"));
  WarmPool pool;
  if (value.at("min").is_written()) pool.slices_min = value.at("min").whole({0, kSlicesMax});
  if (value.at("max").is_present()) pool.slices_max = value.at("max").whole({0, kSlicesMax});
  pool.cold_micro_usd = micro_usd(value.at("cold_usd"));
  pool.idle_micro_usd_per_hour = micro_usd(value.at("usd_per_hour"));
  if (value.has_failed()) return pool;
  if (pool.slices_max && *pool.slices_max < pool.slices_min) {
    value.at("max").fail(
        fmt::format("wanted at least {} ({}.min), found {}", pool.slices_min, value.path(), *pool.slices_max));
  }
  if (pool.cold_micro_usd) check_fleet_prices(value.at("cold_usd"), scenario);
  if (pool.idle_micro_usd_per_hour) check_fleet_prices(value.at("usd_per_hour"), scenario);
  if (value.has_failed()) return pool;
  check_replicas(value, spec, pool);
  check_cost_of_min(value, scenario, spec, pool);
  return pool;
}

std::optional<Micros> read_answer(const yaml::Value& value, const ServiceSpec& spec) {
  if (!value.is_present()) return std::nullopt;
  const Micros answer = duration_above_zero(value);
  if (!value.has_failed() && answer < spec.target) {
    value.refuse(fmt::format("at least the latency target, {} ms (slo.latency_ms)", spec.target_ms.to_string()));
  }
  return answer;
}

}  // namespace

StartParts read_start_parts(const yaml::Value& start) {
  start.check_keys(key_names("start_seconds"));
  const auto part = [&](std::string_view key) {
    if (!start.at(key).is_written()) start.at(key).refuse("a number of seconds");
    return duration(start.at(key), Micros(0));
  };
  return {.runtime = part("runtime"), .model = part("model")};
}

Readiness read_readiness(const yaml::Value& service, const Scenario& scenario, const ServiceSpec& spec) {
  Readiness ready;
  if (service.has_failed()) return ready;
  ready.warm_pool = read_pool(service.at("warm_pool"), scenario, spec);
  ready.answer = read_answer(service.at("answer_seconds"), spec);
  const yaml::Value start = service.at("start_seconds");
  if (start.is_map()) ready.start_of_model = read_start_parts(start).model;
  return ready;
}

}  // namespace berth::scenario::detail
