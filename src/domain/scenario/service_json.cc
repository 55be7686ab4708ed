#include "domain/scenario/service_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "base/json/writer.h"
#include "domain/values/serve_template.h"

namespace berth::scenario {
namespace {

using json::Writer;

void put_number(Writer& json, std::string_view key, const Decimal& value) {
  json.key(key).written(readable_number(value));
}

void put_seconds(Writer& json, std::string_view key, Micros time) {
  put_number(json, key, Decimal(time.count(), 1'000'000));
}

void put_accuracy(Writer& json, const Accuracy& accuracy) {
  json.open_object("accuracy");
  put_number(json, "before", Decimal(accuracy.before_micro, 1'000'000));
  put_number(json, "after", Decimal(accuracy.after_micro, 1'000'000));
  json.close_object();
}

/// The name of the blob with the rows of the value at a path; null if they are within the value.
const std::string* blob_of(const RowsBlobs& blobs, const std::string& path) {
  const auto found = blobs.find(path);
  return found == blobs.end() ? nullptr : &found->second;
}

void write_reference(Writer& json, const std::string& blob) { json.open_object().member("blob", blob).close_object(); }

void write_point(Writer& json, const PerformancePoint& point, const std::string& model) {
  json.open_object().member("model", model).member("gpu", point.gpu).member("profile", point.profile);
  json.member("batch", point.batch).member("processes", point.processes);
  put_number(json, "requests_per_second", point.requests_per_second);
  put_number(json, "latency_ms", point.latency_ms);
  json.close_object();
}

void write_profile(Writer& json, const PerformanceTable& table, const std::string& service, const std::string* blob) {
  const std::string& model = table.model.empty() ? service : table.model;
  json.open_object().member("format", "csv").member("model", model).key("rows");
  if (blob != nullptr) {
    write_reference(json, *blob);
  } else {
    json.list(table.points, [&](Writer&, const PerformancePoint& point) { write_point(json, point, model); });
  }
  json.close_object();
}

/// Writes a list with the seconds that have requests, in their order.
class SecondRows {
 public:
  explicit SecondRows(Writer& json) : json_(json) { json_.open_list(); }
  void add(std::int64_t second, std::int64_t requests) {
    if (requests == 0) return;
    last_ = second;
    write_row(second, requests);
  }
  /// After all of them one for the last second, so that the length is kept.
  void close(std::int64_t seconds) {
    if (seconds > 0 && last_ != seconds - 1) write_row(seconds - 1, 0);
    json_.close_list();
  }

