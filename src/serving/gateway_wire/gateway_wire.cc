#include "serving/gateway_wire/gateway_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"

namespace berth::serving {
namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::int64_t kRecordCountMax = 1'000'000'000'000;  // of requests
constexpr std::int64_t kRecordSecondMax = 1'000'000'000'000;
constexpr std::string_view kUrlStart = "http://127.0.0.1:";
constexpr std::string_view kWantedUrl = "http://127.0.0.1:PORT";
constexpr int kPortMax = 65'535;

using yaml::Value;

bool is_visible(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each > ' ' && each <= '~'; });
}

bool is_replica_url(std::string_view url) {
  if (!url.starts_with(kUrlStart)) return false;
  url.remove_prefix(kUrlStart.size());
  int port = 0;
  const char* const end = url.data() + url.size();
  const auto [rest, error] = std::from_chars(url.data(), end, port);
  return error == std::errc() && rest == end && port >= 1 && port <= kPortMax && !url.starts_with('0');
}

void write_replica(json::Writer& json, const Endpoint& replica) {
  json.open_object()
      .member("slice", replica.slice)
      .member("generation", replica.generation)
      .member("url", replica.url)
      .member("key", replica.key);
  if (replica.user) json.member("user", *replica.user);
  json.member("says_who_it_is", replica.says_who_it_is)
      .member("is_leaving", replica.is_leaving)
      .member("in_flight_max", replica.in_flight_max);
  json.list("latencies", replica.latencies, [](json::Writer& to, const BatchLatency& each) {
    to.open_object().member("batch", each.batch).member("us", each.latency.count()).close_object();
  });
  json.close_object();
}

void write_service(json::Writer& json, const ServiceEndpoints& service) {
  json.open_object()
      .member("tenant", service.tenant)
      .member("service", service.service)
      .member("target_us", service.target.count())
      .member("answer_us", service.answer.count());
  json.list("replicas", service.replicas, write_replica);
  json.close_object();
}

void write_record(json::Writer& json, const RequestRecord& record) {
  json.open_object()
      .member("number", record.number)
      .member("tenant", record.tenant)
      .member("service", record.service)
      .member("second", record.second)
      .member("arrivals", record.arrivals)
      .member("in_time", record.in_time)
      .member("late", record.late)
      .member("dropped", record.dropped)
      .member("queued", record.queued);
  json.list("latencies", record.latencies, [](json::Writer& to, const LatencyBucket& each) {
    to.open_list().value(each.bucket).value(each.count).close_list();
  });
  json.close_object();
}

std::vector<Value> items_up_to(const Value& value, std::string_view wanted, std::size_t count_max) {
  std::vector<Value> items = value.items(wanted);
  if (items.size() <= count_max) return items;
  value.refuse(fmt::format("{}, at most {}", wanted, count_max), fmt::format("{}", items.size()));
  return {};
}

std::vector<BatchLatency> read_latencies(const Value& value) {
  std::vector<BatchLatency> latencies;
  for (const Value& item : items_up_to(value, "a list of batch times", kReplicaLatencyCountMax)) {
    const Value batch = item.at("batch");
    BatchLatency latency{.batch = batch.whole({.min = 1, .max = kReplicaBatchMax}),
                         .latency = Micros(item.at("us").whole({.min = 0, .max = kAnswerMax.count()}))};
    if (item.has_failed()) break;
    if (!latencies.empty() && latency.batch <= latencies.back().batch) {
      batch.refuse(fmt::format("a batch above {}", latencies.back().batch));
      break;
    }
    latencies.push_back(latency);
  }
  return latencies;
}

Endpoint read_replica(const Value& item) {
  Endpoint replica;
  const Value slice = item.at("slice");
  replica.slice = slice.name(kNameBytesMax);
  if (!is_visible(replica.slice)) slice.refuse("visible characters of ASCII");
  replica.generation = item.at("generation").whole_unsigned();
  replica.url = item.at("url").text(kWantedUrl);
  if (!is_replica_url(replica.url)) item.at("url").refuse(kWantedUrl);
  const Value key = item.at("key");
  replica.key = key.text("a text");
  if (replica.key.size() > kReplicaKeyBytesMax || !is_visible(replica.key)) {
    key.refuse(fmt::format("at most {} visible characters of ASCII", kReplicaKeyBytesMax), "another text");
  }
  if (const Value user = item.at("user"); user.is_written()) replica.user = user.whole({.min = 0, .max = UINT32_MAX});
  replica.says_who_it_is = item.at("says_who_it_is").truth();
  replica.is_leaving = item.at("is_leaving").truth();
  replica.in_flight_max = item.at("in_flight_max").whole({.min = 1, .max = kReplicaInFlightMax});
  replica.latencies = read_latencies(item.at("latencies"));
  return replica;
}

std::vector<Endpoint> read_replicas(const Value& value) {
  std::vector<Endpoint> replicas;
  std::set<std::pair<std::string, std::uint64_t>> seen;
  for (const Value& item : items_up_to(value, "a list of replicas", kTableReplicaCountMax)) {
    Endpoint replica = read_replica(item);
    if (item.has_failed()) break;
    if (!seen.emplace(replica.slice, replica.generation).second) {
      item.fail("a second replica of the same slice and generation");
      break;
    }
    replicas.push_back(std::move(replica));
  }
  return replicas;
}

ServiceEndpoints read_service(const Value& item) {
  ServiceEndpoints service;
  service.tenant = item.at("tenant").name(kNameBytesMax);
  service.service = item.at("service").name(kNameBytesMax);
  service.target = Micros(item.at("target_us").whole({.min = 1, .max = kAnswerMax.count()}));
  service.answer =
      Micros(item.at("answer_us")
                 .whole({.min = std::max<std::int64_t>(service.target.count(), 1), .max = kAnswerMax.count()}));
  service.replicas = read_replicas(item.at("replicas"));
  return service;
}

