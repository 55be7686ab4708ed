/// Properties of the file store alone: refusals, notes, typed errors, readers in other processes and in read-only
/// folders, the size of the WAL.
#include "edges/sqlite_store/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "edges/sqlite_store/test_scratch.h"
#include "edges/sqlite_store/testing/simulated_disk.h"
#include "live/chain/verify.h"

namespace berth::edges {
namespace {

namespace fs = std::filesystem;
using testing::Scratch;
using testing::SimulatedDisk;

constexpr std::size_t kFormatAt = 63;  // the lowest byte of user_version
constexpr uid_t kNobody = 65534;

JournalBatch padded_rows(int first, int last, std::size_t bytes = 100) {
  JournalBatch batch;
  for (int number = first; number <= last; ++number) {
    batch.entries.push_back({Instant(number), number, "Test", 1, std::to_string(number) + std::string(bytes, 'x')});
  }
  return batch;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

/// All files of a folder with their contents.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files[entry.path().filename()] = bytes_of(entry.path());
  return files;
}

std::unique_ptr<JournalStore> open_store(const std::string& path, const SqliteStoreOptions& options = {}) {
  auto opened = open_sqlite_store(path, options);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return opened ? std::move(opened->store) : nullptr;
}

/// A closed journal of `row_count` rows.
void make_journal(const std::string& path, int row_count) {
  const auto store = open_store(path);
  const auto writer = store->open_writer(1).value();
  for (int row = 1; row <= row_count; row += 10) ASSERT_TRUE(writer->append(padded_rows(row, row + 9)).has_value());
}

/// Expects that opening for writing, opening for reading and verifying are refused this way, and change nothing on the
/// disk.
void expect_refused(const Scratch& scratch, StoreFault fault, const std::string& words) {
  const auto before = files_of(scratch.path);
  const auto expect = [&](const auto& result) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().fault, fault) << result.error().message;
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
    EXPECT_TRUE(result.error().message.starts_with(scratch.database() + ": ")) << result.error().message;
  };
  expect(open_sqlite_store(scratch.database()));
  expect(open_sqlite_reader(scratch.database()));
  expect(verify_sqlite_store(scratch.database()));
  EXPECT_EQ(files_of(scratch.path), before);
}

TEST(SqliteStore, KeepsWhatWasAppended) {
  const Scratch scratch;
  make_journal(scratch.database(), 100);
  EXPECT_EQ(files_of(scratch.path).size(), 1U);  // a journal that is closed is one file
  const auto store = open_store(scratch.database());
  EXPECT_EQ(store->epoch().value(), 1U);
  EXPECT_EQ(store->open_reader().value()->range().value(), (JournalReader::Range{1, 100}));
  EXPECT_EQ(store->open_writer(1).value()->append(padded_rows(101, 101)).value(), 101U);
  EXPECT_EQ(verify_sqlite_store(scratch.database()).value(), (chain::JournalCounts{1, 101, 101, 0, 0}));
}

TEST(SqliteStore, AnAwkwardPathIsAPath) {
  const Scratch scratch;
  fs::current_path(scratch.path);
  for (const char* name : {":memory:", "file:a?mode=memory", "a b%20c#d.db"}) {
    make_journal(name, 10);
    EXPECT_TRUE(fs::exists(scratch.path / name));
    EXPECT_EQ(verify_sqlite_store(name).value().rows, 10U) << name;
  }
  fs::current_path("/");
}

TEST(SqliteStore, RefusesALaterFormat) {
  const Scratch scratch;
  make_journal(scratch.database(), 10);
  std::string bytes = bytes_of(scratch.database());
  bytes[kFormatAt] = 4;
  write_bytes(scratch.database(), bytes);
  expect_refused(scratch, StoreFault::kNewer, "format 4 of a later version of this program, which reads up to 3");
}

/// Converts a closed journal to what the version of format 1 or 2 would have made.
void make_format(const std::string& path, int format) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::string sql =
      std::string(format < 2 ? "DROP TABLE usage; " : "") +
      "DROP TABLE blobs; DROP TABLE blob_parts; CREATE TEMP TABLE kept AS SELECT * FROM snapshots; "
      "DROP TABLE snapshots; CREATE TABLE snapshots(sequence INTEGER PRIMARY KEY, format INTEGER NOT NULL, body TEXT "
      "NOT NULL, hash BLOB NOT NULL) STRICT; INSERT INTO snapshots SELECT sequence, format, CAST(body AS TEXT), hash "
      "FROM temp.kept; PRAGMA user_version = " +
      std::to_string(format);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
  sqlite3_close(database);
}