 private:
  void write_row(std::int64_t second, std::int64_t requests) {
    json_.open_object().member("second", second).member("requests", requests).close_object();
  }
  Writer& json_;
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

void write_rows(Writer& json, const CountTrace& trace, const Arrivals& /*arrivals*/) {
  SecondRows rows(json);
  for (std::int64_t second = 0; second < std::ssize(trace.counts); ++second) {
    rows.add(second, trace.counts[static_cast<std::size_t>(second)]);
  }
  rows.close(std::ssize(trace.counts));
}

void write_rows(Writer& json, const TimedTrace& trace, const Arrivals& arrivals) {
  const Window window = window_of(arrivals, trace.seconds);
  SecondRows rows(json);
  auto it = std::ranges::lower_bound(trace.requests, window.from * kMicrosPerSecond, {}, &TimedTrace::Request::at_us);
  while (it != trace.requests.end() && it->at_us < window.until * kMicrosPerSecond) {
    const std::int64_t second = it->at_us / kMicrosPerSecond;
    const auto first = it;
    while (it != trace.requests.end() && it->at_us / kMicrosPerSecond == second) ++it;
    rows.add(second - window.from, it - first);
  }
  rows.close(window.until - window.from);
}

void write_rows(Writer& json, const MinuteTrace& trace, const Arrivals& arrivals) {
  constexpr std::int64_t kSecondsPerMinute = 60;
  const Window window = window_of(arrivals, std::ssize(trace.counts) * kSecondsPerMinute);
  SecondRows rows(json);
  for (std::int64_t second = window.from; second < window.until; ++second) {
    const std::int64_t calls = trace.counts[static_cast<std::size_t>(second / kSecondsPerMinute)];
    const std::int64_t into = second % kSecondsPerMinute;
    rows.add(second - window.from, calls * (into + 1) / kSecondsPerMinute - calls * into / kSecondsPerMinute);
  }
  rows.close(window.until - window.from);
}

std::string_view format_of(Generator::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"constant", "poisson", "bursty", "diurnal"};
  return kNames[static_cast<std::size_t>(kind)];
}

void put_source(Writer& json, const Generator& generator, const Arrivals& /*arrivals*/) {
  json.member("format", format_of(generator.kind));
  put_number(json, "requests_per_second", generator.requests_per_second);
}

/// The rows of a recorded trace.
template <class Trace>
void put_source(Writer& json, const Trace& trace, const Arrivals& arrivals) {
  json.member("format", "csv").key("rows");
  write_rows(json, trace, arrivals);
}

void write_arrivals(Writer& json, const Arrivals& arrivals, const std::string* blob) {
  json.open_object();
  if (blob != nullptr) {
    write_reference(json.member("format", "csv").key("rows"), *blob);
  } else {
    std::visit([&](const auto& source) { put_source(json, source, arrivals); }, arrivals.source);
  }
  const bool begins_with_window =
      std::holds_alternative<MinuteTrace>(arrivals.source) || std::holds_alternative<TimedTrace>(arrivals.source);
  json.member("from_second", begins_with_window ? 0 : arrivals.from_second).member("seconds", arrivals.seconds);
  put_number(json, "scale", arrivals.scale);
  json.member("smooth_seconds", arrivals.smooth_seconds).member("repeat", arrivals.repeat).close_object();
}

void put_start(Writer& json, const ServiceSpec& service) {
  if (!service.ready.start_of_model) return put_seconds(json, "start_seconds", service.start);
  json.open_object("start_seconds");
  put_seconds(json, "runtime", service.start - *service.ready.start_of_model);
  put_seconds(json, "model", *service.ready.start_of_model);
  json.close_object();
}

void put_retraining(Writer& json, const Retraining& retraining) {
  json.open_object("retraining");
  put_seconds(json, "every_seconds", retraining.every);
  put_seconds(json, "offset_seconds", retraining.offset);
  put_seconds(json, "swap_seconds", retraining.swap);
  json.member("unfinished", retraining.keeps_unfinished ? "continue" : "abandon").open_object("seconds_on");
  for (const auto& [slices, time] : retraining.time_on) {
    put_seconds(json, slices == 0 ? std::string(kFullProfileName) : fmt::format("{}g", slices), time);
  }
  json.close_object().close_object();
}

void put_pins(Writer& json, const ServiceSpec& service, const Scenario& scenario) {
  json.open_list("pins");
  for (const auto& [slice] : service.pins) {
    json.open_object().member("gpu", slice.gpu.index);
    json.member("profile", profile_name(scenario.model_of(slice.gpu), slice.profile));
    json.member("start", slice.start).close_object();
  }
  json.close_list();
}

/// Isolation in the words of the file.
std::string_view isolation_of(Isolation isolation) {
  constexpr std::array<std::string_view, 4> kNames = {"gpu", "mig", "mps", "timeslice"};
  return kNames[static_cast<std::size_t>(isolation)];
}

/// An object with one number.
void put_object(Writer& json, std::string_view key, std::string_view of_number, const Decimal& number) {
  json.open_object(key);
  put_number(json, of_number, number);
  json.close_object();
}

void put_tier(Writer& json, const TierRule& rule) {
  if (rule.is_auto) json.member("tier", "auto");
  if (!rule.is_auto && !rule.gpu.empty()) json.open_object("tier").member("gpu", rule.gpu).close_object();
  if (rule.known_on.empty()) return;
  json.open_list("known_on");
  for (const std::string& gpu : rule.known_on) json.value(gpu);
  json.close_list();
}

void put_optional_usd(Writer& json, std::string_view key, const std::optional<std::int64_t>& micro_usd) {
  if (micro_usd) put_number(json, key, Decimal(*micro_usd, 1'000'000));
}

void put_readiness(Writer& json, const Readiness& ready) {
  if (ready.warm_pool) {
    json.open_object("warm_pool").member("min", ready.warm_pool->slices_min);
    if (ready.warm_pool->slices_max) json.member("max", *ready.warm_pool->slices_max);
    put_optional_usd(json, "cold_usd", ready.warm_pool->cold_micro_usd);
    put_optional_usd(json, "usd_per_hour", ready.warm_pool->idle_micro_usd_per_hour);
    json.close_object();
  }
  if (ready.answer) put_seconds(json, "answer_seconds", *ready.answer);
}

void put_program(Writer& json, const ProgramChoice& program) {
  const auto put_parameters = [&](std::string_view key) {
    json.open_object(key);
    for (const auto& [name, text] : program.parameters) json.member(name, text);
    json.close_object();
  };
  json.open_object("run");
  if (program.template_name == kServeTemplate) {
    put_parameters(kServeTemplate);
  } else {
    json.member("template", program.template_name);
    if (!program.parameters.empty()) put_parameters("parameters");
  }
  json.close_object();
}

void put_running(Writer& json, const Running& running) {
  if (running.program) put_program(json, *running.program);
  if (!running.replicas) return;
  json.open_object("replicas").member("min", running.replicas->slices_min);
  if (running.replicas->slices_max) json.member("max", *running.replicas->slices_max);
  json.close_object();
}

/// From `weight` on: what the owner wishes.
void put_wishes(Writer& json, const ServiceSpec& service, const Scenario& scenario) {
  put_number(json, "weight", service.weight);
  if (service.floor_attainment) put_object(json, "floor", "attainment", *service.floor_attainment);
  if (service.expects) put_object(json, "expects", "requests_per_second", *service.expects);
  if (!service.pins.empty()) put_pins(json, service, scenario);
  if (service.changes_per_hour) json.member("changes_per_hour", *service.changes_per_hour);
  json.member("isolation", isolation_of(service.isolation));
  if (service.trust_domain) json.member("trust_domain", *service.trust_domain);
  put_tier(json, service.tier);
  put_readiness(json, service.ready);
  put_running(json, service.running);
}

/// Tables and arrivals as rows, or as the blobs that have them.
struct RowTables {
  const ServiceSpec& service;
  const RowsBlobs& blobs;

