#include "serving/gateway/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

constexpr std::array<std::string_view, 3> kReplicaStateNames = {"open", "leaving", "avoided"};
constexpr Micros kRetryAfter = Micros::seconds(1);
/// While requests wait: replicas that failed are tried again.
constexpr Micros kWaitingTick = Micros(50'000);
constexpr std::size_t kReportRecords = 1'000;
constexpr std::size_t kReportBytes = std::size_t{192} << 10U;  // far below what a reader takes, whatever the names are

GatewayRefuse too_late(Micros answer, bool was_sent) {
  return {.status = 503,
          .message = was_sent ? fmt::format("no answer came within {} s", answer.to_seconds())
                              : fmt::format("no replica was available within {} s", answer.to_seconds()),
          .retry_after = kRetryAfter};
}

GatewayRefuse try_again(std::string_view why) {
  return {.status = 429, .message = fmt::format("{}: try again", why), .retry_after = kRetryAfter};
}

std::string_view failure_text(GatewayEnd how) {
  switch (how) {
    case GatewayEnd::kNotSent:
      return "no replica took the request";
    case GatewayEnd::kNoAnswer:
      return "the replica ended its connection without an answer";
    case GatewayEnd::kWrongReplica:
      return "the answer came from another process than the replica";
    case GatewayEnd::kAnswered:
    case GatewayEnd::kRefused:
    case GatewayEnd::kBroken:
      break;
  }
  return "the replica's answer broke off";
}

}  // namespace

struct Gateway::Replica {
  std::shared_ptr<const Endpoint> endpoint;
  std::int64_t in_flight = 0;
  bool is_listed = true;
  Instant avoided_until = Instant(INT64_MIN);
  int failure_count = 0;  ///< since its last answer
  SlowdownAverage slowdown = {};

  [[nodiscard]] bool is_open() const { return is_listed && !endpoint->is_leaving; }
  [[nodiscard]] bool takes_one(Instant now) const {
    // After a failure one request finds out whether it is back.
    const std::int64_t in_flight_max = failure_count == 0 ? endpoint->in_flight_max : 1;
    return is_open() && now >= avoided_until && in_flight < in_flight_max;
  }
  [[nodiscard]] double predicted_us() const { return predicted_completion_us(endpoint->latencies, in_flight + 1); }
};

struct Gateway::Service {
  ServiceKey key;
  Micros target = {};
  Micros answer = {};
  bool is_listed = true;
  std::map<ReplicaKey, Replica> replicas = {};
  std::set<GatewayRequestId> waiting = {};
  std::size_t waiting_bytes = 0;
};

struct Gateway::Request {
  Service* service = nullptr;
  std::int64_t second = 0;
  Instant arrived = {};
  Instant deadline = {};
  std::size_t bytes = 0;
  bool is_repeatable = false;
  bool has_answer_begun = false;
  int repeat_count = 0;
  Replica* replica = nullptr;  ///< null while it waits
  Instant sent = {};
  double predicted_us = 0;
};

Gateway::Gateway(std::string name, const GatewayTerms& terms)
    : name_(std::move(name)), terms_(terms), book_(terms.record_keep, terms.record_count_max) {}
Gateway::~Gateway() = default;

std::vector<GatewayOrder> Gateway::take_table(const EndpointTable& table, Instant now) {
  std::vector<GatewayOrder> orders;
  has_table_ = true;
  table_number_ = table.number;
  for (auto& [key, service] : services_) service->is_listed = false;
  for (const ServiceEndpoints& listed : table.services) {
    const ServiceKey key{listed.tenant, listed.service};
    std::unique_ptr<Service>& service = services_[key];
    if (service == nullptr) service = std::make_unique<Service>(Service{.key = key});
    service->is_listed = true;
    service->target = listed.target;
    service->answer = listed.answer;
    list_replicas(*service, listed.replicas, now);
  }
  for (auto& [key, service] : services_) {
    if (service->is_listed) {
      send_waiting(*service, now, orders);
    } else {
      list_replicas(*service, {}, now);
      refuse_waiting(*service, orders, "the service does not exist any more");
    }
  }
  forget_unlisted();
  return orders;
}

void Gateway::list_replicas(Service& service, const std::vector<Endpoint>& endpoints, Instant now) {
  for (auto& [key, replica] : service.replicas) replica.is_listed = false;
  for (const Endpoint& endpoint : endpoints) {
    Replica& replica = service.replicas[{endpoint.slice, endpoint.generation}];
    const bool is_same = replica.endpoint != nullptr && *replica.endpoint == endpoint;
    const bool is_another_process =
        replica.endpoint != nullptr && (replica.endpoint->url != endpoint.url || replica.endpoint->key != endpoint.key);
    if (is_another_process) {
      replica.avoided_until = now;
      replica.failure_count = 0;
    }
    if (!is_same) replica.endpoint = std::make_shared<const Endpoint>(endpoint);
    replica.is_listed = true;
  }
}

