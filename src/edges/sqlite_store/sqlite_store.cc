#include "edges/sqlite_store/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/inspect.h"
#include "edges/sqlite_store/detail/reader.h"
#include "edges/sqlite_store/detail/reading.h"
#include "edges/sqlite_store/detail/tables.h"
#include "edges/sqlite_store/detail/writer.h"

namespace berth::edges {
namespace {

using detail::Connection;
using detail::OpenMode;

/// A connection that may write, with the settings on which durability depends.
StoreResult<Connection> open_for_writing(const std::string& path, const SqliteStoreOptions& options) {
  auto connection = Connection::open(path, OpenMode::kWrite, options.vfs);
  if (!connection) return connection;
  connection->set_checkpoint_on_close(false);  // a refusal changes nothing
  return connection;
}

/// Afterwards the tables are in the current format.
StoreResult<void> set_up(const Connection& connection) {
  const auto mode = connection.text("PRAGMA journal_mode = WAL", "switch to a WAL");
  if (!mode) return tl::unexpected(mode.error());
  if (*mode != "wal") {
    return tl::unexpected(
        StoreError{StoreFault::kFailed,
                   fmt::format("{}: cannot switch to a WAL: its journal_mode is {}", connection.path(), *mode)});
  }
  // The writer does the checkpoints; after one, a WAL that has grown is truncated to 8 MiB.
  auto set = connection.execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0; "
      "PRAGMA journal_size_limit = 8388608; PRAGMA cache_size = -32768; PRAGMA cell_size_check = ON; "
      "PRAGMA trusted_schema = OFF; "
      "PRAGMA temp_store = MEMORY",
      "set the connection up");
  if (!set) return tl::unexpected(set.error());
  if (auto upgraded = detail::upgrade_tables(connection); !upgraded) return upgraded;
  connection.set_checkpoint_on_close(true);
  return {};
}

/// Makes the entry of a new file in its folder durable.
StoreResult<void> sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool is_synced = file >= 0 && ::fsync(file) == 0;
  const int number = errno;
  if (file >= 0) ::close(file);
  if (is_synced || number == EINVAL) return {};  // some file systems cannot sync a folder
  return tl::unexpected(StoreError{number == ENOSPC ? StoreFault::kFull : StoreFault::kFailed,
                                   fmt::format("{}: cannot sync its folder: {}", path, std::strerror(number))});
}

class SqliteStore : public JournalStore {
 public:
  /// `keeper` is a connection that stays open, so that the WAL's index exists as long as the store.
  SqliteStore(std::string path, SqliteStoreOptions options, Connection keeper)
      : path_(std::move(path)), options_(std::move(options)), keeper_(std::move(keeper)) {
    detail::checkpoint(keeper_, SQLITE_CHECKPOINT_PASSIVE, checkpoints_);
  }
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override {
    if (checkpoints_.is_stopped) keeper_.set_checkpoint_on_close(false);
  }

  [[nodiscard]] StoreResult<std::unique_ptr<JournalWriter>> open_writer(std::uint64_t epoch) override {
    auto connection = open_for_writing(path_, options_);
    if (!connection) return tl::unexpected(connection.error());
    if (auto set = set_up(*connection); !set) return tl::unexpected(set.error());
    return detail::SqliteWriter::open(
        *std::move(connection),
        {.epoch = epoch, .checkpoint_pages = options_.checkpoint_pages, .checkpoints = &checkpoints_});
  }

  [[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> open_reader() override {
    auto connection = Connection::open(path_, OpenMode::kRead, options_.vfs);
    if (!connection) return tl::unexpected(connection.error());
    return detail::SqliteReader::open(*std::move(connection));
  }

  [[nodiscard]] StoreResult<std::uint64_t> epoch() override {
    auto table = detail::MetaTable::open(keeper_, OpenMode::kRead);
    if (!table) return tl::unexpected(table.error());
    const auto meta = table->read();
    if (!meta) return tl::unexpected(meta.error());
    return meta->epoch;
  }

 private:
  std::string path_;
  SqliteStoreOptions options_;
  Connection keeper_;
  detail::Checkpoints checkpoints_;
};

StoreResult<std::unique_ptr<detail::SqliteReader>> open_any_reader(const std::string& path,
                                                                   const SqliteStoreOptions& options) {
  const auto inspection = detail::inspect(path, options.vfs);
  if (!inspection) return tl::unexpected(inspection.error());
  if (inspection->is_new) {
    return tl::unexpected(StoreError{StoreFault::kFailed, fmt::format("{}: wanted a journal, found none", path)});
  }
  auto connection = detail::open_for_reading(path, options.vfs);
  if (!connection) return tl::unexpected(connection.error());
  return detail::SqliteReader::open(*std::move(connection));
}

}  // namespace

StoreResult<OpenedSqliteStore> open_sqlite_store(const std::string& path, const SqliteStoreOptions& options) {
  auto inspection = detail::inspect(path, options.vfs);
  if (!inspection) return tl::unexpected(inspection.error());
  auto connection = open_for_writing(path, options);
  if (!connection) return tl::unexpected(connection.error());
  if (inspection->is_new) {
    if (auto made = detail::make_tables(*connection); !made) return tl::unexpected(made.error());
    if (options.vfs.empty()) {
      if (auto synced = sync_folder_of(path); !synced) return tl::unexpected(synced.error());
    }
  }
  if (auto set = set_up(*connection); !set) return tl::unexpected(set.error());
  const auto has_no_usage = connection->integer("SELECT NOT EXISTS (SELECT 1 FROM usage)", "read usage");
  if (!has_no_usage) return tl::unexpected(has_no_usage.error());
  auto store = std::make_unique<SqliteStore>(path, options, *std::move(connection));
  if (auto epoch = store->epoch(); !epoch) return tl::unexpected(epoch.error());
  return OpenedSqliteStore{
      .store = std::move(store), .notes = std::move(inspection->notes), .has_no_past_usage = *has_no_usage != 0};
}

StoreResult<bool> is_sqlite_store_new(const std::string& path, const SqliteStoreOptions& options) {
  const auto inspection = detail::inspect(path, options.vfs);
  if (!inspection) return tl::unexpected(inspection.error());
  return inspection->is_new;
}

StoreResult<std::unique_ptr<JournalReader>> open_sqlite_reader(const std::string& path,
                                                               const SqliteStoreOptions& options) {
  auto reader = open_any_reader(path, options);
  if (!reader) return tl::unexpected(reader.error());
  return *std::move(reader);
}

StoreResult<chain::JournalCounts> verify_sqlite_store(const std::string& path, const SqliteStoreOptions& options) {
  auto reader = open_any_reader(path, options);
  if (!reader) return tl::unexpected(reader.error());
  const auto found = (*reader)->connection().text("PRAGMA integrity_check(1)", "check its structure");
  if (!found) return tl::unexpected(found.error());
  if (*found != "ok") return detail::damaged(path, fmt::format("its structure is damaged: {}", *found));
  return chain::verify_journal(**reader);
}

}  // namespace berth::edges
