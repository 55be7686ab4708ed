/// The reader of a series file.
#pragma once

#include <memory>

#include "domain/ports/series_store.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {

/// Requires: the file's tables exist.
[[nodiscard]] StoreResult<std::unique_ptr<SeriesReader>> make_series_reader(Connection connection);

}  // namespace berth::edges::detail