EndpointTable read_table(const Value& root) {
  EndpointTable table{.number = root.at("table").whole_unsigned(), .services = {}};
  std::set<std::pair<std::string, std::string>> seen;
  for (const Value& item : items_up_to(root.at("services"), "a list of services", kTableServiceCountMax)) {
    ServiceEndpoints service = read_service(item);
    if (item.has_failed()) break;
    if (!seen.emplace(service.tenant, service.service).second) {
      item.fail("a second service of the same tenant and name");
      break;
    }
    table.services.push_back(std::move(service));
  }
  return table;
}

LatencyBuckets read_buckets(const Value& value) {
  LatencyBuckets buckets;
  for (const Value& item : items_up_to(value, "a list of buckets", kLatencyBucketMax + 1)) {
    const std::vector<Value> pair = item.items("a bucket and its count");
    if (pair.size() != 2) item.refuse("a bucket and its count", fmt::format("{} values", pair.size()));
    if (item.has_failed()) break;
    const std::int64_t min = buckets.empty() ? 0 : std::int64_t{buckets.back().bucket} + 1;
    const std::int64_t bucket = pair[0].whole({.min = min, .max = kLatencyBucketMax});
    const std::int64_t count = pair[1].whole({.min = 1, .max = kRecordCountMax});
    if (item.has_failed()) break;
    buckets.push_back({.bucket = static_cast<std::uint32_t>(bucket), .count = count});
  }
  return buckets;
}

RequestRecord read_record(const Value& item) {
  constexpr yaml::WholeRange kCounts{.min = 0, .max = kRecordCountMax};
  RequestRecord record;
  record.number = item.at("number").whole_unsigned();
  record.tenant = item.at("tenant").name(kNameBytesMax);
  record.service = item.at("service").name(kNameBytesMax);
  record.second = item.at("second").whole({.min = 0, .max = kRecordSecondMax});
  record.arrivals = item.at("arrivals").whole(kCounts);
  record.in_time = item.at("in_time").whole(kCounts);
  record.late = item.at("late").whole(kCounts);
  record.dropped = item.at("dropped").whole(kCounts);
  record.queued = item.at("queued").whole(kCounts);
  record.latencies = read_buckets(item.at("latencies"));
  std::int64_t sum = 0;
  for (const LatencyBucket& each : record.latencies) sum += each.count;
  if (!item.has_failed() && sum != record.in_time + record.late) {
    item.at("latencies")
        .refuse(fmt::format("counts of {} answers", record.in_time + record.late), fmt::format("{}", sum));
  }
  return record;
}

RequestReport read_report(const Value& root) {
  RequestReport report;
  const Value gateway = root.at("gateway");
  report.gateway = gateway.name(kNameBytesMax);
  if (!is_visible(report.gateway)) gateway.refuse("visible characters of ASCII");
  report.table = root.at("table").whole_unsigned();
  for (const Value& item : items_up_to(root.at("records"), "a list of records", kReportRecordCountMax)) {
    RequestRecord record = read_record(item);
    if (item.has_failed()) break;
    const bool is_next = report.records.empty() ? record.number > 0 : record.number == report.records.back().number + 1;
    if (!is_next) {
      item.at("number").refuse(report.records.empty() ? "a number above 0"
                                                      : fmt::format("{}", report.records.back().number + 1));
      break;
    }
    report.records.push_back(std::move(record));
  }
  return report;
}

/// Reads one text with `read`.
template <class T>
Result<T> read_wire(std::string_view text, std::string_view source, std::size_t bytes_max, T (*read)(const Value&)) {
  const auto tree = json::parse_document(text, source, {.text_bytes_max = bytes_max});
  if (!tree) return invalid(tree.error().message);
  yaml::Report failures{std::string(source)};
  T value = read(Value(*tree, failures));
  if (failures.has_failed()) return invalid(failures.failure().message);
  return value;
}

}  // namespace

std::string endpoint_table_json(const EndpointTable& table) {
  json::Writer json;
  json.open_object().member("table", table.number);
  json.list("services", table.services, write_service);
  return json.close_object().take();
}

Result<EndpointTable> read_endpoint_table(std::string_view text, std::string_view source) {
  return read_wire(text, source, kTableBytesMax, read_table);
}

std::string request_report_json(const RequestReport& report) {
  json::Writer json;
  json.open_object().member("gateway", report.gateway).member("table", report.table);
  json.list("records", report.records, write_record);
  return json.close_object().take();
}

std::size_t request_record_bytes_max(const RequestRecord& record) {
  // Keys and seven numbers; names with each byte escaped; a bucket with its count.
  constexpr std::size_t kFixedBytes = 320;
  constexpr std::size_t kEscapedBytes = 6;
  constexpr std::size_t kBucketBytes = 22;
  return kFixedBytes + kEscapedBytes * (record.tenant.size() + record.service.size()) +
         kBucketBytes * record.latencies.size();
}

Result<RequestReport> read_request_report(std::string_view text, std::string_view source) {
  return read_wire(text, source, kReportBytesMax, read_report);
}

std::string records_answer_json(std::uint64_t until) {
  return json::Writer().open_object().member("until", until).close_object().take();
}

Result<std::uint64_t> read_records_answer(std::string_view text, std::string_view source) {
  constexpr std::size_t kAnswerBytesMax = 1'024;
  return read_wire<std::uint64_t>(text, source, kAnswerBytesMax,
                                  [](const Value& root) { return root.at("until").whole_unsigned(); });
}

}  // namespace berth::serving