void Gateway::refuse_waiting(Service& service, std::vector<GatewayOrder>& orders, std::string_view why) {
  while (!service.waiting.empty()) {
    const RequestNode node = requests_.find(*service.waiting.begin());
    refuse(node, GatewayOutcome::kUnanswered, {.status = 503, .message = std::string(why)}, orders);
  }
}

void Gateway::forget_unlisted() {
  for (auto& [key, service] : services_) {
    std::erase_if(service->replicas,
                  [](const auto& each) { return !each.second.is_listed && each.second.in_flight == 0; });
  }
  std::erase_if(services_, [this](const auto& each) {
    const bool is_gone = !each.second->is_listed && each.second->replicas.empty();
    if (is_gone) totals_.forget(each.first);
    return is_gone;
  });
}

std::optional<GatewayEntry> Gateway::arrive(const GatewayArrival& arrival, Instant now) {
  const auto at = services_.find(ServiceKey{arrival.tenant, arrival.service});
  if (at == services_.end() || !at->second->is_listed) return std::nullopt;
  Service& service = *at->second;
  GatewayEntry entry{.request = ++last_request_, .orders = {}};
  book_.arrive(service.key, arrival.second);
  const Instant deadline = now + service.answer;
  const RequestNode node = requests_
                               .emplace(entry.request, Request{.service = &service,
                                                               .second = arrival.second,
                                                               .arrived = now,
                                                               .deadline = deadline,
                                                               .bytes = arrival.bytes,
                                                               .is_repeatable = arrival.is_repeatable})
                               .first;
  deadlines_.emplace(deadline, entry.request);
  const bool has_share = has_share_left(service.key.first);
  ++tenant_counts_[service.key.first];
  send_waiting(service, now, entry.orders);  // a replica may be available again since the last event
  if (!has_share) {
    refuse(node, GatewayOutcome::kFull,
           try_again(fmt::format("wanted at most as many requests of tenant {} as are free of {}", arrival.tenant,
                                 terms_.request_count_max)),
           entry.orders);
    return entry;
  }
  Replica* replica = service.waiting.empty() ? choose(service, now) : nullptr;
  if (replica != nullptr) {
    send(node, *replica, now, entry.orders);
  } else if (service.waiting.size() >= terms_.queue_count_max ||
             service.waiting_bytes + arrival.bytes > terms_.queue_bytes_max) {
    refuse(node, GatewayOutcome::kFull,
           try_again(fmt::format("wanted at most {} requests and {} bytes that wait for {}/{}", terms_.queue_count_max,
                                 terms_.queue_bytes_max, arrival.tenant, arrival.service)),
           entry.orders);
  } else {
    wait(node);
  }
  return entry;
}

/// Whether one more request of this tenant, which is counted in `requests_` only, is within its share.
bool Gateway::has_share_left(std::string_view tenant) const {
  const auto own = tenant_counts_.find(tenant);
  const std::size_t own_count = own == tenant_counts_.end() ? 0 : own->second;
  return own_count + (requests_.size() - 1) < terms_.request_count_max;
}

Gateway::Replica* Gateway::choose(Service& service, Instant now) {
  Replica* best = nullptr;
  double best_us = 0;
  for (auto& [key, replica] : service.replicas) {
    if (!replica.takes_one(now)) continue;
    const double us = replica.predicted_us() * replica.slowdown.factor(now);
    if (best != nullptr && us >= best_us) continue;
    best = &replica;
    best_us = us;
  }
  return best;
}

void Gateway::send_waiting(Service& service, Instant now, std::vector<GatewayOrder>& orders) {
  while (!service.waiting.empty()) {
    const RequestNode node = requests_.find(*service.waiting.begin());
    const Request& first = node->second;
    if (first.deadline <= now) {
      refuse(node, GatewayOutcome::kUnanswered, too_late(first.deadline - first.arrived, false), orders);
      continue;
    }
    Replica* const replica = choose(service, now);
    if (replica == nullptr) return;
    stop_waiting(node);
    send(node, *replica, now, orders);
  }
}

void Gateway::send(RequestNode node, Replica& replica, Instant now, std::vector<GatewayOrder>& orders) {
  Request& request = node->second;
  request.replica = &replica;
  request.sent = now;
  request.predicted_us = replica.predicted_us();
  ++replica.in_flight;
  orders.emplace_back(GatewaySend{.request = node->first, .replica = replica.endpoint});
}

