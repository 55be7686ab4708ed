#include "domain/scenario/service_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "base/json/text.h"

namespace berth::scenario {
namespace {

std::string string_json(std::string_view text) { return json::json_text(nlohmann::ordered_json(text)); }

std::string seconds_of(Micros time) { return readable_number(Decimal(time.count(), 1'000'000)); }

std::string accuracy_of(const Accuracy& accuracy) {
  const auto share = [](std::int64_t micro) { return readable_number(Decimal(micro, 1'000'000)); };
  return json::object_text({{"before", share(accuracy.before_micro)}, {"after", share(accuracy.after_micro)}});
}

/// The name of the blob with the rows of the value at a path; null if they are within the value.
const std::string* blob_of(const RowsBlobs& blobs, const std::string& path) {
  const auto found = blobs.find(path);
  return found == blobs.end() ? nullptr : &found->second;
}

std::string reference_to(const std::string& blob) { return json::object_text({{"blob", string_json(blob)}}); }

std::string profile_of(const PerformanceTable& table, const std::string& service, const std::string* blob) {
  const std::string model = string_json(table.model.empty() ? service : table.model);
  if (blob != nullptr)
    return json::object_text({{"format", "\"csv\""}, {"model", model}, {"rows", reference_to(*blob)}});
  std::vector<std::string> rows;
  rows.reserve(table.points.size());
  for (const PerformancePoint& point : table.points) {
    rows.push_back(json::object_text({{"model", model},
                                      {"gpu", string_json(point.gpu)},
                                      {"profile", string_json(point.profile)},
                                      {"batch", std::to_string(point.batch)},
                                      {"processes", std::to_string(point.processes)},
                                      {"requests_per_second", readable_number(point.requests_per_second)},
                                      {"latency_ms", readable_number(point.latency_ms)}}));
  }
  return json::object_text({{"format", "\"csv\""}, {"model", model}, {"rows", json::list_text(rows)}});
}

/// Rows of the seconds that have requests, in their order.
class SecondRows {
 public:
  void add(std::int64_t second, std::int64_t requests) {
    if (requests == 0) return;
    last_ = second;
    rows_.push_back(row_of(second, requests));
  }
  /// All rows, plus one for the last second, so that the length is kept.
  [[nodiscard]] std::string text(std::int64_t seconds) {
    if (seconds > 0 && last_ != seconds - 1) rows_.push_back(row_of(seconds - 1, 0));
    return json::list_text(rows_);
  }

