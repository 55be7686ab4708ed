#include "domain/scenario/detail/services.h"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "domain/profile/readers.h"
#include "domain/scenario/detail/arrivals.h"
#include "domain/scenario/detail/fleet.h"
#include "domain/scenario/detail/readiness_rules.h"
#include "domain/scenario/detail/rules.h"
#include "domain/scenario/detail/running_rules.h"
#include "domain/scenario/detail/tables.h"
#include "domain/scenario/detail/tier_rules.h"
#include "domain/scenario/service_keys.h"

namespace berth::scenario::detail {
namespace {

void read_slo(const yaml::Value& value, ServiceSpec& service) {
  value.check_keys(key_names("slo"));
  const yaml::Value latency = value.at("latency_ms");
  service.target_ms = latency.number(yaml::number_above_zero(Decimal(profile::kLatencyMsMax)));
  service.target = checked_duration(latency, service.target_ms / Decimal(1000));
  const yaml::Value attainment = value.at("attainment");
  if (attainment.is_present()) {
    service.agreed.attainment = attainment.number(yaml::number_between(Decimal(0), Decimal(1)));
  }
}

Batching read_batching(const yaml::Value& value) {
  Batching batching;
  if (!value.is_written()) return batching;
  value.check_keys(key_names("batching"));
  const yaml::Value factor = value.at("slo_factor");
  if (factor.is_written()) batching.slo_factor = factor.number(yaml::number_above_zero(Decimal(kPlainNumberMax)));
  const yaml::Value processes = value.at("max_processes");
  if (processes.is_written()) {
    batching.processes_max = static_cast<int>(processes.whole({1, profile::kProcessesMax}));
  }
  return batching;
}

Retraining read_retraining(const yaml::Value& value, Sources& sources) {
  value.check_keys(key_names("retraining"));
  Retraining retraining;
  retraining.every = duration_above_zero(value.at("every_seconds"));
  retraining.offset = duration(value.at("offset_seconds"), Micros(0));
  retraining.swap = duration(value.at("swap_seconds"), Micros(0));
  const yaml::Value unfinished = value.at("unfinished");
  retraining.keeps_unfinished = unfinished.is_written() && unfinished.choice(kUnfinishedWords) == 1;
  retraining.time_on = read_seconds_on(value.at("seconds_on"), sources);
  return retraining;
}

std::vector<Variant> read_variants(const yaml::Value& value, Sources& sources) {
  std::vector<Variant> variants;
  if (!value.is_present()) return variants;
  std::set<std::string> names;
  const auto items = value.items("a list of variants");
  if (!sources.has_files() && std::ssize(items) > sources.variants_max) {
    value.refuse(fmt::format("at most {} variants", sources.variants_max), fmt::format("{}", items.size()));
    return variants;
  }
  for (const yaml::Value& item : items) {
    item.check_keys(key_names("variants"));
    Variant variant{item.at("name").name(), {}, accuracy(item.at("accuracy"))};
    if (!names.insert(variant.name).second) item.at("name").refuse("a name that no other variant has");
    if (value.has_failed()) return variants;
    variant.table = read_profile(item.at("profile"), sources);
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Pin> read_pins(const yaml::Value& value, const Scenario& scenario, Occupied& pinned) {
  std::vector<Pin> pins;
  if (!value.is_present()) return pins;
  for (const yaml::Value& item : value.items("a list of slices")) {
    item.check_keys(key_names("pins"));
    const GpuId gpu = read_gpu_id(item.at("gpu"), scenario);
    if (value.has_failed()) return pins;
    pins.push_back({read_slice(item, gpu, scenario, pinned)});
  }
  return pins;
}

/// Fields that only a planner uses: checked here so that no error is found later.
void read_wishes(const yaml::Value& value, const Scenario& scenario, Occupied& pinned, ServiceSpec& service) {
  const yaml::Value weight = value.at("weight");
  if (weight.is_written()) service.weight = weight.number(yaml::number_above_zero(Decimal(kPlainNumberMax)));
  const yaml::Value floor = value.at("floor");
  if (floor.is_present()) {
    floor.check_keys(key_names("floor"));
    service.floor_attainment = floor.at("attainment").number(yaml::number_above_zero(Decimal(1)));
  }
  const yaml::Value expects = value.at("expects");
  if (expects.is_present()) {
    expects.check_keys(key_names("expects"));
    service.expects = expects.at("requests_per_second").number(yaml::number_above_zero(Decimal(kRequestsPerSecondMax)));
  }
  service.pins = read_pins(value.at("pins"), scenario, pinned);
  const yaml::Value changes = value.at("changes_per_hour");
  if (changes.is_present()) service.changes_per_hour = changes.whole({0, kPlainNumberMax});
  const yaml::Value isolation = value.at("isolation");
  if (isolation.is_written()) {
    service.isolation = static_cast<Isolation>(isolation.choice(kIsolationWords));
  }
  const yaml::Value domain = value.at("trust_domain");
  if (domain.is_present()) service.trust_domain = domain.name();
}

/// The time from an empty slice to the first answer; its part that the model takes is read with other rules.
void read_start(const yaml::Value& value, ServiceSpec& service) {
  if (!value.is_map()) {
    service.start = duration(value, service.start);
    return;
  }
  const StartParts parts = read_start_parts(value);
  service.start = parts.runtime + parts.model;
}

/// The keys of a service in a file: those of an object, and its names.
std::vector<std::string_view> file_keys() {
  std::vector<std::string_view> keys = {"name", "tenant"};
  const std::vector<std::string_view> others = key_names("");
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

/// All fields but name, tenant and arrivals.
void read_fields(const yaml::Value& value, const Scenario& scenario, Sources& sources, Occupied& pinned,
                 ServiceSpec& service) {
  read_slo(value.at("slo"), service);
  service.batching = read_batching(value.at("batching"));
  const yaml::Value drop = value.at("drop");
  if (drop.is_written() && drop.choice(kDropWords) == 1) service.drop = DropRule::kNever;
  read_start(value.at("start_seconds"), service);
  service.accuracy = accuracy(value.at("accuracy"));
  read_wishes(value, scenario, pinned, service);
  if (value.has_failed()) return;  // before files are read
  service.table = read_profile(value.at("profile"), sources);
  if (value.at("retraining").is_present()) service.retraining = read_retraining(value.at("retraining"), sources);
  service.variants = read_variants(value.at("variants"), sources);
  service.tier = read_tier_rule(value, scenario, service);
  service.running = read_running(value);
  service.ready = read_readiness(value, scenario, service);
}

ServiceSpec read_service(const yaml::Value& value, const Scenario& scenario, Sources& sources, Occupied& pinned) {
  value.check_keys(file_keys());
  ServiceSpec service;
  service.name = value.at("name").name();
  service.tenant = value.at("tenant").is_written() ? value.at("tenant").name() : service.name;
  read_fields(value, scenario, sources, pinned, service);
  if (value.has_failed()) return service;
  service.arrivals = read_arrivals(value.at("arrivals"), sources);
  return service;
}

}  // namespace

ServiceSpec read_unnamed_service(const yaml::Value& value, const Scenario& scenario, Sources& sources,
                                 Occupied& pinned) {
  value.check_keys(key_names(""));
  ServiceSpec service;
  if (value.has_failed()) return service;
  read_fields(value, scenario, sources, pinned, service);
  if (value.has_failed()) return service;
  // In a live world each retraining is an event that clients read.
  constexpr Micros kRetrainingsApart = Micros::seconds(1);
  if (service.retraining && service.retraining->every < kRetrainingsApart) {
    value.at("retraining").at("every_seconds").refuse("a number of at least 1");
    return service;
  }
  if (value.at("arrivals").is_present()) service.arrivals = read_arrivals(value.at("arrivals"), sources);
  return service;
}

std::vector<ServiceSpec> read_services(const std::vector<yaml::Value>& items, const Scenario& scenario,
                                       Sources& sources) {
  std::vector<ServiceSpec> services;
  std::set<std::string> names;
  Occupied pinned;
  for (const yaml::Value& item : items) {
    if (item.has_failed()) return services;
    services.push_back(read_service(item, scenario, sources, pinned));
    if (item.has_failed()) return services;
    if (!names.insert(services.back().name).second) item.at("name").refuse("a name that no other service has");
  }
  return services;
}

}  // namespace berth::scenario::detail