TEST(SqliteStore, AJournalOfFormat1IsReadAsItIsAndUpgradedWhenItIsOpenedForWriting) {
  const Scratch scratch;
  make_journal(scratch.database(), 100);
  make_format(scratch.database(), 1);
  const std::string before = bytes_of(scratch.database());
  EXPECT_EQ(verify_sqlite_store(scratch.database()).value(), (chain::JournalCounts{1, 100, 100, 0, 0}));
  EXPECT_TRUE(open_sqlite_reader(scratch.database()).value()->read_usage({}, std::nullopt, 10).value().empty());
  EXPECT_EQ(bytes_of(scratch.database()), before);
  {
    const auto opened = open_sqlite_store(scratch.database());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_TRUE(opened->has_no_past_usage);
    JournalBatch batch = padded_rows(101, 101);
    EXPECT_EQ(opened->store->open_writer(2).value()->append(batch).value(), 101U);
  }
  {
    // A process that ended before it rebuilt the past usage leaves that to the next one.
    const auto opened = open_sqlite_store(scratch.database());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_TRUE(opened->has_no_past_usage);
    JournalBatch batch = padded_rows(102, 102);
    batch.usage = {{.key = {.gpu = 1, .start = 2, .from_us = 3}, .units = 4, .to_us = 5, .sequence = 6, .body = "{}"}};
    EXPECT_EQ(opened->store->open_writer(3).value()->append(batch).value(), 102U);
    EXPECT_EQ(opened->store->open_reader().value()->read_usage({}, std::nullopt, 10).value(), batch.usage);
  }
  const auto counts = verify_sqlite_store(scratch.database()).value();
  EXPECT_EQ(counts.rows, 102U);
  EXPECT_EQ(counts.usage, 1U);
  EXPECT_FALSE(open_sqlite_store(scratch.database())->has_no_past_usage);
}

TEST(SqliteStore, TheSnapshotsOfAnEarlierFormatKeepTheirBytes) {
  const JournalSnapshot snapshot{101, 2, std::string("a\0b\xff\xc3", 5)};
  for (const int format : {1, 2}) {
    const Scratch scratch;
    make_journal(scratch.database(), 100);
    JournalBatch batch = padded_rows(101, 101);
    batch.snapshot = snapshot;
    ASSERT_TRUE(open_sqlite_store(scratch.database())->store->open_writer(2).value()->append(batch).has_value());
    make_format(scratch.database(), format);
    EXPECT_EQ(open_sqlite_reader(scratch.database()).value()->latest_snapshot().value(), snapshot) << format;
    {
      const auto opened = open_sqlite_store(scratch.database());
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      EXPECT_TRUE(opened->has_no_past_usage);
      EXPECT_EQ(opened->store->open_reader().value()->latest_snapshot().value(), snapshot) << format;
    }
    EXPECT_EQ(bytes_of(scratch.database())[kFormatAt], 3);
    EXPECT_EQ(verify_sqlite_store(scratch.database()).value().snapshots, 1U);
  }
}

TEST(SqliteStore, ADamagedJournalOfFormat1IsRefusedAndNotUpgraded) {
  const Scratch scratch;
  make_journal(scratch.database(), 10);
  make_format(scratch.database(), 1);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(scratch.database().c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, "DROP TABLE outcomes", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const auto refused = open_sqlite_store(scratch.database());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            scratch.database() + ": table outcomes: missing or changed; restore it from a copy");
  EXPECT_EQ(bytes_of(scratch.database())[kFormatAt], 1);
}

