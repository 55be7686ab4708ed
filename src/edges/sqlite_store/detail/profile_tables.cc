#include "edges/sqlite_store/detail/profile_tables.h"

#include <fmt/format.h>

#include "edges/sqlite_store/detail/owner.h"

namespace berth::edges::detail {
namespace {

constexpr Owner kProfileOwner{.application_id = 0x42727450, .format = 1};  // "BrtP"

constexpr const char* kProfileTables = R"(
CREATE TABLE models(id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, sha256 TEXT NOT NULL, name TEXT NOT NULL,
  url TEXT NOT NULL, file_bytes INTEGER NOT NULL, flops INTEGER, activation_bytes INTEGER, parameters INTEGER,
  weight_bytes INTEGER) STRICT;
CREATE TABLE machines(id INTEGER PRIMARY KEY, fingerprint BLOB NOT NULL UNIQUE, device TEXT NOT NULL,
  processor TEXT NOT NULL, flags TEXT NOT NULL, memory_bytes INTEGER NOT NULL, driver TEXT NOT NULL,
  engine TEXT NOT NULL, threads INTEGER NOT NULL) STRICT;
CREATE TABLE runs(id INTEGER PRIMARY KEY, started_us INTEGER NOT NULL, berth_version TEXT NOT NULL,
  label TEXT NOT NULL, model INTEGER NOT NULL REFERENCES models, machine INTEGER NOT NULL REFERENCES machines,
  memory_at_load_bytes INTEGER, fixed_batch INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE points(run INTEGER NOT NULL REFERENCES runs, processes INTEGER NOT NULL, batch INTEGER NOT NULL,
  fits INTEGER NOT NULL, rows_per_second REAL NOT NULL, mean_us REAL NOT NULL, mean_us_low REAL NOT NULL,
  mean_us_high REAL NOT NULL, p50_us REAL NOT NULL, p99_us REAL NOT NULL, batches INTEGER NOT NULL,
  is_short INTEGER NOT NULL, memory_bytes INTEGER, rate_text TEXT NOT NULL, latency_text TEXT NOT NULL,
  PRIMARY KEY(run, processes, batch)) STRICT, WITHOUT ROWID;
CREATE TABLE reports(id INTEGER PRIMARY KEY, url TEXT NOT NULL, started_us INTEGER NOT NULL,
  at_us INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE report_times(report INTEGER NOT NULL REFERENCES reports, model TEXT NOT NULL, version TEXT NOT NULL,
  sha256 TEXT NOT NULL, device TEXT NOT NULL, batch INTEGER NOT NULL, count INTEGER NOT NULL, sum_us INTEGER NOT NULL,
  sum_squares REAL NOT NULL, PRIMARY KEY(report, model, version, sha256, device, batch)) STRICT, WITHOUT ROWID;
CREATE TABLE report_memory(report INTEGER NOT NULL REFERENCES reports, model TEXT NOT NULL, version TEXT NOT NULL,
  bytes INTEGER NOT NULL, PRIMARY KEY(report, model, version)) STRICT, WITHOUT ROWID;
)";

}  // namespace

StoreResult<bool> has_profile_tables(const Connection& connection) {
  if (auto checked = check_owner(connection, kProfileOwner, "name another file with --db"); !checked) {
    return tl::unexpected(checked.error());
  }
  const auto condition = connection.text("PRAGMA quick_check(1)", "check its pages");
  if (!condition) return tl::unexpected(condition.error());
  if (*condition != "ok") return damaged(connection.path(), *condition);
  const auto tables = connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'runs'", "read its tables");
  if (!tables) return tl::unexpected(tables.error());
  return *tables != 0;
}

StoreResult<void> make_profile_tables(const Connection& connection) {
  return connection.execute((kProfileTables + sql_of(kProfileOwner)).c_str(), "make the tables");
}

tl::unexpected<StoreError> not_what_was_written(const Connection& connection, std::string_view what) {
  return damaged(connection.path(), fmt::format("{} is not what was written", what));
}

}  // namespace berth::edges::detail
