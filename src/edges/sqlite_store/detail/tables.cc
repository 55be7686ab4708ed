#include "edges/sqlite_store/detail/tables.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "edges/sqlite_store/detail/inspect.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

struct Table {
  const char* name = "";
  const char* sql = "";
  std::int64_t since = 1;        ///< the first format with this definition
  std::int64_t until = kFormat;  ///< the last one

  [[nodiscard]] bool is_in(std::int64_t format) const { return since <= format && format <= until; }
};

// In the order of their names. Without secondary indices: every stored byte is covered by the hash of a row. Tables
// with their own keys have no rowid, so that keys are stored once.
constexpr std::array<Table, 8> kTables = {{
    {"blob_parts",
     "CREATE TABLE blob_parts(blob BLOB NOT NULL, part INTEGER NOT NULL, body BLOB NOT NULL, hash BLOB NOT NULL, "
     "PRIMARY KEY (blob, part)) STRICT, WITHOUT ROWID",
     kBlobFormat},
    {"blobs",
     "CREATE TABLE blobs(blob BLOB PRIMARY KEY, bytes INTEGER NOT NULL, parts INTEGER NOT NULL, "
     "used_wall_us INTEGER NOT NULL, is_whole INTEGER NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID",
     kBlobFormat},
    {"journal",
     "CREATE TABLE journal(sequence INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, wall_us INTEGER NOT NULL, "
     "kind TEXT NOT NULL, format INTEGER NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT"},
    {"meta",
     "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, revision INTEGER NOT NULL, "
     "pruned_sequence INTEGER NOT NULL, pruned_hash BLOB NOT NULL, head_sequence INTEGER NOT NULL, "
     "head_hash BLOB NOT NULL, snapshot_sequence INTEGER NOT NULL, older_snapshot_sequence INTEGER NOT NULL, "
     "hash BLOB NOT NULL) STRICT"},
    {"outcomes",
     "CREATE TABLE outcomes(key BLOB PRIMARY KEY, request BLOB NOT NULL, wall_us INTEGER NOT NULL, "
     "status INTEGER NOT NULL, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT, WITHOUT ROWID"},
    {"snapshots",
     "CREATE TABLE snapshots(sequence INTEGER PRIMARY KEY, format INTEGER NOT NULL, body TEXT NOT NULL, "
     "hash BLOB NOT NULL) STRICT",
     1, kBlobFormat - 1},
    {"snapshots",
     "CREATE TABLE snapshots(sequence INTEGER PRIMARY KEY, format INTEGER NOT NULL, body BLOB NOT NULL, "
     "hash BLOB NOT NULL) STRICT",
     kBlobFormat},
    {"usage",
     "CREATE TABLE usage(gpu INTEGER NOT NULL, start INTEGER NOT NULL, from_us INTEGER NOT NULL, "
     "units INTEGER NOT NULL, to_us INTEGER NOT NULL, sequence INTEGER NOT NULL, body TEXT NOT NULL, "
     "hash BLOB NOT NULL, PRIMARY KEY (gpu, start, from_us)) STRICT, WITHOUT ROWID",
     kUsageFormat},
}};

StoreResult<void> execute_all(const Connection& connection, std::initializer_list<const char*> statements,
                              const char* doing) {
  for (const char* sql : statements) {
    if (auto done = connection.execute(sql, doing); !done) return done;
  }
  return {};
}

/// Replaces tables of an earlier format by current ones, inside the caller's transaction.
StoreResult<void> replace_tables(const Connection& connection, std::int64_t format) {
  constexpr const char* kDoing = "upgrade its tables";
  const bool has_text = format < kBlobFormat;  // as bodies of snapshots: the same bytes
  if (has_text) {
    auto kept = execute_all(connection,
                            {"CREATE TEMP TABLE kept AS SELECT sequence, format, CAST(body AS BLOB) AS body, hash "
                             "FROM snapshots",
                             "DROP TABLE snapshots"},
                            kDoing);
    if (!kept) return kept;
  }
  for (const Table& table : kTables) {
    if (table.is_in(format) || !table.is_in(kFormat)) continue;
    if (auto made = connection.execute(table.sql, kDoing); !made) return made;
  }
  if (!has_text) return {};
  return execute_all(connection, {"INSERT INTO snapshots SELECT * FROM temp.kept", "DROP TABLE temp.kept"}, kDoing);
}

}  // namespace

Sha256 hash_of(const Meta& meta) {
  chain::FieldHash hash("meta 1");
  hash.add(meta.epoch).add(meta.revision).add(meta.pruned_sequence).add(meta.pruned_hash).add(meta.head_sequence);
  hash.add(meta.head_hash).add(meta.snapshot_sequence).add(meta.older_snapshot_sequence);
  return hash.finish();
}

