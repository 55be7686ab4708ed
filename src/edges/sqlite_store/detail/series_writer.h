/// The writer of a series file: adds spans, and removes the oldest.
#pragma once

#include <cstdint>
#include <memory>

#include "domain/ports/series_store.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Requires: the file's tables are open. `bytes_max`: as in SeriesFileOptions.
[[nodiscard]] StoreResult<std::unique_ptr<SeriesWriter>> make_series_writer(Connection connection,
                                                                            std::int64_t bytes_max);

}  // namespace berth::edges::detail