void Gateway::wait(RequestNode node) {
  Service& service = *node->second.service;
  service.waiting.insert(node->first);
  service.waiting_bytes += node->second.bytes;
  ++waiting_count_;
}

void Gateway::stop_waiting(RequestNode node) {
  Service& service = *node->second.service;
  if (service.waiting.erase(node->first) == 0) return;
  service.waiting_bytes -= node->second.bytes;
  --waiting_count_;
}

void Gateway::leave_replica(Request& request) {
  ENSURE(request.replica != nullptr && request.replica->in_flight > 0);
  --request.replica->in_flight;
  request.replica = nullptr;
}

void Gateway::note_failure(Replica& replica, Instant now) const {
  if (now < replica.avoided_until) return;  // one of several requests that met the same failure
  Micros avoided = terms_.avoid_min;
  for (int i = 0; i < replica.failure_count && avoided < terms_.avoid_max; ++i) avoided = avoided * 2;
  replica.avoided_until = now + std::min(avoided, terms_.avoid_max);
  ++replica.failure_count;
}

bool Gateway::begin_answer(GatewayRequestId request) {
  const RequestNode node = requests_.find(request);
  if (node == requests_.end() || node->second.replica == nullptr) return false;
  node->second.has_answer_begun = true;
  deadlines_.erase({node->second.deadline, request});
  return true;
}

bool Gateway::may_repeat(const Request& request, GatewayEnd how, Instant now) const {
  if (request.has_answer_begun || request.repeat_count >= terms_.repeat_count_max || now >= request.deadline) {
    return false;
  }
  if (!request.service->is_listed) return false;
  switch (how) {
    case GatewayEnd::kNotSent:
      return true;
    case GatewayEnd::kNoAnswer:
    case GatewayEnd::kWrongReplica:
      return request.is_repeatable;
    case GatewayEnd::kAnswered:
    case GatewayEnd::kRefused:
    case GatewayEnd::kBroken:
      return false;
  }
  return false;
}

std::vector<GatewayOrder> Gateway::end(GatewayRequestId request, GatewayEnd how, Instant now) {
  std::vector<GatewayOrder> orders;
  const RequestNode node = requests_.find(request);
  if (node == requests_.end() || node->second.replica == nullptr) return orders;
  Request& ended = node->second;
  Service& service = *ended.service;
  Replica& replica = *ended.replica;
  leave_replica(ended);
  if (how == GatewayEnd::kAnswered) {
    const Micros latency = now - ended.arrived;
    const bool is_in_time = latency <= service.target;
    book_.answer(service.key, ended.second, latency, is_in_time);
    totals_.end(service.key, is_in_time ? GatewayOutcome::kInTime : GatewayOutcome::kLate, latency);
    replica.failure_count = 0;
    replica.slowdown.measure(ended.predicted_us, static_cast<double>((now - ended.sent).count()), now);
    remove(node);
  } else if (how == GatewayEnd::kRefused) {
    drop(ended, GatewayOutcome::kRefused);
    replica.failure_count = 0;
    remove(node);
  } else {
    note_failure(replica, now);
    if (may_repeat(ended, how, now)) {
      ++ended.repeat_count;
      totals_.repeat(service.key);
      wait(node);
    } else {
      refuse(node, GatewayOutcome::kFailed,
             {.status = 502, .message = fmt::format("{} (sent {} times)", failure_text(how), ended.repeat_count + 1)},
             orders);
    }
  }
  send_waiting(service, now, orders);
  if (!replica.is_listed && replica.in_flight == 0) forget_unlisted();
  return orders;
}

std::vector<GatewayOrder> Gateway::client_left(GatewayRequestId request, Instant now) {
  std::vector<GatewayOrder> orders;
  const RequestNode node = requests_.find(request);
  if (node == requests_.end()) return orders;
  Service& service = *node->second.service;
  if (node->second.replica != nullptr) {
    leave_replica(node->second);
    orders.emplace_back(GatewayCancel{request});
  }
  drop(node->second, GatewayOutcome::kLeft);
  remove(node);
  send_waiting(service, now, orders);
  forget_unlisted();
  return orders;
}

std::vector<GatewayOrder> Gateway::tick(Instant now) {
  std::vector<GatewayOrder> orders;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const RequestNode node = requests_.find(deadlines_.begin()->second);
    Request& late = node->second;
    const bool was_sent = late.replica != nullptr;
    if (was_sent) {
      leave_replica(late);
      orders.emplace_back(GatewayCancel{node->first});
    }
    refuse(node, GatewayOutcome::kUnanswered, too_late(late.deadline - late.arrived, was_sent), orders);
  }
  for (auto& [key, service] : services_) send_waiting(*service, now, orders);
  forget_unlisted();
  return orders;
}

