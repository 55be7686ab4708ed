/// A gateway: which replica gets which request, what waits, is repeated, refused and counted. Pure: a time is an
/// argument of everything that happens, and what is to be done is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/endpoints.h"
#include "domain/values/metric.h"
#include "domain/values/request_record.h"
#include "serving/gateway/gateway_order.h"
#include "serving/gateway/gateway_totals.h"
#include "serving/gateway/replica_load.h"
#include "serving/gateway/request_book.h"

namespace berth::serving {

struct GatewayTerms {
  std::size_t queue_count_max = 500;                     ///< of a service
  std::size_t queue_bytes_max = std::size_t{64} << 20U;  ///< of a service: of bodies that wait
  /// Of all requests, until their answers are complete. A tenant with as many as are free gets no more: one alone has
  /// half of them, n with the most have 1 / (n + 1) each, and as much is left for others.
  std::size_t request_count_max = 800;
  int repeat_count_max = 2;                   ///< of a request
  Micros avoid_min = Micros::seconds(1);      ///< a replica that failed gets nothing for so long,
  Micros avoid_max = Micros::seconds(8);      ///< twice as long after each failure, up to this
  Micros record_keep = Micros::seconds(600);  ///< without acknowledgement
  std::size_t record_count_max = 200'000;     ///< kept at a time
};

/// A request that has arrived as a whole.
struct GatewayArrival {
  std::string_view tenant;
  std::string_view service;
  std::size_t bytes = 0;       ///< of its body
  bool is_repeatable = false;  ///< see repeat_rules.h
  std::int64_t second = 0;     ///< of its arrival, since 1970 UTC
};

/// What arrived is known by this number from now on.
struct GatewayEntry {
  GatewayRequestId request = 0;
  std::vector<GatewayOrder> orders;
};

struct GatewayReplicaStatus {
  std::string slice;
  std::uint64_t generation = 0;
  std::string url;
  bool is_leaving = false;  ///< or not listed any more
  bool is_avoided = false;  ///< it has failed
  std::int64_t in_flight = 0;
  std::int64_t in_flight_max = 0;
};

struct GatewayServiceStatus {
  std::string tenant;
  std::string service;
  std::int64_t waiting = 0;
  std::vector<GatewayReplicaStatus> replicas;
};

class Gateway {
 public:
  /// `name` is that of its reports: no other gateway has it.
  explicit Gateway(std::string name, const GatewayTerms& terms = {});
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;
  ~Gateway();

  /// From now on this table counts. Requests of services that it leaves out are refused if they wait.
  [[nodiscard]] std::vector<GatewayOrder> take_table(const EndpointTable& table, Instant now);
  [[nodiscard]] bool has_table() const { return has_table_; }
  [[nodiscard]] std::uint64_t table_number() const { return table_number_; }

  /// Nothing if the table has no such service.
  [[nodiscard]] std::optional<GatewayEntry> arrive(const GatewayArrival& arrival, Instant now);
  /// The head of its answer is there: it has no deadline any more, and is not repeated. False if the request is not
  /// known any more: nothing may be passed on.
  [[nodiscard]] bool begin_answer(GatewayRequestId request);
  /// The call of a request ended. Unknown requests are ignored.
  [[nodiscard]] std::vector<GatewayOrder> end(GatewayRequestId request, GatewayEnd how, Instant now);
  [[nodiscard]] std::vector<GatewayOrder> client_left(GatewayRequestId request, Instant now);
  /// Ends what is over its deadline, and sends what had to wait until now.
  [[nodiscard]] std::vector<GatewayOrder> tick(Instant now);
  /// When `tick` has something to do at the latest; Instant::never() if it has not. O(1).
  [[nodiscard]] Instant next_tick(Instant now) const;

  /// To be called when a second begins.
  void close_seconds(std::int64_t second, Instant now);
  /// What is to be sent to `berth up`. O(records).
  [[nodiscard]] RequestReport report() const;
  void acknowledge(std::uint64_t until) { book_.acknowledge(until); }

  [[nodiscard]] std::vector<GatewayServiceStatus> status(Instant now) const;
  /// For monitoring systems. O(replicas).
  [[nodiscard]] std::vector<MetricFamily> metrics(Instant now) const;
  [[nodiscard]] std::size_t request_count() const { return requests_.size(); }
  [[nodiscard]] const RequestBook& book() const { return book_; }

 private:
  struct Replica;
  struct Service;
  struct Request;
  using ReplicaKey = std::pair<std::string, std::uint64_t>;
  using RequestNode = std::map<GatewayRequestId, Request>::iterator;

  void list_replicas(Service& service, const std::vector<Endpoint>& endpoints, Instant now);
  void refuse_waiting(Service& service, std::vector<GatewayOrder>& orders, std::string_view why);
  void forget_unlisted();
  [[nodiscard]] bool has_share_left(std::string_view tenant) const;
  [[nodiscard]] static Replica* choose(Service& service, Instant now);
  void send_waiting(Service& service, Instant now, std::vector<GatewayOrder>& orders);
  void send(RequestNode node, Replica& replica, Instant now, std::vector<GatewayOrder>& orders);
  void wait(RequestNode node);
  void stop_waiting(RequestNode node);
  void leave_replica(Request& request);
  void note_failure(Replica& replica, Instant now) const;
  [[nodiscard]] bool may_repeat(const Request& request, GatewayEnd how, Instant now) const;
  void refuse(RequestNode node, GatewayOutcome outcome, GatewayRefuse refusal, std::vector<GatewayOrder>& orders);
  void drop(const Request& request, GatewayOutcome outcome);
  void remove(RequestNode node);

  const std::string name_;
  const GatewayTerms terms_;
  bool has_table_ = false;
  std::uint64_t table_number_ = 0;
  GatewayRequestId last_request_ = 0;
  std::size_t waiting_count_ = 0;  ///< of all services
  std::map<ServiceKey, std::unique_ptr<Service>, std::less<>> services_;
  std::map<GatewayRequestId, Request> requests_;
  std::map<std::string, std::size_t, std::less<>> tenant_counts_;  ///< of requests; none is 0
  std::set<std::pair<Instant, GatewayRequestId>> deadlines_;       ///< of requests whose answer has not begun
  RequestBook book_;
  GatewayTotals totals_;
};

}  // namespace berth::serving
