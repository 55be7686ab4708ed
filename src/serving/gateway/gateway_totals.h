/// What a gateway has counted since its start, for monitoring systems.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/metric.h"
#include "serving/gateway/request_book.h"

namespace berth::serving {

/// How a request ended.
enum class GatewayOutcome : std::uint8_t {
  kInTime,      ///< answered within the target
  kLate,        ///< answered after it
  kRefused,     ///< a replica answered 429, 502 or 503
  kFull,        ///< 429: the queue of the service, or the share of the tenant, was full
  kUnanswered,  ///< 503: no answer began within its time, or the service does not exist any more
  kFailed,      ///< 502, or an answer that broke off
  kLeft,        ///< its client disconnected
};
inline constexpr std::size_t kGatewayOutcomeCount = 7;

class GatewayTotals {
 public:
  /// `latency`: of answers.
  void end(const ServiceKey& key, GatewayOutcome outcome, std::optional<Micros> latency = std::nullopt);
  void repeat(const ServiceKey& key) { ++services_[key].repeats; }
  void forget(const ServiceKey& key) { services_.erase(key); }

  /// Appends the families `berth_gateway_requests_total`, `.._repeats_total` and `.._latency_seconds`.
  void put_families(std::vector<MetricFamily>& families) const;

 private:
  struct Totals {
    std::array<std::uint64_t, kGatewayOutcomeCount> outcomes{};
    std::uint64_t repeats = 0;
    MetricHistogram latencies = empty_times();
  };
  std::map<ServiceKey, Totals> services_;
};

}  // namespace berth::serving