Instant Gateway::next_tick(Instant now) const {
  const Instant deadline = deadlines_.empty() ? Instant::never() : deadlines_.begin()->first;
  return waiting_count_ > 0 ? std::min(deadline, now + kWaitingTick) : deadline;
}

void Gateway::drop(const Request& request, GatewayOutcome outcome) {
  book_.drop(request.service->key, request.second);
  totals_.end(request.service->key, outcome);
}

void Gateway::refuse(RequestNode node, GatewayOutcome outcome, GatewayRefuse refusal,
                     std::vector<GatewayOrder>& orders) {
  refusal.request = node->first;
  drop(node->second, outcome);
  remove(node);
  orders.emplace_back(std::move(refusal));
}

void Gateway::remove(RequestNode node) {
  stop_waiting(node);
  deadlines_.erase({node->second.deadline, node->first});
  const auto tenant = tenant_counts_.find(node->second.service->key.first);
  if (--tenant->second == 0) tenant_counts_.erase(tenant);
  requests_.erase(node);
}

void Gateway::close_seconds(std::int64_t second, Instant now) {
  std::vector<WaitingCount> waiting;
  for (const auto& [key, service] : services_) {
    if (!service->is_listed) continue;
    waiting.push_back({.key = &service->key, .waiting = static_cast<std::int64_t>(service->waiting.size())});
  }
  book_.close_seconds(second, waiting, now);
}

RequestReport Gateway::report() const {
  return {.gateway = name_, .table = table_number_, .records = book_.oldest(kReportRecords, kReportBytes)};
}

std::vector<GatewayServiceStatus> Gateway::status(Instant now) const {
  std::vector<GatewayServiceStatus> all;
  for (const auto& [key, service] : services_) {
    GatewayServiceStatus status{.tenant = key.first,
                                .service = key.second,
                                .waiting = static_cast<std::int64_t>(service->waiting.size()),
                                .replicas = {}};
    for (const auto& [replica_key, replica] : service->replicas) {
      status.replicas.push_back({.slice = replica_key.first,
                                 .generation = replica_key.second,
                                 .url = replica.endpoint->url,
                                 .is_leaving = !replica.is_open(),
                                 .is_avoided = now < replica.avoided_until,
                                 .in_flight = replica.in_flight,
                                 .in_flight_max = replica.endpoint->in_flight_max});
    }
    all.push_back(std::move(status));
  }
  return all;
}

std::vector<MetricFamily> Gateway::metrics(Instant now) const {
  std::vector<MetricFamily> families;
  totals_.put_families(families);
  MetricFamily waiting{.name = "berth_gateway_waiting_requests", .help = "Requests that wait for a replica"};
  MetricFamily in_flight{.name = "berth_gateway_in_flight_requests", .help = "Requests that replicas have"};
  MetricFamily replicas{.name = "berth_gateway_replicas", .help = "Replicas by state"};
  for (const GatewayServiceStatus& service : status(now)) {
    const auto sample = [&service](double value) {
      return MetricSample{.labels = {{"tenant", service.tenant}, {"service", service.service}}, .value = value};
    };
    std::int64_t in_flight_count = 0;
    std::array<std::int64_t, kReplicaStateNames.size()> counts{};
    for (const GatewayReplicaStatus& replica : service.replicas) {
      in_flight_count += replica.in_flight;
      ++counts[replica.is_leaving ? 1 : (replica.is_avoided ? 2 : 0)];
    }
    waiting.samples.push_back(sample(static_cast<double>(service.waiting)));
    in_flight.samples.push_back(sample(static_cast<double>(in_flight_count)));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      replicas.samples.push_back(sample(static_cast<double>(counts[i])));
      replicas.samples.back().labels.emplace_back("state", kReplicaStateNames[i]);
    }
  }
  for (MetricFamily* const each : {&waiting, &in_flight, &replicas}) families.push_back(std::move(*each));
  const auto put = [&families](const char* name, const char* help, MetricKind kind, double value) {
    families.push_back({.name = name, .help = help, .kind = kind, .samples = {{.labels = {}, .value = value}}});
  };
  put("berth_gateway_requests", "Requests whose answers are not complete", MetricKind::kGauge,
      static_cast<double>(requests_.size()));
  put("berth_gateway_table", "Number of the table of endpoints; 0: none", MetricKind::kGauge,
      static_cast<double>(table_number_));
  put("berth_gateway_kept_records", "Records that berth up has not acknowledged", MetricKind::kGauge,
      static_cast<double>(book_.kept_count()));
  put("berth_gateway_lost_records_total", "Records that berth up did not acknowledge in time", MetricKind::kCounter,
      static_cast<double>(book_.lost_count()));
  return families;
}

}  // namespace berth::serving
