/// The store of a journal in one SQLite file, behind the port `JournalStore`. Only this folder uses SQLite.
///
/// The file is in WAL mode and every commit is synced; PATH-wal and PATH-shm are next to it while it is in use. Other
/// processes may read it at any time; readers hold no lock that a writer waits for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "domain/ports/journal_store.h"
#include "live/chain/verify.h"

namespace berth::edges {

struct SqliteStoreOptions {
  std::string vfs;  ///< for tests: the name of a registered SQLite VFS; empty: the system's files
  /// After an append that leaves this many pages in the WAL, they are copied into the file, and the WAL is reused from
  /// its start. Readers can delay this, up to 16 times as many pages; then an append waits for them, as long as for a
  /// lock.
  int checkpoint_pages = 1000;
};

struct OpenedSqliteStore {
  std::unique_ptr<JournalStore> store;
  /// Notes for the operator. No acknowledged data is missing: "journal.db-wal: the last 4120 bytes are torn ..".
  std::vector<std::string> notes;
  /// Its usage table is empty, for example because an earlier version created the file without one, and past usage was
  /// not rebuilt from its rows. The first append of usage must contain all of it: a part would hide that the rest is
  /// missing.
  bool has_no_past_usage = false;
};

/// Opens a journal, and creates the file if missing (its folder must exist; its entry in the folder is synced).
/// Refusals change nothing on the disk: kForeign (another program's file, or not a database), kNewer, kDamaged (a
/// truncated file; tables that are not those of its format). Tables of an earlier format are upgraded. Errors of calls
/// as in `StoreFault`.
[[nodiscard]] StoreResult<OpenedSqliteStore> open_sqlite_store(const std::string& path,
                                                               const SqliteStoreOptions& options = {});

/// Whether `open_sqlite_store` would create the journal: there is no file, or only an empty one, left by a process that
/// was killed while creating it. Changes nothing. The same refusals.
[[nodiscard]] StoreResult<bool> is_sqlite_store_new(const std::string& path, const SqliteStoreOptions& options = {});

/// Opens a journal only for reading, whether or not another process has it open. SQLite creates PATH-wal and PATH-shm
/// if missing. If it cannot, because the folder is read-only, it reads the file without them, provided that there is no
/// WAL; no process may write at the same time then. The same refusals; kFailed if there is no such file.
[[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> open_sqlite_reader(const std::string& path,
                                                                             const SqliteStoreOptions& options = {});

/// Checks the structure of the file (SQLite's integrity check), then every row of every table (chain/verify.h). For a
/// file that another process may be writing.
[[nodiscard]] StoreResult<chain::JournalCounts> verify_sqlite_store(const std::string& path,
                                                                    const SqliteStoreOptions& options = {});

}  // namespace berth::edges
