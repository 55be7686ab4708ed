/// Where requests for services go: the table that the engine gives to the gateway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/instant.h"

namespace berth {

/// How long a batch takes on a replica, in ascending order of sizes.
struct BatchLatency {
  std::int64_t batch = 1;
  Micros latency;
  friend bool operator==(const BatchLatency&, const BatchLatency&) = default;
};

/// A process that answers requests for a service.
struct Endpoint {
  std::string slice;                      ///< as in the API: "gpu-3-1g.10gb-2"
  std::uint64_t generation = 0;           ///< of the slice
  std::string url;                        ///< "http://127.0.0.1:PORT"
  std::string key;                        ///< what the process proves to have, and asks for; empty: none
  std::optional<std::int64_t> user = {};  ///< whose process it is; absent: the user of others, too
  bool says_who_it_is = false;            ///< its answers name slice and generation in headers (`berth serve`)
  bool is_leaving = false;                ///< gets nothing new
  std::int64_t in_flight_max = 1;         ///< requests that it may have at once, > 0
  std::vector<BatchLatency> latencies{};  ///< empty: not known
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct ServiceEndpoints {
  std::string tenant;
  std::string service;
  Micros target;  ///< an answer after it is late
  Micros answer;  ///< after it a request is not answered any more, >= target
  std::vector<Endpoint> replicas;
  friend bool operator==(const ServiceEndpoints&, const ServiceEndpoints&) = default;
};

/// A whole table; a later one replaces it.
struct EndpointTable {
  std::uint64_t number = 0;  ///< grows with each table of a world
  std::vector<ServiceEndpoints> services;
  friend bool operator==(const EndpointTable&, const EndpointTable&) = default;
};

}  // namespace berth