 private:
  static std::string row_of(std::int64_t second, std::int64_t requests) {
    return json::object_text({{"second", std::to_string(second)}, {"requests", std::to_string(requests)}});
  }
  std::vector<std::string> rows_;
  std::int64_t last_ = -1;
};

/// The seconds of a trace that a window covers.
struct Window {
  std::int64_t from = 0;
  std::int64_t until = 0;
};

Window window_of(const Arrivals& arrivals, std::int64_t trace_seconds) {
  return {.from = arrivals.from_second, .until = std::min(arrivals.from_second + arrivals.seconds, trace_seconds)};
}

std::string rows_of(const CountTrace& trace, const Arrivals& /*arrivals*/) {
  SecondRows rows;
  for (std::int64_t second = 0; second < std::ssize(trace.counts); ++second) {
    rows.add(second, trace.counts[static_cast<std::size_t>(second)]);
  }
  return rows.text(std::ssize(trace.counts));
}

std::string rows_of(const TimedTrace& trace, const Arrivals& arrivals) {
  const Window window = window_of(arrivals, trace.seconds);
  SecondRows rows;
  auto it = std::ranges::lower_bound(trace.requests, window.from * kMicrosPerSecond, {}, &TimedTrace::Request::at_us);
  while (it != trace.requests.end() && it->at_us < window.until * kMicrosPerSecond) {
    const std::int64_t second = it->at_us / kMicrosPerSecond;
    const auto first = it;
    while (it != trace.requests.end() && it->at_us / kMicrosPerSecond == second) ++it;
    rows.add(second - window.from, it - first);
  }
  return rows.text(window.until - window.from);
}

std::string rows_of(const MinuteTrace& trace, const Arrivals& arrivals) {
  constexpr std::int64_t kSecondsPerMinute = 60;
  const Window window = window_of(arrivals, std::ssize(trace.counts) * kSecondsPerMinute);
  SecondRows rows;
  for (std::int64_t second = window.from; second < window.until; ++second) {
    const std::int64_t calls = trace.counts[static_cast<std::size_t>(second / kSecondsPerMinute)];
    const std::int64_t into = second % kSecondsPerMinute;
    rows.add(second - window.from, calls * (into + 1) / kSecondsPerMinute - calls * into / kSecondsPerMinute);
  }
  return rows.text(window.until - window.from);
}

std::string_view format_of(Generator::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"\"constant\"", "\"poisson\"", "\"bursty\"", "\"diurnal\""};
  return kNames[static_cast<std::size_t>(kind)];
}

json::Members source_of(const Generator& generator, const Arrivals& /*arrivals*/) {
  return {{"format", std::string(format_of(generator.kind))},
          {"requests_per_second", readable_number(generator.requests_per_second)}};
}

/// The rows of a recorded trace.
template <class Trace>
json::Members source_of(const Trace& trace, const Arrivals& arrivals) {
  return {{"format", "\"csv\""}, {"rows", rows_of(trace, arrivals)}};
}

std::string arrivals_of(const Arrivals& arrivals, const std::string* blob) {
  json::Members members = {{"format", "\"csv\""}};
  if (blob != nullptr) {
    members.emplace_back("rows", reference_to(*blob));
  } else {
    members = std::visit([&](const auto& source) { return source_of(source, arrivals); }, arrivals.source);
  }
  const bool begins_with_window =
      std::holds_alternative<MinuteTrace>(arrivals.source) || std::holds_alternative<TimedTrace>(arrivals.source);
  members.emplace_back("from_second", std::to_string(begins_with_window ? 0 : arrivals.from_second));
  members.emplace_back("seconds", std::to_string(arrivals.seconds));
  members.emplace_back("scale", readable_number(arrivals.scale));
  members.emplace_back("smooth_seconds", std::to_string(arrivals.smooth_seconds));
  members.emplace_back("repeat", arrivals.repeat ? "true" : "false");
  return json::object_text(members);
}

std::string retraining_of(const Retraining& retraining) {
  std::vector<std::pair<std::string, std::string>> sizes;
  sizes.reserve(retraining.time_on.size());
  for (const auto& [slices, time] : retraining.time_on) {
    sizes.emplace_back(slices == 0 ? std::string(kFullProfileName) : fmt::format("{}g", slices), seconds_of(time));
  }
  return json::object_text({{"every_seconds", seconds_of(retraining.every)},
                            {"offset_seconds", seconds_of(retraining.offset)},
                            {"swap_seconds", seconds_of(retraining.swap)},
                            {"unfinished", retraining.keeps_unfinished ? "\"continue\"" : "\"abandon\""},
                            {"seconds_on", json::object_text(json::Members(sizes.begin(), sizes.end()))}});
}

/// `profiles`: parallel to the variants.
std::string variants_of(const ServiceSpec& service, const std::vector<std::string>& profiles) {
  std::vector<std::string> variants;
  variants.reserve(service.variants.size());
  for (std::size_t index = 0; index < service.variants.size(); ++index) {
    const Variant& variant = service.variants[index];
    variants.push_back(json::object_text({{"name", string_json(variant.name)},
                                          {"profile", profiles[index]},
                                          {"accuracy", accuracy_of(variant.accuracy)}}));
  }
  return json::list_text(variants);
}

std::string pins_of(const ServiceSpec& service, const Scenario& scenario) {
  std::vector<std::string> pins;
  pins.reserve(service.pins.size());
  for (const auto& [slice] : service.pins) {
    pins.push_back(
        json::object_text({{"gpu", std::to_string(slice.gpu.index)},
                           {"profile", string_json(profile_name(scenario.model_of(slice.gpu), slice.profile))},
                           {"start", std::to_string(slice.start)}}));
  }
  return json::list_text(pins);
}

std::string batching_of(const Batching& batching) {
  return json::object_text({{"slo_factor", readable_number(batching.slo_factor)},
                            {"max_processes", std::to_string(batching.processes_max)}});
}

/// Isolation in the words of the file.
std::string_view isolation_of(Isolation isolation) {
  constexpr std::array<std::string_view, 4> kNames = {"\"gpu\"", "\"mig\"", "\"mps\"", "\"timeslice\""};
  return kNames[static_cast<std::size_t>(isolation)];
}

/// The owner's wishes: the fields from `weight` on.
void add_wishes(const ServiceSpec& service, const Scenario& scenario, json::Members& members) {
  members.emplace_back("weight", readable_number(service.weight));
  if (service.floor_attainment) {
    members.emplace_back("floor", json::object_text({{"attainment", readable_number(*service.floor_attainment)}}));
  }
  if (service.expects) {
    members.emplace_back("expects", json::object_text({{"requests_per_second", readable_number(*service.expects)}}));
  }
  if (!service.pins.empty()) members.emplace_back("pins", pins_of(service, scenario));
  if (service.changes_per_hour) members.emplace_back("changes_per_hour", std::to_string(*service.changes_per_hour));
  members.emplace_back("isolation", std::string(isolation_of(service.isolation)));
  if (service.trust_domain) members.emplace_back("trust_domain", string_json(*service.trust_domain));
}

/// The parts that may be rows or name files.
struct TableTexts {
  std::string profile;
  std::string arrivals;               ///< empty: there are none
  std::vector<std::string> variants;  ///< profiles, parallel to ServiceSpec::variants
};

json::Members fields_of(const ServiceSpec& service, const Scenario& scenario, TableTexts tables) {
  json::Members members = {{"profile", std::move(tables.profile)},
                           {"slo", json::object_text({{"latency_ms", readable_number(service.target_ms)}})},
                           {"batching", batching_of(service.batching)},
                           {"drop", service.drop == DropRule::kEarly ? "\"early\"" : "\"never\""}};
  if (!tables.arrivals.empty()) members.emplace_back("arrivals", std::move(tables.arrivals));
  members.emplace_back("start_seconds", seconds_of(service.start));
  members.emplace_back("accuracy", accuracy_of(service.accuracy));
  if (service.retraining) members.emplace_back("retraining", retraining_of(*service.retraining));
  if (!service.variants.empty()) members.emplace_back("variants", variants_of(service, tables.variants));
  add_wishes(service, scenario, members);
  return members;
}

}  // namespace

