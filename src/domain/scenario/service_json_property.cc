// A service that is written as a spec and read again, by way of strict JSON, is the same service.
#include "domain/scenario/service_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/core/rng.h"
#include "base/json/document.h"
#include "domain/mig/catalogue.h"
#include "domain/scenario/service_object.h"

namespace berth::scenario {
namespace {

Scenario fleet() {
  Scenario scenario;
  scenario.fleet = {{.model = mig::find_gpu_model("A100-80GB").value(), .count = 2, .usd_per_gpu_hour = Decimal(4)},
                    {.model = mig::find_gpu_model("T4").value(), .count = 1, .usd_per_gpu_hour = Decimal(1)}};
  return scenario;
}

/// Draws a service within the limits of the reader.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : rng_(seed) {}

  ServiceSpec service(const Scenario& scenario) {
    ServiceSpec drawn;
    drawn.table = table();
    drawn.target_ms = Decimal(whole(1, 1'000'000), 1000);
    drawn.target = micros_from_ms(drawn.target_ms);
    drawn.batching = {number(9), static_cast<int>(whole(1, 1024))};
    drawn.drop = chance() ? DropRule::kEarly : DropRule::kNever;
    if (chance()) drawn.arrivals = arrivals();
    drawn.start = Micros(whole(0, 90'000'000));
    drawn.accuracy = accuracy();
    if (chance()) drawn.retraining = retraining();
    for (std::int64_t i = whole(0, 2); i > 0; --i)
      drawn.variants.push_back({fmt::format("v{}", i), table(), accuracy()});
    drawn.weight = number(100);
    if (chance()) drawn.floor_attainment = Decimal(whole(1, 1000), 1000);
    if (chance()) drawn.agreed.attainment = number(1000) / Decimal(1000);
    if (chance()) drawn.expects = number(1000);
    if (chance()) drawn.pins = pins(scenario);
    if (chance()) drawn.changes_per_hour = whole(0, 50);
    drawn.isolation = static_cast<Isolation>(whole(0, 3));
    if (chance()) drawn.trust_domain = name();
    if (chance()) drawn.tier = tier_rule(drawn, scenario);
    if (chance()) drawn.running = running();
    if (chance()) drawn.ready = readiness(drawn);
    return drawn;
  }