TEST(SqliteStore, RefusesAnotherProgramsDatabaseAndKeepsItsWal) {
  const Scratch scratch;
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(scratch.database().c_str(), &other), SQLITE_OK);
  sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  ASSERT_EQ(sqlite3_exec(other, "PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1)", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  ASSERT_GT(fs::file_size(scratch.database() + "-wal"), 0U);
  expect_refused(scratch, StoreFault::kForeign, "a database of another program");
}

TEST(SqliteStore, RefusesWhatIsNoDatabase) {
  const Scratch scratch;
  for (const std::string& bytes :
       {std::string("a: yaml file\n"), std::string(100'000, '\x5a'), std::string(50, '\0')}) {
    write_bytes(scratch.database(), bytes);
    expect_refused(scratch, StoreFault::kForeign, "wanted a journal, found a file that is no database");
  }
}

TEST(SqliteStore, RefusesAFileWhoseEndIsMissing) {
  const Scratch scratch;
  make_journal(scratch.database(), 1000);
  const std::string bytes = bytes_of(scratch.database());
  for (const std::size_t size :
       {bytes.size() - 1, bytes.size() / 2, bytes.size() / 2 / 4096 * 4096, std::size_t{512}}) {
    write_bytes(scratch.database(), bytes.substr(0, size));
    expect_refused(scratch, StoreFault::kDamaged, "its end is missing");
  }
}

TEST(SqliteStore, RefusesAWalWithoutItsFile) {
  const Scratch scratch;
  const Scratch copy;
  const auto store = open_store(scratch.database());
  ASSERT_TRUE(store->open_writer(1).value()->append(padded_rows(1, 10)).has_value());
  fs::copy(scratch.database() + "-wal", copy.database() + "-wal");
  expect_refused(copy, StoreFault::kDamaged, "its WAL holds changes");
}

TEST(SqliteStore, RefusesOtherTables) {
  const Scratch scratch;
  make_journal(scratch.database(), 10);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(scratch.database().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "CREATE TRIGGER t AFTER INSERT ON journal BEGIN DELETE FROM journal; END", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(other);
  const auto opened = open_sqlite_store(scratch.database());
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().fault, StoreFault::kDamaged);
}

TEST(SqliteStore, AnEmptyFileIsNewAsNoneIs) {
  const Scratch scratch;
  EXPECT_EQ(is_sqlite_store_new(scratch.database()), StoreResult<bool>(true));
  EXPECT_TRUE(files_of(scratch.path).empty());
  std::ofstream(scratch.database()).close();
  EXPECT_EQ(is_sqlite_store_new(scratch.database()), StoreResult<bool>(true));
  ASSERT_TRUE(open_sqlite_store(scratch.database()).has_value());
  EXPECT_EQ(is_sqlite_store_new(scratch.database()), StoreResult<bool>(false));
  std::ofstream(scratch.database()) << "no database";
  EXPECT_EQ(is_sqlite_store_new(scratch.database()).error().fault, StoreFault::kForeign);
}

TEST(SqliteStore, ReadingWhereThereIsNoJournalMakesNone) {
  const Scratch scratch;
  EXPECT_EQ(open_sqlite_reader(scratch.database()).error(),
            (StoreError{StoreFault::kFailed, scratch.database() + ": wanted a journal, found none"}));
  EXPECT_TRUE(files_of(scratch.path).empty());
  EXPECT_EQ(open_sqlite_store(scratch.database() + "/no/folder").error().fault, StoreFault::kFailed);
}

/// The files as a power cut leaves them: copied while they are open, the WAL without its end or with another one.
TEST(SqliteStore, NotesATornEndOfTheWal) {
  const Scratch scratch;
  const auto store = open_store(scratch.database());
  const auto writer = store->open_writer(1).value();
  for (int row = 1; row <= 4; ++row) ASSERT_TRUE(writer->append(padded_rows(row, row, 3000)).has_value());
  const std::size_t bytes_of_four = fs::file_size(scratch.database() + "-wal");
  ASSERT_TRUE(writer->append(padded_rows(5, 5, 3000)).has_value());
  const std::string wal = bytes_of(scratch.database() + "-wal");
  const std::string torn = std::to_string(wal.size() - 100 - bytes_of_four);
  struct Case {
    std::string wal;
    std::uint64_t row_count;
    std::string note;
  };
  const std::vector<Case> cases = {{wal, 5, ""},
                                   {wal.substr(0, wal.size() - 100), 4, "the last " + torn + " bytes are torn"},
                                   {wal + std::string(100, 'g'), 5, "the last 100 bytes are torn"},
                                   {wal + std::string(9000, '\0'), 5, "the last 9000 bytes are torn"}};
  for (const Case& each : cases) {
    const Scratch copy;
    fs::copy(scratch.database(), copy.database());
    write_bytes(copy.database() + "-wal", each.wal);
    auto opened = open_sqlite_store(copy.database());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ(opened->store->open_reader().value()->range().value().last, each.row_count);
    ASSERT_EQ(opened->notes.size(), each.note.empty() ? 0U : 1U);
    if (each.note.empty()) continue;
    EXPECT_NE(opened->notes[0].find(copy.database() + "-wal: " + each.note), std::string::npos) << opened->notes[0];
    EXPECT_EQ(opened->store->open_writer(1).value()->append(padded_rows(6, 6)).value(), each.row_count + 1);
    EXPECT_TRUE(verify_sqlite_store(copy.database()).has_value());
  }
}

/// Old frames in a WAL that was restarted are not a torn end.
TEST(SqliteStore, DoesNotTakeEarlierUsesOfTheWalForATornEnd) {
  const Scratch scratch;
  const Scratch copy;
  const auto store = open_store(scratch.database(), {.vfs = {}, .checkpoint_pages = 20});
  const auto writer = store->open_writer(1).value();
  for (int row = 1; row <= 12; ++row) ASSERT_TRUE(writer->append(padded_rows(row, row, 3000)).has_value());
  fs::copy(scratch.database(), copy.database());
  fs::copy(scratch.database() + "-wal", copy.database() + "-wal");
  const auto opened = open_sqlite_store(copy.database());
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_TRUE(opened->notes.empty());
  EXPECT_EQ(opened->store->open_reader().value()->range().value().last, 12U);
}

TEST(SqliteStore, ErrorsHaveTypesAndNameTheFile) {
  struct Case {
    SimulatedDisk::Call call;
    int code;
    StoreFault fault;
    const char* words;
  };
  for (const Case& each : {Case{SimulatedDisk::Call::kWrite, SQLITE_FULL, StoreFault::kFull, "free space"},
                           Case{SimulatedDisk::Call::kSync, SQLITE_IOERR_FSYNC, StoreFault::kFailed, "disk I/O error"},
                           Case{SimulatedDisk::Call::kShm, SQLITE_BUSY, StoreFault::kLocked, "another process"}}) {
    SimulatedDisk disk(1);
    const auto store = open_store("/disk/journal.db", {.vfs = disk.vfs()});
    const auto writer = store->open_writer(1).value();
    disk.arm({.call = each.call, .nth = 1, .code = each.code, .is_sticky = true});
    const auto appended = writer->append(padded_rows(1, 1));
    ASSERT_FALSE(appended.has_value());
    EXPECT_EQ(appended.error().fault, each.fault) << appended.error().message;
    EXPECT_TRUE(appended.error().message.starts_with("/disk/journal.db: cannot ")) << appended.error().message;
    EXPECT_NE(appended.error().message.find(each.words), std::string::npos) << appended.error().message;
    disk.heal();
    EXPECT_EQ(writer->append(padded_rows(1, 1)).value(), 1U);
  }
}

TEST(SqliteStore, WhileAnotherHasItLockedAppendsAreRefusedAndReadersRead) {
  const Scratch scratch;
  make_journal(scratch.database(), 10);
  const auto store = open_store(scratch.database());
  const auto writer = store->open_writer(2).value();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(scratch.database().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(writer->append(padded_rows(11, 11)).error().fault, StoreFault::kLocked);
  EXPECT_EQ(store->open_reader().value()->range().value().last, 10U);
  ASSERT_EQ(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(writer->append(padded_rows(11, 11)).value(), 11U);
  sqlite3_close(other);
}

TEST(SqliteStore, TheWalStaysBounded) {
  const Scratch scratch;
  constexpr int kPages = 50;
  const auto store = open_store(scratch.database(), {.vfs = {}, .checkpoint_pages = kPages});
  const auto writer = store->open_writer(1).value();
  const auto reader = store->open_reader().value();
  for (int row = 1; row <= 2000; row += 20) {
    ASSERT_TRUE(writer->append(padded_rows(row, row + 19, 1000)).has_value());
    EXPECT_EQ(reader->read(static_cast<std::uint64_t>(row), 100).value().size(), 20U);
  }
  EXPECT_LT(fs::file_size(scratch.database() + "-wal"), 3U * kPages * 4120U);
}

/// Runs `work` in another process once `start` is called; `finish` returns what it returned. The process is created
/// before SQLite is used here: connections must not be carried across a fork.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<int()>& work) {
    if (::pipe(pipe_) != 0) std::abort();
    process_ = ::fork();
    if (process_ != 0) return;
    char byte = 0;
    ::close(pipe_[1]);
    if (::read(pipe_[0], &byte, 1) != 1) ::_exit(100);
    ::_exit(work());
  }
  void start() const { ASSERT_EQ(::write(pipe_[1], "x", 1), 1); }
  int finish() {
    ::close(pipe_[0]);
    ::close(pipe_[1]);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
  }

 private:
  int pipe_[2] = {-1, -1};
  pid_t process_ = -1;
};

TEST(SqliteStore, AnotherProcessReadsAndTakesOver) {
  const Scratch scratch;
  OtherProcess verifying([&] {
    for (int walk = 0; walk < 20; ++walk) {
      const auto counts = verify_sqlite_store(scratch.database());
      if (!counts || counts->rows < 10 || counts->rows % 10 != 0) return 1;
    }
    return 0;
  });
  OtherProcess taking_over([&] {
    auto opened = open_sqlite_store(scratch.database());
    if (!opened) return 1;
    const auto writer = opened->store->open_writer(2);
    if (!writer) return 2;
    return (*writer)->append(padded_rows(1, 10)).has_value() ? 0 : 3;
  });
  const auto store = open_store(scratch.database(), {.vfs = {}, .checkpoint_pages = 30});
  const auto writer = store->open_writer(1).value();
  ASSERT_TRUE(writer->append(padded_rows(1, 10)).has_value());
  verifying.start();
  for (int batch = 1; batch < 100; ++batch) ASSERT_TRUE(writer->append(padded_rows(1, 10)).has_value());
  EXPECT_EQ(verifying.finish(), 0);
  taking_over.start();
  EXPECT_EQ(taking_over.finish(), 0);
  EXPECT_EQ(writer->append(padded_rows(1, 1)).error().fault, StoreFault::kDeposed);
  EXPECT_EQ(store->epoch().value(), 2U);
  EXPECT_EQ(verify_sqlite_store(scratch.database()).value().rows, 1010U);
}

/// Run as a user who may read the folder but write nothing.
int verify_as_nobody(const std::string& path, StoreFault* fault = nullptr) {
  if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 100;
  const auto counts = verify_sqlite_store(path);
  if (!counts && fault != nullptr) return counts.error().fault == *fault ? 0 : 2;
  return counts && counts->rows == 100 ? 0 : 1;
}

/// Not possible if a parent folder is closed to other users, as the root of some chroots is.
bool nobody_reaches(const std::string& folder) {
  OtherProcess visitor([&] {
    if (::geteuid() == 0 && ::seteuid(kNobody) != 0) return 100;
    return ::eaccess(folder.c_str(), R_OK | X_OK) == 0 ? 0 : 1;
  });
  visitor.start();
  return visitor.finish() == 0;
}

TEST(SqliteStore, AFolderThatCannotBeWrittenIsVerified) {
  const Scratch scratch;
  const std::string above = fs::path(scratch.path).parent_path();
  if (!nobody_reaches(above))
    GTEST_SKIP() << "user nobody cannot reach " << above << ", and root could write everywhere";
  OtherProcess closed([&] { return verify_as_nobody(scratch.database()); });
  OtherProcess open([&] { return verify_as_nobody(scratch.database()); });
  OtherProcess crashed([&] {
    StoreFault fault = StoreFault::kFailed;  // a WAL that cannot be read without being indexed
    return verify_as_nobody(scratch.database() + ".copy", &fault);
  });
  make_journal(scratch.database(), 100);
  ::chmod(scratch.path.c_str(), 0555);
  closed.start();
  EXPECT_EQ(closed.finish(), 0);
  EXPECT_EQ(files_of(scratch.path).size(), 1U);

  ::chmod(scratch.path.c_str(), 0755);
  const auto store = open_store(scratch.database());
  ASSERT_TRUE(store->open_writer(2).has_value());
  fs::copy(scratch.database(), scratch.database() + ".copy");
  fs::copy(scratch.database() + "-wal", scratch.database() + ".copy-wal");
  ::chmod(scratch.path.c_str(), 0555);
  open.start();
  EXPECT_EQ(open.finish(), 0);
  crashed.start();
  EXPECT_EQ(crashed.finish(), 0);
  ::chmod(scratch.path.c_str(), 0755);
}

}  // namespace
}  // namespace berth::edges