  [[nodiscard]] bool has_arrivals() const { return service.arrivals.is_given(); }
  void write_arrivals(Writer& json) const {
    scenario::write_arrivals(json, service.arrivals, blob_of(blobs, "arrivals"));
  }
  void write_profile(Writer& json) const {
    scenario::write_profile(json, service.table, service.name, blob_of(blobs, "profile"));
  }
  void write_variant(Writer& json, std::size_t index) const {
    const std::string* blob = blob_of(blobs, fmt::format("variants[{}].profile", index));
    scenario::write_profile(json, service.variants[index].table, service.name, blob);
  }
};

/// Tables and arrivals as the files that have them.
struct FileTables {
  const ServiceSpec& service;
  const ServicePaths& paths;

  [[nodiscard]] static bool has_arrivals() { return true; }
  void write_arrivals(Writer& json) const {
    json.open_object().member("format", "rps-text").member("path", paths.arrivals);
    json.member("from_second", service.arrivals.from_second);
    json.member("seconds", service.arrivals.seconds).close_object();
  }
  void write_profile(Writer& json) const { write_table(json, paths.profile); }
  void write_variant(Writer& json, std::size_t index) const { write_table(json, paths.variants[index]); }

 private:
  void write_table(Writer& json, const std::string& path) const {
    json.open_object().member("format", "csv").member("path", path).member("model", paths.model).close_object();
  }
};

template <class Tables>
void put_variants(Writer& json, const ServiceSpec& service, const Tables& tables) {
  json.open_list("variants");
  for (std::size_t index = 0; index < service.variants.size(); ++index) {
    const Variant& variant = service.variants[index];
    tables.write_variant(json.open_object().member("name", variant.name).key("profile"), index);
    put_accuracy(json, variant.accuracy);
    json.close_object();
  }
  json.close_list();
}

template <class Tables>
void put_fields(Writer& json, const ServiceSpec& service, const Scenario& scenario, const Tables& tables) {
  tables.write_profile(json.key("profile"));
  json.open_object("slo");
  put_number(json, "latency_ms", service.target_ms);
  if (service.agreed.attainment) put_number(json, "attainment", *service.agreed.attainment);
  json.close_object();
  json.open_object("batching");
  put_number(json, "slo_factor", service.batching.slo_factor);
  json.member("max_processes", service.batching.processes_max).close_object();
  json.member("drop", service.drop == DropRule::kEarly ? "early" : "never");
  if (tables.has_arrivals()) tables.write_arrivals(json.key("arrivals"));
  put_start(json, service);
  put_accuracy(json, service.accuracy);
  if (service.retraining) put_retraining(json, *service.retraining);
  if (!service.variants.empty()) put_variants(json, service, tables);
  put_wishes(json, service, scenario);
}

}  // namespace

std::string service_spec_json(const ServiceSpec& service, const Scenario& scenario, const RowsBlobs& blobs) {
  Writer json;
  json.open_object();
  put_fields(json, service, scenario, RowTables{.service = service, .blobs = blobs});
  return json.close_object().take();
}

std::string service_entry_json(const ServiceSpec& service, const Scenario& scenario, const ServicePaths& paths) {
  Writer json;
  json.open_object().member("name", service.name).member("tenant", service.tenant);
  put_fields(json, service, scenario, FileTables{.service = service, .paths = paths});
  return json.close_object().take();
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
  return json::text_of(value);
}

}  // namespace berth::scenario
