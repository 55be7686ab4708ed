/// Converts figures to rows of a series file and back: figures as columns, the rest as bytes, a checksum over both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/values/series.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// ServiceFigures::latencies and ::settled as bytes: variable-length numbers, lowest 7 bits first. `second`: of the
/// row.
[[nodiscard]] std::string detail_bytes(std::int64_t second, const ServiceFigures& figures);
/// The inverse; false if the bytes are invalid, which leaves `figures` in an unspecified state.
[[nodiscard]] bool read_detail(std::string_view bytes, std::int64_t second, ServiceFigures& figures);

/// Binds the columns of `seconds` and `minutes`; `detail` must outlive the run.
void bind_row(StatementRun& run, std::int64_t second, const ServiceFigures& figures, std::string_view detail);
/// The figures of a row with these columns from 1 on; nothing if its checksum does not match.
[[nodiscard]] std::optional<ServiceFigures> read_row(StatementRun& run, std::int64_t second);

/// The same for `fleet_seconds` and `fleet_minutes`. SM-time is rounded to whole SM-microseconds.
void bind_row(StatementRun& run, std::int64_t second, const FleetFigures& figures);
[[nodiscard]] std::optional<FleetFigures> read_fleet_row(StatementRun& run, std::int64_t second);

}  // namespace berth::edges::detail
