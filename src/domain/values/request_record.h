/// What a gateway counted: requests of a service by the second in which they arrived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "domain/values/latency_buckets.h"

namespace berth {

/// What became known about the requests of one second: the counts of all records of a second add up to its figures, as
/// answers come later than arrivals. `queued` alone is a level: of the latest record.
struct RequestRecord {
  std::uint64_t number = 0;  ///< consecutive from 1 within a gateway's life
  std::string tenant;
  std::string service;
  std::int64_t second = 0;  ///< of arrival, since 1970 UTC
  std::int64_t arrivals = 0;
  std::int64_t in_time = 0;  ///< within the target
  std::int64_t late = 0;
  std::int64_t dropped = 0;    ///< 429, 502, 503, and clients that left
  std::int64_t queued = 0;     ///< waiting in the gateway when the record was made
  LatencyBuckets latencies{};  ///< of the answers, from arrival to the last byte
  friend bool operator==(const RequestRecord&, const RequestRecord&) = default;
};

/// What a gateway sends at once.
struct RequestReport {
  std::string gateway;      ///< drawn at its start: records are counted once for each such name and number
  std::uint64_t table = 0;  ///< EndpointTable::number that it works by
  std::vector<RequestRecord> records;
  friend bool operator==(const RequestReport&, const RequestReport&) = default;
};

}  // namespace berth
