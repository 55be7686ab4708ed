#include "edges/sqlite_store/devices_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/owner.h"
#include "journal_chain/field_hash.h"

namespace berth::edges {
namespace {

constexpr detail::Owner kDevicesOwner{.application_id = 0x42727444, .format = 1};  // "BrtD"
/// The rows of the world and its clock, beside those of GPUs.
constexpr std::int64_t kWorldRow = -1;
constexpr std::int64_t kClockRow = -2;

/// Synced by `sync` alone: SQLite syncs the WAL only before it copies it into the file.
constexpr const char* kSettings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 1000";
constexpr const char* kTable =
    "CREATE TABLE IF NOT EXISTS devices(gpu INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT";

Sha256 hash_of(std::int64_t gpu, std::string_view body) {
  return chain::FieldHash("device 1").add(gpu).add(body).finish();
}

}  // namespace

struct DevicesFile::State {
  detail::Connection connection;
  detail::Statement select;
  detail::Statement replace;
};

DevicesFile::DevicesFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
DevicesFile::~DevicesFile() = default;

StoreResult<std::unique_ptr<DevicesFile>> DevicesFile::open(const std::string& path) {
  auto connection = detail::Connection::open(path, detail::OpenMode::kWrite, "");
  if (!connection) return tl::unexpected(connection.error());
  auto state = std::make_unique<State>();
  state->connection = std::move(*connection);
  auto checked = detail::check_owner(state->connection, kDevicesOwner, "start with another folder (--data)");
  if (!checked) return tl::unexpected(checked.error());
  for (const std::string& sql : {std::string(kSettings), std::string(kTable), detail::sql_of(kDevicesOwner)}) {
    if (auto done = state->connection.execute(sql.c_str(), "make the tables"); !done)
      return tl::unexpected(done.error());
  }
  auto select = state->connection.prepare("SELECT gpu, body, hash FROM devices ORDER BY gpu", "read the devices");
  if (!select) return tl::unexpected(select.error());
  state->select = std::move(*select);
  auto replace = state->connection.prepare("INSERT OR REPLACE INTO devices VALUES (?, ?, ?)", "write a device");
  if (!replace) return tl::unexpected(replace.error());
  state->replace = std::move(*replace);
  return std::make_unique<DevicesFile>(std::move(state));
}

StoreResult<DevicesFile::Memory> DevicesFile::read() {
  Memory memory;
  detail::StatementRun run = state_->select.run();
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return memory;
    const std::int64_t gpu = run.integer(0);
    std::string body = run.text(1);
    const Sha256 hash = run.digest(2);
    if (!run.is_well_typed() || hash != hash_of(gpu, body)) {
      const std::string what = gpu < 0 ? "a row of the world" : fmt::format("the row of GPU {}", gpu);
      return detail::damaged(state_->connection.path(),
                             fmt::format("{} is not what was written: put back a copy of the folder, or remove this "
                                         "file: the simulated devices are then empty, and planned again",
                                         what));
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
  // SQLite's own syncs of the WAL would cost one per commit.
  for (const std::string& path : {state_->connection.path() + "-wal", state_->connection.path()}) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) continue;
    const bool is_synced = file >= 0 && ::fdatasync(file) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!is_synced) {
      return tl::unexpected(
          StoreError{StoreFault::kFailed, fmt::format("{}: cannot sync: {}", path, std::strerror(error))});
    }
  }
  return {};
}

}  // namespace berth::edges
