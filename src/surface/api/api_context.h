/// What the handlers of routes work with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ports/journal_store.h"
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

/// Where usage that is over is kept. Both may be empty: then none is.
struct UsageStore {
  /// Records what can be recorded now, and returns what still waits for that. Called under the session's lock.
  std::function<std::vector<UsageRow>()> unrecorded = {};
  /// JournalReader::read_usage. Called by any thread, without that lock.
  std::function<StoreResult<std::vector<UsageRow>>(const UsageSpan& span, const std::optional<UsageKey>& after,
                                                   std::size_t count_max)>
      read = {};
};

/// Only `session` changes: the rest is read without a lock.
struct ApiContext {
  SessionAccess session;
  ObjectFormat format;
  std::string page;                             ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;  ///< takes no lock of the session
  UsageStore usage;
};

}  // namespace berth::api
