#include "edges/sqlite_store/devices_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstring>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/inspect.h"
#include "edges/sqlite_store/detail/owner.h"
#include "edges/sqlite_store/detail/raw_file.h"
#include "live/chain/field_hash.h"

namespace berth::edges {
namespace {

constexpr detail::Owner kDevicesOwner{.application_id = 0x42727444, .format = 1};  // "BrtD"
/// The rows of the world and its clock, next to those of GPUs.
constexpr std::int64_t kWorldRow = -1;
constexpr std::int64_t kClockRow = -2;

/// Synced only by `sync`: SQLite syncs the WAL only before it copies it into the file.
constexpr const char* kSettings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS devices(gpu INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT;";
constexpr const char* kWhatToDo =
    "put back a copy of the folder, or remove this file: the simulated devices are then empty, and planned again";

using Memory = DevicesFile::Memory;
using detail::Connection;
using detail::OpenMode;

Sha256 hash_of(std::int64_t gpu, std::string_view body) {
  return chain::FieldHash("device 1").add(gpu).add(body).finish();
}

StoreResult<void> check_owner(const Connection& connection) {
  return detail::check_owner(connection, kDevicesOwner, "start with another folder (--data)");
}

/// How to read a file without changing it. Without a WAL the file is complete, and SQLite would leave a WAL. Only if
/// the creation of the file was interrupted, SQLite must undo that.
StoreResult<OpenMode> mode_for_reading(const std::string& path, const std::string& vfs) {
  const auto rollback = detail::RawFile::open(path, detail::RawFile::Kind::kRollbackJournal, vfs);
  if (!rollback) return tl::unexpected(rollback.error());
  if (*rollback) return OpenMode::kWrite;
  const auto has_wal = detail::has_wal(path, vfs);
  if (!has_wal) return tl::unexpected(has_wal.error());
  return *has_wal ? OpenMode::kRead : OpenMode::kImmutable;
}

StoreResult<Memory> read_rows(const Connection& connection) {
  auto select = connection.prepare("SELECT gpu, body, hash FROM devices ORDER BY gpu", "read the devices");
  if (!select) return tl::unexpected(select.error());
  Memory memory;
  detail::StatementRun run = select->run();
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return memory;
    const std::int64_t gpu = run.integer(0);
    std::string body = run.text(1);
    const Sha256 hash = run.digest(2);
    if (!run.is_well_typed() || hash != hash_of(gpu, body)) {
      const std::string what = gpu < 0 ? "a row of the world" : fmt::format("the row of gpu-{}", gpu);
      return detail::damaged(connection.path(), fmt::format("{} is not what was written: {}", what, kWhatToDo));
    }
    if (gpu == kWorldRow) {
      memory.world = std::move(body);
    } else if (gpu == kClockRow) {
      memory.clock = std::move(body);
    } else {
      memory.gpus.emplace_back(static_cast<std::uint32_t>(gpu), std::move(body));
    }
  }
}

/// Creates the table and the owner's id in one transaction: a partial file would count as another program's.
StoreResult<void> make_devices_table(const Connection& connection) {
  auto transaction = detail::Transaction::begin(connection, detail::Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  auto made = connection.execute((kTable + detail::sql_of(kDevicesOwner)).c_str(), "make the table");
  return made ? transaction->commit() : made;
}

}  // namespace

struct DevicesFile::State {
  Connection connection;
  detail::Statement replace;
};

DevicesFile::DevicesFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
DevicesFile::~DevicesFile() = default;

StoreResult<Memory> DevicesFile::read(const std::string& path, const std::string& vfs) {
  const auto file = detail::RawFile::open(path, detail::RawFile::Kind::kDatabase, vfs);
  if (!file) return tl::unexpected(file.error());
  if (!*file || (*file)->size() == 0) return Memory();  // SQLite would remove a WAL
  const auto mode = mode_for_reading(path, vfs);
  if (!mode) return tl::unexpected(mode.error());
  const auto connection = Connection::open(path, *mode, vfs);
  if (!connection) return tl::unexpected(connection.error());
  connection->set_checkpoint_on_close(false);
  if (auto checked = check_owner(*connection); !checked) return tl::unexpected(checked.error());
  const auto tables =
      connection->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'devices'", "look for the devices");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) return Memory();
  auto memory = read_rows(*connection);
  const bool has_half = memory && memory->world.empty() && *memory != Memory();
  if (!has_half) return memory;
  return detail::damaged(path, fmt::format("the row of the world is missing: {}", kWhatToDo));
}

StoreResult<std::unique_ptr<DevicesFile>> DevicesFile::open(const std::string& path, const std::string& vfs) {
  auto connection = Connection::open(path, OpenMode::kWrite, vfs);
  if (!connection) return tl::unexpected(connection.error());
  connection->set_checkpoint_on_close(false);  // a refusal changes nothing
  if (auto checked = check_owner(*connection); !checked) return tl::unexpected(checked.error());
  auto set = connection->execute(kSettings, "set the connection up");
  if (set) set = make_devices_table(*connection);
  if (!set) return tl::unexpected(set.error());
  connection->set_checkpoint_on_close(true);
  auto replace = connection->prepare("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", "write a device");
  if (!replace) return tl::unexpected(replace.error());
  auto state = std::make_unique<State>();
  state->connection = std::move(*connection);
  state->replace = std::move(*replace);
  return std::make_unique<DevicesFile>(std::move(state));
}

StoreResult<void> DevicesFile::write(const Memory& memory) {
  auto transaction = detail::Transaction::begin(state_->connection, detail::Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto put = [&](std::int64_t gpu, const std::string& body) {
    const Sha256 hash = hash_of(gpu, body);
    return state_->replace.run().bind(gpu).bind(std::string_view(body)).bind(hash).finish();
  };
  for (const auto& [gpu, body] : memory.gpus) {
    if (auto done = put(gpu, body); !done) return done;
  }
  if (!memory.world.empty()) {
    if (auto done = put(kWorldRow, memory.world); !done) return done;
  }
  if (!memory.clock.empty()) {
    if (auto done = put(kClockRow, memory.clock); !done) return done;
  }
  return transaction->commit();
}

StoreResult<void> DevicesFile::sync() {
  // SQLite's own syncs of the WAL would cost one per commit; its checkpoints sync the file. The WAL is synced through
  // the file that SQLite has open: closing a second descriptor of the database would drop its locks, and other
  // processes could then remove the WAL.
  sqlite3_file* wal = nullptr;
  sqlite3_file_control(state_->connection.raw(), "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&wal));
  if (wal == nullptr || wal->pMethods == nullptr) return {};
  const int code = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL);
  if (code == SQLITE_OK) return {};
  int number = 0;
  wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &number);
  return tl::unexpected(detail::store_error(detail::code_of_failure(code, number), state_->connection.path(), "sync it",
                                            number == 0 ? sqlite3_errstr(code) : std::strerror(number)));
}

}  // namespace berth::edges