 private:
  std::int64_t whole(std::int64_t min, std::int64_t max) {
    return min + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(max - min + 1)));
  }
  bool chance() { return rng_.below(2) == 0; }
  static Micros micros_from_ms(const Decimal& ms) { return Micros((ms * Decimal(1000)).round_half_up()); }

  /// Above 0, at most `max` (a power of ten is not exceeded), with few or many digits.
  Decimal number(std::int64_t max) {
    const std::int64_t digits = whole(0, 30);
    std::string text = fmt::format("{}", whole(1, max - 1));
    if (digits > 0) text += '.';
    for (std::int64_t i = 0; i < digits; ++i) text += static_cast<char>('0' + whole(0, 9));
    if (chance()) text += fmt::format("e-{}", whole(1, 30));
    return Decimal::parse(text).value();
  }

  std::string name() {
    const std::vector<std::string> parts = {"m", "\u00e9", "\"", "\\", " x", "/", "\U0001F600", "7", "null", "{"};
    std::string text = "n";
    for (std::int64_t i = whole(0, 5); i > 0; --i) text += parts[rng_.below(parts.size())];
    return text;
  }

  PerformanceTable table() {
    const std::vector<std::pair<std::string, std::string>> places = {
        {"A100-80GB", "1g.10gb"}, {"A100-80GB", "3g.40gb"}, {"A30-24GB", "full"}, {"T4-16GB", "full"}};
    std::set<std::tuple<std::string, std::string, int, int>> points;  // in the order of a table
    for (std::int64_t i = whole(1, 6); i > 0; --i) {
      const auto& [gpu, profile] = places[rng_.below(places.size())];
      points.emplace(gpu, profile, static_cast<int>(whole(1, 4)), static_cast<int>(whole(1, 64)));
    }
    PerformanceTable drawn{name(), {}};
    for (const auto& [gpu, profile, processes, batch] : points) {
      drawn.points.push_back({gpu, profile, batch, processes, number(10'000), number(1000)});
    }
    return drawn;
  }

  Arrivals arrivals() {
    Arrivals drawn;
    drawn.from_second = whole(0, 3);
    drawn.seconds = whole(1, 100);
    drawn.scale = Decimal(whole(1, 30), 10);
    drawn.smooth_seconds = whole(1, 100);
    drawn.repeat = chance();
    if (chance()) {
      drawn.source = Generator{static_cast<Generator::Kind>(whole(0, 3)), number(1000)};
      return drawn;
    }
    CountTrace trace;
    trace.counts.resize(static_cast<std::size_t>(whole(4, drawn.from_second + drawn.seconds + 3)));
    for (std::uint32_t& count : trace.counts) count = chance() ? 0 : static_cast<std::uint32_t>(whole(0, 1000));
    // The part of a trace that no second of the window depends on is not kept.
    const std::int64_t end = drawn.from_second + drawn.seconds + drawn.smooth_seconds;
    if (std::ssize(trace.counts) > end) trace.counts.resize(static_cast<std::size_t>(end));
    drawn.source = trace;
    return drawn;
  }

  /// Pins are on several models, so a service with pins has no model of its own.
  TierRule tier_rule(const ServiceSpec& service, const Scenario& scenario) {
    TierRule rule;
    if (service.pins.empty() && chance()) rule.gpu = scenario.fleet[rng_.below(scenario.fleet.size())].model.name;
    std::set<std::string> known;
    for (const PerformancePoint& point : service.table.points) {
      if (chance()) known.insert(point.gpu);
    }
    rule.known_on.assign(known.begin(), known.end());
    return rule;
  }

  Running running() {
    Running rules;
    if (chance()) rules.program = ProgramChoice{.template_name = name(), .parameters = {{"args", name()}, {"n_1", ""}}};
    if (chance()) rules.program = ProgramChoice{.template_name = "serve", .parameters = {}};
    if (rules.program && rules.program->template_name == "serve") {
      rules.program->parameters = {{"repository", "/models " + name()}, {"model", name()}};
    }
    if (chance()) rules.replicas = ReplicaLimits{.slices_min = whole(0, 3), .slices_max = {}};
    if (rules.replicas && chance()) rules.replicas->slices_max = rules.replicas->slices_min + whole(1, 9);
    return rules;
  }

  /// Within the limits of replicas, and with money for what is kept ready.
  Readiness readiness(const ServiceSpec& service) {
    Readiness rules;
    const ReplicaLimits limits = service.running.replicas.value_or(ReplicaLimits());
    if (chance()) {
      WarmPool pool{.slices_min = limits.slices_min,
                    .slices_max = limits.slices_max,
                    .cold_micro_usd = {},
                    .idle_micro_usd_per_hour = {}};
      if (chance()) pool.cold_micro_usd = whole(0, 1'000'000'000);
      if (chance()) pool.idle_micro_usd_per_hour = whole(100'000'000, 1'000'000'000'000'000);
      rules.warm_pool = pool;
    }
    if (chance()) rules.answer = service.target + Micros(whole(0, 90'000'000));
    if (chance()) rules.start_of_model = Micros(whole(0, service.start.count()));
    return rules;
  }

  Accuracy accuracy() { return {whole(0, 1'000'000), whole(0, 1'000'000)}; }

  Retraining retraining() {
    Retraining drawn{Micros(whole(1'000'000, 1'000'000'000)),
                     Micros(whole(0, 1'000'000)),
                     Micros(whole(0, 1'000'000)),
                     chance(),
                     {}};
    for (const int size : {0, 1, 2, 3, 4, 7}) {
      if (chance()) drawn.time_on.emplace(size, Micros(whole(1, 1'000'000'000)));
    }
    return drawn;
  }

  std::vector<Pin> pins(const Scenario& scenario) {
    const auto pin = [&](std::uint32_t gpu, std::string_view profile, int start) {
      return Pin{Slice{GpuId{gpu}, start, mig::find_profile(scenario.model_of(GpuId{gpu}), profile).value()}};
    };
    std::vector<Pin> drawn;
    if (chance()) drawn.push_back(pin(1, "3g.40gb", chance() ? 0 : 4));
    if (chance()) drawn.push_back(pin(2, "full", 0));
    if (chance()) drawn.push_back(pin(0, "1g.10gb", static_cast<int>(whole(0, 6))));
    return drawn;
  }

  Rng rng_;
};

/// The service that the text means, or the failure.
Result<ServiceSpec> read(const std::string& spec, const Scenario& scenario) {
  const auto root = json::parse_document("{\"spec\":" + spec + "}", "body");
  if (!root) return pass_on(root.error());
  yaml::Report report("body");
  ServiceSpec service = scenario::read_service_object(yaml::Value(*root, report).at("spec"), scenario);
  if (report.has_failed()) return pass_on(report.failure());
  return service;
}

RC_GTEST_PROP(ServiceJsonProperty, WhatIsWrittenIsReadAsTheSameService, (std::uint64_t seed)) {
  const Scenario scenario = fleet();
  const ServiceSpec service = Draw(seed).service(scenario);
  const std::string written = service_spec_json(service, scenario);
  const auto again = read(written, scenario);
  if (!again) RC_FAIL(again.error().message + "\n" + written);
  RC_ASSERT(*again == service);
  RC_ASSERT(service_spec_json(*again, scenario) == written);
}

RC_GTEST_PROP(ServiceJsonProperty, EveryNumberThatCanBeReadIsWrittenReadably, (std::uint64_t seed)) {
  Rng rng(seed);
  std::string text;
  const std::uint64_t digits = 1 + rng.below(34);
  const std::uint64_t point = rng.below(digits + 1);
  for (std::uint64_t i = 0; i < digits; ++i) {
    if (i == point) text += '.';
    text += static_cast<char>('0' + rng.below(10));
  }
  text += fmt::format("e{}", static_cast<int>(rng.below(61)) - 30);
  const auto value = Decimal::parse(text);
  RC_ASSERT(value.has_value());
  const auto again = Decimal::parse(readable_number(*value));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *value);
}

}  // namespace
}  // namespace berth::scenario
