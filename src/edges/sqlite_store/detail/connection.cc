#include "edges/sqlite_store/detail/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace berth::edges::detail {
namespace {

constexpr int kLockWaitMs = 250;

constexpr int primary(int code) { return code & 0xff; }

StoreFault fault_of(int code) {
  switch (primary(code)) {
    case SQLITE_FULL:
      return StoreFault::kFull;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return StoreFault::kLocked;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:  // our statements are correct, so the tables are not
      return StoreFault::kDamaged;
    default:
      return StoreFault::kFailed;
  }
}

std::string_view advice(StoreFault fault) {
  switch (fault) {
    case StoreFault::kFull:
      return "; free space on the device, then try again";
    case StoreFault::kLocked:
      return "; another process has locked it: end that process or wait for it";
    case StoreFault::kDamaged:
      return "; restore it from a copy";
    case StoreFault::kFailed:
    case StoreFault::kDeposed:
    case StoreFault::kNewer:
    case StoreFault::kForeign:
      return "";
  }
  return "";
}

/// The path as a URI with the option for immutable files.
std::string immutable_uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

int code_of_failure(int code, int number) {
  // A device that reports a missing block only when it syncs.
  const bool is_short_of_space = primary(code) == SQLITE_IOERR && (number == ENOSPC || number == EDQUOT);
  return is_short_of_space ? SQLITE_FULL : code;
}

StoreError store_error(int code, const std::string& path, std::string_view doing, const char* why) {
  const StoreFault fault = fault_of(code);
  return {fault, fmt::format("{}: cannot {}: {}{}", path, doing, why, advice(fault))};
}

StoreError store_error(sqlite3* database, std::string_view doing) {
  const char* name = sqlite3_db_filename(database, "main");
  const int code = code_of_failure(sqlite3_extended_errcode(database), sqlite3_system_errno(database));
  return store_error(code, name == nullptr ? "" : name, doing, sqlite3_errmsg(database));
}

tl::unexpected<StoreError> damaged(const std::string& path, std::string_view what) {
  return tl::unexpected(
      StoreError{StoreFault::kDamaged, fmt::format("{}: {}{}", path, what, advice(StoreFault::kDamaged))});
}

StatementRun::~StatementRun() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

StatementRun& StatementRun::bind(std::int64_t value) {
  sqlite3_bind_int64(statement_, ++parameter_, value);
  return *this;
}

StatementRun& StatementRun::bind(double value) {
  sqlite3_bind_double(statement_, ++parameter_, value);
  return *this;
}

StatementRun& StatementRun::bind(std::string_view text) {
  sqlite3_bind_text64(statement_, ++parameter_, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

StatementRun& StatementRun::bind(const Sha256& digest) {
  sqlite3_bind_blob64(statement_, ++parameter_, digest.data(), digest.size(), SQLITE_STATIC);
  return *this;
}

StatementRun& StatementRun::bind_bytes(std::string_view bytes) {
  sqlite3_bind_blob64(statement_, ++parameter_, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
  return *this;
}

StatementRun& StatementRun::bind_null() {
  sqlite3_bind_null(statement_, ++parameter_);
  return *this;
}

StatementRun& StatementRun::bind_after(const std::optional<Sha256>& key) {
  if (key) return bind(*key);
  sqlite3_bind_zeroblob(statement_, ++parameter_, 0);
  return *this;
}

StoreResult<bool> StatementRun::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(store_error(sqlite3_db_handle(statement_), doing_));
}

StoreResult<void> StatementRun::finish() {
  while (true) {
    const auto stepped = step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return {};
  }
}

bool StatementRun::has_type(int column, int type) {
  if (sqlite3_column_type(statement_, column) == type) return true;
  is_well_typed_ = false;
  return false;
}

std::int64_t StatementRun::integer(int column) {
  return has_type(column, SQLITE_INTEGER) ? sqlite3_column_int64(statement_, column) : 0;
}

std::optional<std::int64_t> StatementRun::optional_integer(int column) {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

double StatementRun::real(int column) {
  return has_type(column, SQLITE_FLOAT) ? sqlite3_column_double(statement_, column) : 0;
}

bool StatementRun::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string StatementRun::text(int column) {
  if (!has_type(column, SQLITE_TEXT)) return {};
  const auto* first = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (first == nullptr) return {};
  return {first, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string StatementRun::bytes(int column) { return std::string(bytes_view(column)); }

std::string_view StatementRun::bytes_view(int column) {
  if (!has_type(column, SQLITE_BLOB)) return {};
  const auto* first = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (first == nullptr) return {};
  return {first, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Sha256 StatementRun::digest(int column) {
  Sha256 digest{};
  if (!has_type(column, SQLITE_BLOB)) return digest;
  const auto* first = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  if (first == nullptr || sqlite3_column_bytes(statement_, column) != static_cast<int>(digest.size())) {
    is_well_typed_ = false;
    return digest;
  }
  std::copy_n(first, digest.size(), digest.begin());
  return digest;
}

StoreResult<Connection> Connection::open(const std::string& path, OpenMode mode, const std::string& vfs) {
  Connection connection;
  connection.path_ = path;
  const bool is_immutable = mode == OpenMode::kImmutable;
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const bool is_writing = mode == OpenMode::kWrite || mode == OpenMode::kExisting;
  flags |= is_writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  if (mode == OpenMode::kWrite) flags |= SQLITE_OPEN_CREATE;
  if (is_immutable) flags |= SQLITE_OPEN_URI;
  // "./": so that no path is taken for one of SQLite's special names.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(is_immutable ? immutable_uri_of(name).c_str() : name.c_str(), &database, flags,
                                   vfs.empty() ? nullptr : vfs.c_str());
  connection.database_.reset(database);
  if (code != SQLITE_OK) {
    return tl::unexpected(
        store_error(code, path, "open it", database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database)));
  }
  sqlite3_busy_timeout(database, kLockWaitMs);
  return connection;
}

StoreResult<void> Connection::execute(const char* sql, const char* doing) const {
  if (sqlite3_exec(raw(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(store_error(raw(), doing));
}

StoreResult<Statement> Connection::prepare(const char* sql, const char* doing) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(raw(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return tl::unexpected(store_error(raw(), doing));
  }
  return Statement(statement, doing);
}

StoreResult<std::int64_t> Connection::integer(const char* sql, const char* doing) const {
  auto statement = prepare(sql, doing);
  if (!statement) return tl::unexpected(statement.error());
  StatementRun run = statement->run();
  const auto stepped = run.step();
  if (!stepped) return tl::unexpected(stepped.error());
  return run.integer(0);
}

StoreResult<std::string> Connection::text(const char* sql, const char* doing) const {
  auto statement = prepare(sql, doing);
  if (!statement) return tl::unexpected(statement.error());
  StatementRun run = statement->run();
  const auto stepped = run.step();
  if (!stepped) return tl::unexpected(stepped.error());
  std::string value = run.text(0);
  // A statement's change is committed after its last row: only then is its result known.
  if (auto finished = run.finish(); !finished) return tl::unexpected(finished.error());
  return value;
}

void Connection::set_checkpoint_on_close(bool is_wanted) const {
  sqlite3_db_config(raw(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_wanted ? 0 : 1, nullptr);
}

StoreResult<Transaction> Transaction::begin(const Connection& connection, Kind kind) {
  const bool is_write = kind == Kind::kWrite;
  auto begun = connection.execute(is_write ? "BEGIN IMMEDIATE" : "BEGIN", is_write ? "begin a write" : "begin to read");
  if (!begun) return tl::unexpected(begun.error());
  return Transaction(connection.raw());
}

Transaction::~Transaction() { roll_back(); }

void Transaction::roll_back() {
  // SQLite rolls back by itself after some failures.
  if (database_ != nullptr && sqlite3_get_autocommit(database_) == 0) {
    sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

StoreResult<void> Transaction::commit() {
  if (sqlite3_exec(database_, "COMMIT", nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(store_error(database_, "commit"));
}

}  // namespace berth::edges::detail
