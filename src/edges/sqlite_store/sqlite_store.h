/// The store of a journal in one SQLite file, behind the port `JournalStore`. Only this folder uses SQLite.
///
/// The file is in WAL mode and every commit is synced; beside it stand PATH-wal and PATH-shm while it is in use. Other
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
  /// After an append that leaves so many pages in the WAL, they are copied into the file; then the WAL begins anew.
  /// Readers can delay that, up to 16 times as many pages; then an append waits for them, as long as for a lock.
  int checkpoint_pages = 1000;
};

struct OpenedSqliteStore {
  std::unique_ptr<JournalStore> store;
  /// What a person should know, though nothing that was acknowledged is missing: "journal.db-wal: the last 4120 bytes
  /// are torn ..".
  std::vector<std::string> notes;
  /// Its table of usage is empty: an earlier version had made it without one, say, and nobody has made what was over
  /// again from its rows. What is appended then is all of it at once: a part would hide that the rest is missing.
  bool has_no_past_usage = false;
};

/// Opens a journal, and makes the file where it is missing (its folder must be there; its entry in the folder is
/// synced). Refusals change nothing on the disk: kForeign (another program's file, no database), kNewer, kDamaged
/// (a file whose end is missing; tables that are not those of its format). Tables of an earlier format are upgraded.
/// Errors of calls as in `StoreFault`.
[[nodiscard]] StoreResult<OpenedSqliteStore> open_sqlite_store(const std::string& path,
                                                               const SqliteStoreOptions& options = {});

/// Whether `open_sqlite_store` would make the journal: there is no file, or a process that was killed while it made one
/// left it empty. Changes nothing. The same refusals.
[[nodiscard]] StoreResult<bool> is_sqlite_store_new(const std::string& path, const SqliteStoreOptions& options = {});

/// Opens a journal for reading alone, whether or not another process has it open. SQLite makes PATH-wal and PATH-shm
/// where they are missing. Where it cannot, as the folder may not be written, it reads the file without them, if there
/// is no WAL: then nobody may write at the same time. The same refusals; kFailed if there is no such file.
[[nodiscard]] StoreResult<std::unique_ptr<JournalReader>> open_sqlite_reader(const std::string& path,
                                                                             const SqliteStoreOptions& options = {});

/// Checks the structure of the file (SQLite's integrity check), then every row of every table (chain/verify.h). For a
/// file that another process may be writing.
[[nodiscard]] StoreResult<chain::JournalCounts> verify_sqlite_store(const std::string& path,
                                                                    const SqliteStoreOptions& options = {});

}  // namespace berth::edges