StoreResult<void> make_tables(const Connection& connection) {
  // Uses a rollback journal, as the file is not marked as WAL mode yet; EXTRA syncs its removal, too.
  auto set = connection.execute("PRAGMA page_size = 4096; PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA",
                                "make the tables");
  if (!set) return set;
  auto transaction = Transaction::begin(connection, Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto format = connection.integer("PRAGMA user_version", "make the tables");
  if (!format) return tl::unexpected(format.error());
  if (*format != 0) return {};  // another process was quicker
  for (const Table& table : kTables) {
    if (!table.is_in(kFormat)) continue;
    if (auto made = connection.execute(table.sql, "make the tables"); !made) return made;
  }
  const std::string marks =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kFormat);
  if (auto marked = connection.execute(marks.c_str(), "make the tables"); !marked) return marked;
  auto meta = MetaTable::open(connection, OpenMode::kWrite);
  if (!meta) return tl::unexpected(meta.error());
  if (auto written = meta->write(Meta()); !written) return written;
  return transaction->commit();
}

StoreResult<void> upgrade_tables(const Connection& connection) {
  auto format = check_tables(connection);
  if (!format) return tl::unexpected(format.error());
  if (*format == kFormat) return {};
  auto transaction = Transaction::begin(connection, Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  format = check_tables(connection);
  if (!format) return tl::unexpected(format.error());
  if (*format == kFormat) return {};  // another process was quicker
  if (auto replaced = replace_tables(connection, *format); !replaced) return replaced;
  const std::string mark = fmt::format("PRAGMA user_version = {}", kFormat);
  if (auto marked = connection.execute(mark.c_str(), "upgrade its tables"); !marked) return marked;
  return transaction->commit();
}

StoreResult<std::int64_t> check_tables(const Connection& connection) {
  const auto owner = connection.integer("PRAGMA application_id", "read its header");
  if (!owner) return tl::unexpected(owner.error());
  const auto format = connection.integer("PRAGMA user_version", "read its header");
  if (!format) return tl::unexpected(format.error());
  if (*owner != kApplicationId || *format < 1 || *format > kFormat) {
    return damaged(connection.path(), "its header has changed");
  }
  auto select = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name", "read its tables");
  if (!select) return tl::unexpected(select.error());
  StatementRun run = select->run();
  for (const Table& table : kTables) {
    if (!table.is_in(*format)) continue;
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (*stepped && run.text(0) == table.name && run.text(1) == table.sql) continue;
    return damaged(connection.path(), fmt::format("table {}: missing or changed", table.name));
  }
  const auto more = run.step();
  if (!more) return tl::unexpected(more.error());
  if (*more) return damaged(connection.path(), fmt::format("{}: not a table of a journal", run.text(0)));
  return *format;
}

StoreResult<MetaTable> MetaTable::open(const Connection& connection, OpenMode mode) {
  MetaTable table;
  table.path_ = connection.path();
  auto select = connection.prepare(
      "SELECT epoch, revision, pruned_sequence, pruned_hash, head_sequence, head_hash, snapshot_sequence, "
      "older_snapshot_sequence, hash FROM meta WHERE id = 1",
      "read meta");
  if (!select) return tl::unexpected(select.error());
  table.select_ = *std::move(select);
  if (mode != OpenMode::kWrite) return table;
  auto replace = connection.prepare("INSERT OR REPLACE INTO meta VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "write meta");
  if (!replace) return tl::unexpected(replace.error());
  table.replace_ = *std::move(replace);
  return table;
}

StoreResult<Meta> MetaTable::read() {
  StatementRun run = select_.run();
  const auto stepped = run.step();
  if (!stepped) return tl::unexpected(stepped.error());
  if (!*stepped) return damaged(path_, "meta: its row is missing");
  Meta meta;
  meta.epoch = run.count(0);
  meta.revision = run.count(1);
  meta.pruned_sequence = run.count(2);
  meta.pruned_hash = run.digest(3);
  meta.head_sequence = run.count(4);
  meta.head_hash = run.digest(5);
  meta.snapshot_sequence = run.count(6);
  meta.older_snapshot_sequence = run.count(7);
  const Sha256 hash = run.digest(8);
  if (!run.is_well_typed() || hash != hash_of(meta)) return damaged(path_, "meta: not what was written");
  return meta;
}

StoreResult<void> MetaTable::write(const Meta& meta) {
  const Sha256 hash = hash_of(meta);
  return replace_.run()
      .bind(meta.epoch)
      .bind(meta.revision)
      .bind(meta.pruned_sequence)
      .bind(meta.pruned_hash)
      .bind(meta.head_sequence)
      .bind(meta.head_hash)
      .bind(meta.snapshot_sequence)
      .bind(meta.older_snapshot_sequence)
      .bind(hash)
      .finish();
}

}  // namespace berth::edges::detail
