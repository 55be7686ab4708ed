/// The reader of a series file.
#pragma once

#include <memory>

#include "edges/sqlite_store/detail/connection.h"
#include "ports/series_store.h"

namespace berth::edges::detail {

/// Of a file whose tables are there.
[[nodiscard]] StoreResult<std::unique_ptr<SeriesReader>> make_series_reader(Connection connection);

}  // namespace berth::edges::detail
