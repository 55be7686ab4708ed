/// The tables of a series file.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "domain/ports/series_store.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/series_file.h"

namespace berth::edges::detail {

inline constexpr std::int64_t kSeriesPageBytes = 4096;

struct SeriesTables {
  SeriesRing ring;
  const char* services;
  const char* fleet;
  const char* bytes;  ///< the column of `meta`
  std::int64_t step;  ///< seconds of a span
};

inline constexpr std::array kSeriesRings = {
    SeriesTables{SeriesRing::kSeconds, "seconds", "fleet_seconds", "seconds_bytes", 1},
    SeriesTables{SeriesRing::kMinutes, "minutes", "fleet_minutes", "minutes_bytes", 60},
};

/// Checks the file's owner, and creates the tables if missing. Refusals as for open_series_file.
[[nodiscard]] StoreResult<void> open_series_tables(const Connection& connection, const SeriesFileOptions& options);

}  // namespace berth::edges::detail
