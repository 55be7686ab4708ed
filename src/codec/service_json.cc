#include "codec/service_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "base/overloaded.h"
#include "codec/json_text.h"

namespace berth::codec {
namespace {

std::string string_json(std::string_view text) { return json_text(nlohmann::ordered_json(text)); }

std::string seconds_of(Micros time) { return readable_number(Decimal(time.count(), 1'000'000)); }

std::string accuracy_of(const Accuracy& accuracy) {
  const auto share = [](std::int64_t micro) { return readable_number(Decimal(micro, 1'000'000)); };
  return object_text({{"before", share(accuracy.before_micro)}, {"after", share(accuracy.after_micro)}});
}

std::string profile_of(const PerformanceTable& table, const std::string& service) {
  const std::string model = string_json(table.model.empty() ? service : table.model);
  std::vector<std::string> rows;
  rows.reserve(table.points.size());
  for (const PerformancePoint& point : table.points) {
    rows.push_back(object_text({{"model", model},
                                {"gpu", string_json(point.gpu)},
                                {"profile", string_json(point.profile)},
                                {"batch", std::to_string(point.batch)},
                                {"processes", std::to_string(point.processes)},
                                {"requests_per_second", readable_number(point.requests_per_second)},
                                {"latency_ms", readable_number(point.latency_ms)}}));
  }
  return object_text({{"format", "\"csv\""}, {"model", model}, {"rows", list_text(rows)}});
}

/// Seconds with requests, and the last one, so that the length is kept.
std::string rows_of(const CountTrace& trace) {
  std::vector<std::string> rows;
  for (std::size_t second = 0; second < trace.counts.size(); ++second) {
    if (trace.counts[second] == 0 && second + 1 < trace.counts.size()) continue;
    rows.push_back(
        object_text({{"second", std::to_string(second)}, {"requests", std::to_string(trace.counts[second])}}));
  }
  return list_text(rows);
}

/// The requests in each second of the window, as far as the trace reaches.
CountTrace counted(const TimedTrace& trace, std::int64_t from, std::int64_t seconds) {
  CountTrace counts;
  counts.counts.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(trace.seconds - from, 0, seconds)));
  for (const TimedTrace::Request& request : trace.requests) {
    const std::int64_t second = request.at_us / kMicrosPerSecond - from;
    if (second >= 0 && second < std::ssize(counts.counts)) ++counts.counts[static_cast<std::size_t>(second)];
  }
  return counts;
}

CountTrace counted(const MinuteTrace& trace, std::int64_t from, std::int64_t seconds) {
  constexpr std::int64_t kSecondsPerMinute = 60;
  const std::int64_t until = std::min(from + seconds, std::ssize(trace.counts) * kSecondsPerMinute);
  CountTrace counts;
  for (std::int64_t second = from; second < until; ++second) {
    const std::uint64_t calls = trace.counts[static_cast<std::size_t>(second / kSecondsPerMinute)];
    const auto into = static_cast<std::uint64_t>(second % kSecondsPerMinute);
    const std::uint64_t before = calls * into / kSecondsPerMinute;
    counts.counts.push_back(static_cast<std::uint32_t>(calls * (into + 1) / kSecondsPerMinute - before));
  }
  return counts;
}

std::string_view format_of(Generator::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"\"constant\"", "\"poisson\"", "\"bursty\"", "\"diurnal\""};
  return kNames[static_cast<std::size_t>(kind)];
}

Members source_of(const CountTrace& trace, std::int64_t from_second) {
  return {{"format", "\"csv\""}, {"rows", rows_of(trace)}, {"from_second", std::to_string(from_second)}};
}

Members source_of(const Generator& generator, std::int64_t from_second) {
  return {{"format", std::string(format_of(generator.kind))},
          {"requests_per_second", readable_number(generator.requests_per_second)},
          {"from_second", std::to_string(from_second)}};
}

std::string arrivals_of(const Arrivals& arrivals) {
  const std::int64_t from = arrivals.from_second;
  const auto count = [&](const auto& trace) { return source_of(counted(trace, from, arrivals.seconds), 0); };
  Members members = std::visit(Overloaded{[&](const CountTrace& trace) { return source_of(trace, from); },
                                          [&](const Generator& generator) { return source_of(generator, from); },
                                          [&](const MinuteTrace& trace) { return count(trace); },
                                          [&](const TimedTrace& trace) { return count(trace); }},
                               arrivals.source);
  members.emplace_back("seconds", std::to_string(arrivals.seconds));
  members.emplace_back("scale", readable_number(arrivals.scale));
  members.emplace_back("smooth_seconds", std::to_string(arrivals.smooth_seconds));
  members.emplace_back("repeat", arrivals.repeat ? "true" : "false");
  return object_text(members);
}

