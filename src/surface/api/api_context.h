/// What the handlers of routes work with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "surface/api/objects.h"
#include "surface/api/session_access.h"

namespace berth::api {

/// How the driver runs the session, for /v1/status.
struct DriverStatus {
  double speed = 1;  ///< 0: as fast as possible
  std::uint64_t step_count = 0;
  double step_ms_p50 = 0;
  double step_ms_p99 = 0;
  double step_ms_max = 0;
  bool is_solving = false;
  double last_solve_ms = 0;                                 ///< 0: none yet
  std::optional<std::string> store_failure = std::nullopt;  ///< why nothing can be recorded now
};

/// Only `session` changes: the rest is read without a lock.
struct ApiContext {
  SessionAccess session;
  ObjectFormat format;
  std::string page;                             ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;  ///< takes no lock of the session
};

}  // namespace berth::api
