#include "edges/sqlite_store/detail/ledger_tables.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

struct LedgerTable {
  const char* name;
  const char* sql;
};

constexpr std::array<LedgerTable, 3> kLedgerTables = {{
    {"batches",
     "CREATE TABLE batches(number INTEGER PRIMARY KEY, run INTEGER NOT NULL, first_line INTEGER NOT NULL, "
     "lines INTEGER NOT NULL, first_position INTEGER NOT NULL, bytes INTEGER NOT NULL, taken_bytes INTEGER NOT NULL, "
     "taken_lines INTEGER NOT NULL, taken_hash BLOB NOT NULL, text_hash BLOB NOT NULL, hash BLOB NOT NULL) STRICT"},
    {"head",
     "CREATE TABLE head(id INTEGER PRIMARY KEY CHECK (id = 1), batches INTEGER NOT NULL, lines INTEGER NOT NULL, "
     "bytes INTEGER NOT NULL, run INTEGER NOT NULL, batch_hash BLOB NOT NULL, hash BLOB NOT NULL) STRICT"},
    {"texts", "CREATE TABLE texts(position INTEGER PRIMARY KEY, text BLOB NOT NULL, hash BLOB NOT NULL) STRICT"},
}};

constexpr const char* kMaking = "make the tables";

}  // namespace

Sha256 hash_of(const Sha256& previous, const LedgerBatchRow& row) {
  chain::FieldHash hash("ledger batch 1");
  hash.add(previous).add(row.number).add(row.run).add(row.first_line).add(row.lines).add(row.first_position);
  hash.add(row.bytes).add(row.taken.bytes).add(row.taken.lines).add(row.taken.hash).add(row.text_hash);
  return hash.finish();
}

Sha256 hash_of_piece(std::uint64_t position, std::string_view text) {
  return chain::FieldHash("ledger text 1").add(position).add(text).finish();
}

Sha256 hash_of(const LedgerHead& head) {
  chain::FieldHash hash("ledger head 1");
  hash.add(head.batches).add(head.lines).add(head.bytes).add(head.run).add(head.hash);
  return hash.finish();
}

StoreResult<void> make_ledger_tables(const Connection& connection) {
  // As for a journal (`make_tables`): EXTRA syncs the removal of the rollback journal too.
  const std::string settings =
      fmt::format("PRAGMA page_size = {}; PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA", kLedgerPageBytes);
  if (auto set = connection.execute(settings.c_str(), kMaking); !set) return set;
  auto transaction = Transaction::begin(connection, Transaction::Kind::kWrite);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto format = connection.integer("PRAGMA user_version", kMaking);
  if (!format) return tl::unexpected(format.error());
  if (*format != 0) return {};  // another process was faster
  for (const LedgerTable& table : kLedgerTables) {
    if (auto made = connection.execute(table.sql, kMaking); !made) return made;
  }
  if (auto marked = connection.execute(sql_of(kWantedLedger.owner).c_str(), kMaking); !marked) return marked;
  auto insert = connection.prepare("INSERT INTO head VALUES (1, 0, 0, 0, 0, ?, ?)", kMaking);
  if (!insert) return tl::unexpected(insert.error());
  const LedgerHead empty;
  const Sha256 hash = hash_of(empty);
  if (auto done = insert->run().bind(empty.hash).bind(hash).finish(); !done) return done;
  return transaction->commit();
}

StoreResult<void> check_ledger_tables(const Connection& connection) {
  auto select = connection.prepare("SELECT sql FROM sqlite_schema WHERE name = ?", "read its tables");
  if (!select) return tl::unexpected(select.error());
  for (const LedgerTable& table : kLedgerTables) {
    StatementRun run = select->run();
    const auto stepped = run.bind(std::string_view(table.name)).step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (*stepped && run.text(0) == table.sql) continue;
    return damaged(connection.path(), fmt::format("table {}: missing or changed", table.name));
  }
  return {};
}

}  // namespace berth::edges::detail
