// Random tables, requests, ends and pauses, compared with a naive account of what must hold after each step.
#include "serving/gateway/gateway.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/core/rng.h"

namespace berth::serving {
namespace {

constexpr std::size_t kWaitingMax = 4;
constexpr std::size_t kServices = 2;
constexpr Micros kAnswer = Micros::seconds(3);
constexpr Micros kAvoidMax = Micros(100'000);
constexpr std::int64_t kFirstSecond = 1'000;

struct KnownRequest {
  std::size_t service = 0;
  Instant arrived;
  bool is_repeatable = false;
  bool has_begun = false;
  int send_count = 0;
  std::string at;  ///< "" while it waits
};

struct KnownReplica {
  std::int64_t in_flight_max = 1;
  bool takes_new = true;
  Instant avoided_until;  ///< at most so long
};

struct Sums {
  std::int64_t arrivals = 0;
  std::int64_t answered = 0;
  std::int64_t dropped = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

class NaiveAccount {
 public:
  explicit NaiveAccount(std::uint64_t seed) : rng_(seed) {}

  void step() {
    now_ = now_ + Micros(static_cast<std::int64_t>(rng_.below(300'000)));
    switch (rng_.below(10)) {
      case 0:
        return take_table();
      case 1:
        return apply(gateway_.tick(now_));
      case 2:
        return close_second();
      case 3:
      case 4:
        return end_one();
      case 5:
        return leave_one();
      default:
        return arrive();
    }
  }

  void check() {
    for (std::size_t service = 0; service < kServices; ++service) check_waiting(service);
    RC_ASSERT(gateway_.request_count() == requests_.size());
  }

  void check_records() {
    now_ = now_ + Micros::seconds(2);
    close_second();
    std::uint64_t next = 1;
    Sums sums;
    for (auto report = gateway_.report(); !report.records.empty(); report = gateway_.report()) {
      for (const RequestRecord& record : report.records) {
        RC_ASSERT(record.number == next++);
        sums.arrivals += record.arrivals;
        sums.answered += record.in_time + record.late;
        sums.dropped += record.dropped;
      }
      gateway_.acknowledge(next - 1);
    }
    RC_ASSERT(sums == sums_);
    RC_ASSERT(sums.arrivals == sums.answered + sums.dropped + static_cast<std::int64_t>(requests_.size()));
  }

 private:
  [[nodiscard]] std::int64_t second() const { return kFirstSecond + now_.second(); }
  [[nodiscard]] static std::string name_of(std::size_t service, std::uint64_t replica) {
    return std::to_string(service) + "-" + std::to_string(replica);
  }

  void take_table() {
    EndpointTable table{.number = ++table_number_, .services = {}};
    for (auto& [name, replica] : replicas_) replica.takes_new = false;
    for (std::size_t service = 0; service < kServices; ++service) {
      is_listed_[service] = rng_.below(8) != 0;
      if (!is_listed_[service]) continue;
      ServiceEndpoints listed{.tenant = "t",
                              .service = std::to_string(service),
                              .target = Micros::seconds(1),
                              .answer = kAnswer,
                              .replicas = {}};
      for (std::uint64_t i = 0; i < 3; ++i) {
        if (rng_.below(3) == 0) continue;
        const Endpoint endpoint{.slice = name_of(service, i),
                                .generation = 1,
                                .url = "http://127.0.0.1:1",
                                .key = "",
                                .is_leaving = rng_.below(4) == 0,
                                .in_flight_max = static_cast<std::int64_t>(1 + rng_.below(3))};
        replicas_[endpoint.slice].in_flight_max = endpoint.in_flight_max;
        replicas_[endpoint.slice].takes_new = !endpoint.is_leaving;
        listed.replicas.push_back(endpoint);
      }
      table.services.push_back(std::move(listed));
    }
    apply(gateway_.take_table(table, now_));
  }

  void arrive() {
    const std::size_t service = rng_.below(kServices);
    const bool is_repeatable = rng_.below(2) == 0;
    const std::string name = std::to_string(service);
    const auto entry = gateway_.arrive(
        {.tenant = "t", .service = name, .bytes = 1, .is_repeatable = is_repeatable, .second = second()}, now_);
    RC_ASSERT(entry.has_value() == is_listed_[service]);
    if (!entry) return;
    ++sums_.arrivals;
    requests_[entry->request] = {.service = service, .arrived = now_, .is_repeatable = is_repeatable, .at = ""};
    apply(entry->orders);
  }

  void end_one() {
    const auto at = std::ranges::find_if(requests_, [](const auto& each) { return !each.second.at.empty(); });
    if (at == requests_.end()) return;
    const GatewayRequestId request = at->first;
    KnownRequest& known = at->second;
    const auto how = static_cast<GatewayEnd>(rng_.below(6));
    const bool begins = rng_.below(3) == 0 || how == GatewayEnd::kBroken;
    if (begins) {
      RC_ASSERT(gateway_.begin_answer(request));
      known.has_begun = true;
    }
    if (how == GatewayEnd::kAnswered || how == GatewayEnd::kRefused) {
      ++(how == GatewayEnd::kAnswered ? sums_.answered : sums_.dropped);
      requests_.erase(at);
    } else {
      replicas_[known.at].avoided_until = now_ + kAvoidMax;
      known.at.clear();
      may_be_sent_again_ =
          !known.has_begun && (how == GatewayEnd::kNotSent || (known.is_repeatable && how != GatewayEnd::kBroken))
              ? 0
              : request;
    }
    apply(gateway_.end(request, how, now_));
    RC_ASSERT(may_be_sent_again_ == 0 || !requests_.contains(may_be_sent_again_));
    may_be_sent_again_ = 0;
  }

  void leave_one() {
    if (requests_.empty()) return;
    auto at = requests_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(rng_.below(requests_.size())));
    const GatewayRequestId request = at->first;
    const bool was_sent = !at->second.at.empty();
    requests_.erase(at);
    ++sums_.dropped;
    const auto orders = gateway_.client_left(request, now_);
    const bool is_cancelled = !orders.empty() && std::holds_alternative<GatewayCancel>(orders.front());
    RC_ASSERT(is_cancelled == was_sent);
    apply(orders);
  }

  void close_second() { gateway_.close_seconds(second(), now_); }

  void apply(const std::vector<GatewayOrder>& orders) {
    for (const GatewayOrder& order : orders) {
      if (const auto* send = std::get_if<GatewaySend>(&order)) {
        apply_send(*send);
      } else if (const auto* refusal = std::get_if<GatewayRefuse>(&order)) {
        RC_ASSERT(requests_.erase(refusal->request) == 1U);
        ++sums_.dropped;
      } else if (const auto at = requests_.find(std::get<GatewayCancel>(order).request); at != requests_.end()) {
        at->second.at.clear();  // its refusal follows
      }
    }
  }

  void apply_send(const GatewaySend& send) {
    const auto at = requests_.find(send.request);
    RC_ASSERT(at != requests_.end());
    KnownRequest& known = at->second;
    const KnownReplica& replica = replicas_.at(send.replica->slice);
    RC_ASSERT(known.at.empty() && !known.has_begun);
    RC_ASSERT(++known.send_count <= 3);
    RC_ASSERT(replica.takes_new);
    RC_ASSERT(in_flight(send.replica->slice) < replica.in_flight_max);
    RC_ASSERT(now_ < known.arrived + kAnswer);
    for (const auto& [id, other] : requests_) {
      const bool is_before = id < send.request && other.service == known.service && other.at.empty();
      RC_ASSERT(!is_before);
    }
    known.at = send.replica->slice;
  }

  [[nodiscard]] std::int64_t in_flight(const std::string& replica) const {
    return std::ranges::count_if(requests_, [&](const auto& each) { return each.second.at == replica; });
  }

  void check_waiting(std::size_t service) {
    const auto waiting = std::ranges::count_if(
        requests_, [&](const auto& each) { return each.second.service == service && each.second.at.empty(); });
    RC_ASSERT(is_listed_[service] || waiting == 0);
    if (waiting == 0) return;
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto at = replicas_.find(name_of(service, i));
      if (at == replicas_.end() || !at->second.takes_new || now_ < at->second.avoided_until) continue;
      // Whatever may have become free by time alone is noticed at the next tick.
      if (gateway_.next_tick(now_) <= now_ + Micros(50'000) && at->second.avoided_until != Instant()) continue;
      RC_ASSERT(in_flight(at->first) >= at->second.in_flight_max);
    }
  }

  Rng rng_;
  Instant now_;
  Gateway gateway_{"g", {.queue_count_max = kWaitingMax, .avoid_min = Micros(20'000), .avoid_max = kAvoidMax}};
  std::uint64_t table_number_ = 0;
  std::map<GatewayRequestId, KnownRequest> requests_;
  std::map<std::string, KnownReplica> replicas_;
  std::array<bool, kServices> is_listed_{};
  GatewayRequestId may_be_sent_again_ = 0;
  Sums sums_;
};

RC_GTEST_PROP(Gateway, KeepsItsPromises, ()) {
  NaiveAccount account(*rc::gen::arbitrary<std::uint64_t>());
  const int step_count = *rc::gen::inRange(1, 300);
  for (int i = 0; i < step_count; ++i) {
    account.step();
    account.check();
  }
  account.check_records();
}

}  // namespace
}  // namespace berth::serving
