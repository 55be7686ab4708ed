/// What the handlers of routes work with.
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

/// Where series are kept. May be empty: then none are.
struct SeriesSource {
  /// Reads them. Called by any thread, without the session's lock. Errors: those of the reading, and why there are
  /// none.
  std::function<StoreResult<void>(const std::function<StoreResult<void>(SeriesReader&)>& reading)> read = {};
};

/// Where blobs are kept. All may be empty: then there are none. Without the session's lock.
struct BlobStore {
  /// Carries out what takes long, one after the other, on a thread of its own.
  std::function<void(std::function<void()> work)> run_slowly = {};
  /// Stores the bytes of a blob as far as they are not there; returns why they are not. Takes long. Requires: they have
  /// that SHA-256.
  std::function<std::optional<std::string>(const Sha256& blob, std::string_view bytes)> store = {};
  /// Makes a blob whole that was stored. Returns whether it was before, or why that could not be recorded.
  std::function<tl::expected<bool, std::string>(const Sha256& blob, std::uint64_t bytes)> finish = {};
  /// Whether it is there, whole.
  std::function<StoreResult<bool>(const Sha256& blob)> has = {};
  /// What is known of it, if it is there, whole.
  std::function<StoreResult<std::optional<BlobRow>>(const Sha256& blob)> find = {};
  /// A part of its bytes, 1 MiB at most, from index 0 on; nothing if it is not there.
  std::function<StoreResult<std::optional<std::string>>(const Sha256& blob, std::uint32_t index)> read_part = {};
  /// Its bytes; nothing if it is not there. Takes long.
  std::function<StoreResult<std::optional<std::string>>(const Sha256& blob)> read = {};
};

/// Only `session` changes: the rest is read without a lock.
struct ApiContext {
  SessionAccess session;
  ObjectFormat format;
  std::string page;                             ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;  ///< takes no lock of the session
  UsageStore usage;
  BlobStore blobs = {};
  SeriesSource series = {};
};

}  // namespace berth::api
