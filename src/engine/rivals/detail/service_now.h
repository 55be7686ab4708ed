/// The state of each service when a moving policy decides, and the expected value of a share.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/values/scenario.h"
#include "engine/rivals/detail/fleet_search.h"
#include "engine/rivals/detail/service_forecasts.h"
#include "engine/rivals/target.h"

namespace berth::partition::detail {

struct ServiceNow {
  DemandForecast demand;  ///< over the horizon
  double worth = 0;       ///< of one answer in time per second, accuracy 1: all services fully served are worth 1
  bool drops_never = false;
  double backlog_rate = 0;  ///< the queue, as requests per second over the horizon (drop: never)
  struct Accuracies {
    double before = 1;
    double after = 1;
  };
  std::vector<Accuracies> accuracies;  ///< by variant, 0: the model itself
  bool has_retraining = false;
  bool is_due = false;          ///< stale, and its retraining may run
  double progress = 0;          ///< of it
  double next_due_seconds = 0;  ///< from now
  double swap_seconds = 0;
  bool keeps_unfinished = false;
};

/// The state of all services as of `sight`, with their demands over `horizon_seconds` from now on.
[[nodiscard]] std::vector<ServiceNow> services_now(const Scenario& scenario, const Sight& sight,
                                                   const ServiceForecasts& forecasts, std::int64_t horizon_seconds);

/// Requests per second answered in time at a capacity. Early dropping: E[min(demand, capacity)]. `drop: never`: a
/// growing queue makes all requests late, so beyond the capacity the share in time falls with the fourth power of the
/// overload (our own rule of thumb).
[[nodiscard]] double in_time_rate(const ServiceNow& service, double capacity);

/// The service's part of the mean of accuracy x share in time over the horizon, in [0, worth x mean demand]. A due
/// retraining is judged until the next due time, if that is later: until it is done `before` is in force and its piece
/// serves nothing; then `after` is in force and the piece serves. One that will not be done before the next due time
/// gains nothing (unless unfinished work is kept). Pieces that are ready later lose what they would have served.
/// Requires: the variant is one of the service's.
[[nodiscard]] double expected_value(const ServiceNow& service, const Share& share, double horizon_seconds,
                                    int variant = 0);

/// Seconds from now until the share's retraining is done, its swap included; infinite if it is lost before.
[[nodiscard]] double retraining_done_seconds(const ServiceNow& service, const Share& share);

/// The services for which a retraining is due.
[[nodiscard]] std::vector<char> due_services(const std::vector<ServiceNow>& services);

}  // namespace berth::partition::detail
