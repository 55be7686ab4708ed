/// What the first page shows, in one answer: a part of the fleet, of the services and of the last plan, and new events.
/// Bounded for a fleet of any size, and of one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ports/http_server.h"
#include "surface/api/api_error.h"
#include "surface/api/objects.h"

namespace berth::api {

inline constexpr std::size_t kOverviewGpus = 48;
inline constexpr std::size_t kOverviewServices = 50;
inline constexpr std::size_t kOverviewActions = 40;
inline constexpr std::size_t kOverviewEvents = 60;

/// The query of GET /v1/overview: all are whole numbers and 0 unless given.
struct OverviewQuery {
  std::size_t gpus = 0;      ///< the first GPU
  std::size_t services = 0;  ///< the first service, in the order of /v1/services
  std::uint64_t events = 0;  ///< events after that one; the latest if there are more than kOverviewEvents
};

/// Error (400): another parameter, a repeated one, or no whole number.
[[nodiscard]] ApiResult<OverviewQuery> parse_overview_query(const HttpRequest& request);

/// `status` is the JSON of /v1/status.
[[nodiscard]] std::string overview_object(const ObjectSource& source, const OverviewQuery& query,
                                          const std::string& status);

/// Numbers of the services that are there, by tenant and name; all of them if `tenant` is empty.
[[nodiscard]] std::vector<ServiceId> services_in_order(const Scenario& scenario, std::string_view tenant);
/// Ascends in that order.
[[nodiscard]] std::string service_key(const ServiceSpec& service);

}  // namespace berth::api
