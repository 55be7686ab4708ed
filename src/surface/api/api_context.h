/// The context that handlers of routes get.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/ports/journal_store.h"
#include "domain/ports/series_store.h"
#include "domain/values/metric.h"
#include "domain/values/request_record.h"
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
  std::optional<std::string> clock_trouble = std::nullopt;  ///< why the time is not that of the wall clock
};

/// The store of ended usage. Both functions may be empty: then none is stored.
struct UsageStore {
  /// Records what can be recorded now, and returns the rows that are not recorded yet. Called under the session's lock.
  std::function<std::vector<UsageRow>()> unrecorded = {};
  /// JournalReader::read_usage. Called from any thread, without that lock.
  std::function<StoreResult<std::vector<UsageRow>>(const UsageSpan& span, const std::optional<UsageKey>& after,
                                                   std::size_t count_max)>
      read = {};
};

/// The store of series. `read` may be empty: then there is none.
struct SeriesSource {
  /// Calls `reading` with a reader. Called from any thread, without the session's lock. Errors: those of `reading`, and
  /// why there are no series.
  std::function<StoreResult<void>(const std::function<StoreResult<void>(SeriesReader&)>& reading)> read = {};
};

/// The store of blobs. All functions may be empty: then there is none. Called without the session's lock.
struct BlobStore {
  /// Runs slow work, one piece after another, on a thread of its own.
  std::function<void(std::function<void()> work)> run_slowly = {};
  /// Stores those bytes of a blob that are missing; returns why that failed. Slow. Requires: the bytes have this
  /// SHA-256.
  std::function<std::optional<std::string>(const Sha256& blob, std::string_view bytes)> store = {};
  /// Marks a stored blob as complete. Returns whether it was complete before, or why that could not be recorded.
  std::function<tl::expected<bool, std::string>(const Sha256& blob, std::uint64_t bytes)> finish = {};
  /// Whether the blob exists and is complete.
  std::function<StoreResult<bool>(const Sha256& blob)> has = {};
  /// The row of the blob, if it exists and is complete.
  std::function<StoreResult<std::optional<BlobRow>>(const Sha256& blob)> find = {};
  /// Part `index` of its bytes, counted from 0, at most 1 MiB; nothing if there is none.
  std::function<StoreResult<std::optional<std::string>>(const Sha256& blob, std::uint32_t index)> read_part = {};
  /// All its bytes; nothing if it does not exist. Slow.
  std::function<StoreResult<std::optional<std::string>>(const Sha256& blob)> read = {};
};

/// The world's side of `berth gateway`. Any thread may call these. Empty: no programs run here.
struct GatewaySource {
  /// Calls the sink with lines, from any thread, until it returns false.
  std::function<void(std::function<bool(std::string_view)> sink)> follow = {};
  /// Returns up to which number the records of that gateway are stored; nothing: too many reports wait.
  std::function<std::optional<std::uint64_t>(RequestReport report)> report = {};
};

/// Only `session` and the login behind `log_in` change: the rest is read without a lock.
struct ApiContext {
  SessionAccess session;
  ObjectFormat format;
  std::string page;                             ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;  ///< takes no lock of the session
  UsageStore usage;
  BlobStore blobs = {};
  SeriesSource series = {};
  /// The families of a scrape. Called from any thread, without the session's lock. May be empty: then there are none.
  std::function<std::vector<MetricFamily>()> metrics = {};
  GatewaySource gateway = {};
  /// Exchanges the token of a login address for a key; nothing if that is not possible (OneTimeLogin::exchange).
  std::function<std::optional<std::string>(const std::string& token)> log_in = {};
};

}  // namespace berth::api
