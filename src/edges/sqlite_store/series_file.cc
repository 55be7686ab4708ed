#include "edges/sqlite_store/series_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/series_reader.h"
#include "edges/sqlite_store/detail/series_tables.h"
#include "edges/sqlite_store/detail/series_writer.h"

namespace berth::edges {

StoreResult<SeriesStore> open_series_file(const std::string& path, const SeriesFileOptions& options) {
  auto connection = detail::Connection::open(path, detail::OpenMode::kWrite, options.vfs);
  if (!connection) return tl::unexpected(connection.error());
  connection->set_checkpoint_on_close(false);  // a refused file stays as it is
  if (auto opened = detail::open_series_tables(*connection, options); !opened) return tl::unexpected(opened.error());
  connection->set_checkpoint_on_close(true);
  auto writer = detail::make_series_writer(std::move(*connection), options.bytes_max);
  if (!writer) return tl::unexpected(writer.error());
  auto for_reading = detail::Connection::open(path, detail::OpenMode::kRead, options.vfs);
  if (!for_reading) return tl::unexpected(for_reading.error());
  auto reader = detail::make_series_reader(std::move(*for_reading));
  if (!reader) return tl::unexpected(reader.error());
  return SeriesStore{.writer = std::move(*writer), .reader = std::move(*reader)};
}

StoreResult<void> set_series_file_aside(const std::string& path) {
  const std::string aside = path + ".damaged";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(aside + end, error);
    if (!std::filesystem::exists(path + end, error)) continue;
    std::filesystem::rename(path + end, aside + end, error);
    if (error) {
      return tl::unexpected(
          StoreError{StoreFault::kFailed, fmt::format("{}{}: cannot rename it: {}", path, end, error.message())});
    }
  }
  return {};
}

}  // namespace berth::edges
