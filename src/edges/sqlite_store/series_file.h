/// The store of a world's series in one SQLite file, behind the port `SeriesStore`: docs/reference/series.md has its
/// tables.
///
/// Commits are not synced: a kill loses nothing of them, a power cut those since the last checkpoint. After each append
/// 1/16 of `bytes_max`, or 512 KiB, is free for the next one. PATH-wal and PATH-shm are next to the file.
#pragma once

#include <cstdint>
#include <string>

#include "domain/ports/series_store.h"

namespace berth::edges {

struct SeriesFileOptions {
  /// Identifies the world of the series: the wall time of its second 0, in microseconds since 1970.
  std::int64_t world_epoch_us = 0;
  /// The maximum size of the file, at least 1 MiB; up to a quarter is for minutes.
  std::int64_t bytes_max = std::int64_t{256} << 20U;
  std::string vfs = {};  ///< for tests: the name of a registered SQLite VFS
};

/// Opens the file, and creates it if missing. kForeign and kNewer: it is another program's, or a later version's, and
/// left unchanged. kDamaged: the data is not what was written, or is of another world. Errors of calls as in
/// `StoreFault`.
[[nodiscard]] StoreResult<SeriesStore> open_series_file(const std::string& path, const SeriesFileOptions& options);

/// Renames an unusable file, with its WAL and index, to PATH.damaged, replacing an earlier one. Requires: the file is
/// not open. Error: why it could not be renamed.
[[nodiscard]] StoreResult<void> set_series_file_aside(const std::string& path);

}  // namespace berth::edges
