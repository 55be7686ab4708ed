/// The store of a world's series in one SQLite file, behind the port `SeriesStore`: docs/reference/series.md has its
/// tables.
///
/// Commits are not synced: a kill loses nothing of them, a power cut those since the last checkpoint. After each append
/// 1/16 of `bytes_max`, or 512 KiB, is free for the next one; beside the file stand PATH-wal and PATH-shm.
#pragma once

#include <cstdint>
#include <string>

#include "domain/ports/series_store.h"

namespace berth::edges {

struct SeriesFileOptions {
  /// Which world the series are of: the wall time of its second 0, in microseconds since 1970.
  std::int64_t world_epoch_us = 0;
  /// Of the file, 1 MiB or more; one part in four is for minutes if there are so many.
  std::int64_t bytes_max = std::int64_t{256} << 20U;
  std::string vfs = {};  ///< for tests: the name of a registered SQLite VFS
};

/// Opens the file, and makes it where it is missing. kForeign and kNewer: it is another program's, or a later
/// version's, and unchanged. kDamaged: what is there is not what was written, or is of another world. Errors of calls
/// as in `StoreFault`.
[[nodiscard]] StoreResult<SeriesStore> open_series_file(const std::string& path, const SeriesFileOptions& options);

/// Puts a file aside that is of no use any more, with what belongs to it: as PATH.damaged, in place of an earlier one.
/// Nobody may have it open. Returns why it could not.
[[nodiscard]] StoreResult<void> set_series_file_aside(const std::string& path);

}  // namespace berth::edges