std::string service_spec_json(const ServiceSpec& service, const Scenario& scenario, const RowsBlobs& blobs) {
  TableTexts tables{
      .profile = profile_of(service.table, service.name, blob_of(blobs, "profile")), .arrivals = "", .variants = {}};
  if (service.arrivals.is_given()) tables.arrivals = arrivals_of(service.arrivals, blob_of(blobs, "arrivals"));
  for (const Variant& variant : service.variants) {
    const std::string path = fmt::format("variants[{}].profile", tables.variants.size());
    tables.variants.push_back(profile_of(variant.table, service.name, blob_of(blobs, path)));
  }
  return json::object_text(fields_of(service, scenario, std::move(tables)));
}

std::string service_entry_json(const ServiceSpec& service, const Scenario& scenario, const ServicePaths& paths) {
  const auto profile = [&](const std::string& path) {
    return json::object_text({{"format", "\"csv\""}, {"path", string_json(path)}, {"model", string_json(paths.model)}});
  };
  TableTexts tables{.profile = profile(paths.profile),
                    .arrivals = json::object_text({{"format", "\"rps-text\""},
                                                   {"path", string_json(paths.arrivals)},
                                                   {"from_second", std::to_string(service.arrivals.from_second)},
                                                   {"seconds", std::to_string(service.arrivals.seconds)}}),
                    .variants = {}};
  for (const std::string& path : paths.variants) tables.variants.push_back(profile(path));
  json::Members members = {{"name", string_json(service.name)}, {"tenant", string_json(service.tenant)}};
  for (auto& member : fields_of(service, scenario, std::move(tables))) members.push_back(std::move(member));
  return json::object_text(members);
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
  return json::exact_text(value);
}

}  // namespace berth::scenario