std::string retraining_of(const Retraining& retraining) {
  std::vector<std::pair<std::string, std::string>> sizes;
  sizes.reserve(retraining.time_on.size());
  for (const auto& [slices, time] : retraining.time_on) {
    sizes.emplace_back(slices == 0 ? std::string(kFullProfileName) : fmt::format("{}g", slices), seconds_of(time));
  }
  return object_text({{"every_seconds", seconds_of(retraining.every)},
                      {"offset_seconds", seconds_of(retraining.offset)},
                      {"swap_seconds", seconds_of(retraining.swap)},
                      {"unfinished", retraining.keeps_unfinished ? "\"continue\"" : "\"abandon\""},
                      {"seconds_on", object_text(Members(sizes.begin(), sizes.end()))}});
}

std::string variants_of(const ServiceSpec& service) {
  std::vector<std::string> variants;
  variants.reserve(service.variants.size());
  for (const Variant& variant : service.variants) {
    variants.push_back(object_text({{"name", string_json(variant.name)},
                                    {"profile", profile_of(variant.table, service.name)},
                                    {"accuracy", accuracy_of(variant.accuracy)}}));
  }
  return list_text(variants);
}

std::string pins_of(const ServiceSpec& service, const Scenario& scenario) {
  std::vector<std::string> pins;
  pins.reserve(service.pins.size());
  for (const auto& [slice] : service.pins) {
    pins.push_back(object_text({{"gpu", std::to_string(slice.gpu.index)},
                                {"profile", string_json(profile_name(scenario.model_of(slice.gpu), slice.profile))},
                                {"start", std::to_string(slice.start)}}));
  }
  return list_text(pins);
}

std::string batching_of(const Batching& batching) {
  return object_text({{"slo_factor", readable_number(batching.slo_factor)},
                      {"max_processes", std::to_string(batching.processes_max)}});
}

/// Isolation in the words of the file.
std::string_view isolation_of(Isolation isolation) {
  constexpr std::array<std::string_view, 4> kNames = {"\"gpu\"", "\"mig\"", "\"mps\"", "\"timeslice\""};
  return kNames[static_cast<std::size_t>(isolation)];
}

/// From `weight` on: what the owner wishes.
void add_wishes(const ServiceSpec& service, const Scenario& scenario, Members& members) {
  members.emplace_back("weight", readable_number(service.weight));
  if (service.floor_attainment) {
    members.emplace_back("floor", object_text({{"attainment", readable_number(*service.floor_attainment)}}));
  }
  if (service.expects) {
    members.emplace_back("expects", object_text({{"requests_per_second", readable_number(*service.expects)}}));
  }
  if (!service.pins.empty()) members.emplace_back("pins", pins_of(service, scenario));
  if (service.changes_per_hour) members.emplace_back("changes_per_hour", std::to_string(*service.changes_per_hour));
  members.emplace_back("isolation", std::string(isolation_of(service.isolation)));
  if (service.trust_domain) members.emplace_back("trust_domain", string_json(*service.trust_domain));
}

}  // namespace

std::string service_spec_json(const ServiceSpec& service, const Scenario& scenario) {
  Members members = {{"profile", profile_of(service.table, service.name)},
                     {"slo", object_text({{"latency_ms", readable_number(service.target_ms)}})},
                     {"batching", batching_of(service.batching)},
                     {"drop", service.drop == DropRule::kEarly ? "\"early\"" : "\"never\""}};
  if (service.arrivals.is_given()) members.emplace_back("arrivals", arrivals_of(service.arrivals));
  members.emplace_back("start_seconds", seconds_of(service.start));
  members.emplace_back("accuracy", accuracy_of(service.accuracy));
  if (service.retraining) members.emplace_back("retraining", retraining_of(*service.retraining));
  if (!service.variants.empty()) members.emplace_back("variants", variants_of(service));
  add_wishes(service, scenario, members);
  return object_text(members);
}

std::string readable_number(const Decimal& value) {
  constexpr std::size_t kLengthMax = 40;  // of what Decimal::parse reads, as is the exponent
  constexpr int kExponentMax = 30;
  const auto is_readable = [](const std::string& text) {
    return text.size() <= kLengthMax && text.find('/') == std::string::npos;
  };
  if (const std::string plain = value.to_string(); is_readable(plain)) return plain;
  Decimal larger = value;
  Decimal smaller = value;
  for (int exponent = 1; exponent <= kExponentMax; ++exponent) {
    larger = larger * Decimal(10);
    smaller = smaller / Decimal(10);
    std::string with_minus = fmt::format("{}e-{}", larger.to_string(), exponent);
    if (is_readable(with_minus)) return with_minus;
    std::string with_plus = fmt::format("{}e{}", smaller.to_string(), exponent);
    if (is_readable(with_plus)) return with_plus;
  }
  return exact_text(value);
}

}  // namespace berth::codec
