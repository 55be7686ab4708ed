#include "edges/sqlite_store/devices_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "edges/sqlite_store/test_scratch.h"
#include "edges/sqlite_store/testing/simulated_disk.h"

namespace berth::edges {
namespace {

using Memory = DevicesFile::Memory;

void execute(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

/// By name.
std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

/// Whether another process finds SQLite's lock of an open connection on that database.
bool is_locked(const std::string& path) {
  constexpr off_t kSharedFirst = 0x40000002;  // os_unix.c of SQLite
  constexpr off_t kSharedBytes = 510;
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = kSharedFirst;
    lock.l_len = kSharedBytes;
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_asked = file >= 0 && ::fcntl(file, F_GETLK, &lock) == 0;
    ::_exit(is_asked && lock.l_type != F_UNLCK ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(DevicesFile, KeepsTheLastOfEach) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  const Memory last{.gpus = {{2, "b"}, {7, "c"}}, .world = "w", .clock = "5"};
  EXPECT_EQ(DevicesFile::read(path), Memory());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path));
  {
    auto file = DevicesFile::open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(DevicesFile::read(path), Memory());
    EXPECT_TRUE((*file)->write({.gpus = {{7, "a"}, {2, "b"}}, .world = "w"}).has_value());
    EXPECT_TRUE((*file)->write({.gpus = {{7, "c"}}, .clock = "5"}).has_value());
    EXPECT_TRUE((*file)->sync().has_value());
    EXPECT_EQ(DevicesFile::read(path), last);
  }
  const auto before = files_in(scratch.path);
  EXPECT_EQ(DevicesFile::read(path), last);
  EXPECT_EQ(files_in(scratch.path), before);
  EXPECT_TRUE(DevicesFile::open(path).has_value());
  EXPECT_EQ(DevicesFile::read(path), last);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(DevicesFile::read(path), Memory());
}

TEST(DevicesFile, RefusesWhatIsNotItsOwnAndChangesNothing) {
  const testing::Scratch scratch;
  const std::string foreign = (scratch.path / "foreign").string();
  execute(foreign, "CREATE TABLE t(a)");
  const std::string later = (scratch.path / "later").string();
  EXPECT_TRUE(DevicesFile::open(later).has_value());
  execute(later, "PRAGMA user_version = 99");
  const auto before = files_in(scratch.path);
  EXPECT_EQ(DevicesFile::open(foreign).error().fault, StoreFault::kForeign);
  EXPECT_EQ(DevicesFile::read(foreign).error().fault, StoreFault::kForeign);
  EXPECT_EQ(DevicesFile::read(later).error().fault, StoreFault::kNewer);
  EXPECT_EQ(files_in(scratch.path), before);
  EXPECT_EQ(DevicesFile::open(later).error().fault, StoreFault::kNewer);
}

TEST(DevicesFile, FindsWhatIsNotWhatWasWritten) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  EXPECT_TRUE((*DevicesFile::open(path))->write({.gpus = {{3, "abc"}}, .world = "w"}).has_value());
  execute(path, "UPDATE devices SET body = 'abd' WHERE gpu = 3");
  const auto before = files_in(scratch.path);
  const auto read = DevicesFile::read(path);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().fault, StoreFault::kDamaged);
  EXPECT_NE(read.error().message.find("the row of gpu-3"), std::string::npos) << read.error().message;
  execute(path, "UPDATE devices SET body = 'abc' WHERE gpu = 3; DELETE FROM devices WHERE gpu = -1");
  EXPECT_EQ(DevicesFile::read(path).error().fault, StoreFault::kDamaged);
}

// Without its lock the next one that opens, reads and closes it counts as the last, and removes the WAL.
TEST(DevicesFile, StaysLockedWhenItIsSynced) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  const auto file = DevicesFile::open(path);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->write({.gpus = {{1, "a"}}, .world = "w"}).has_value());
  ASSERT_TRUE(is_locked(path));
  ASSERT_TRUE((*file)->sync().has_value());
  EXPECT_TRUE(is_locked(path));
  EXPECT_TRUE(DevicesFile::read(path).has_value());
  EXPECT_TRUE(is_locked(path));
}

TEST(DevicesFile, WhatWasSyncedOutlivesAPowerCut) {
  using testing::SimulatedDisk;
  for (const auto how : {SimulatedDisk::PowerCut::kDropped, SimulatedDisk::PowerCut::kEntriesLost}) {
    SimulatedDisk disk(1);
    auto file = DevicesFile::open("/disk/devices", disk.vfs());
    ASSERT_TRUE(file.has_value()) << file.error().message;
    ASSERT_TRUE((*file)->write({.gpus = {{1, "a"}}, .world = "w"}).has_value());
    ASSERT_TRUE((*file)->sync().has_value());
    ASSERT_TRUE((*file)->write({.gpus = {{1, "b"}}}).has_value());
    disk.cut_power_after(disk.change_count());
    file->reset();
    disk.restart(how);
    EXPECT_EQ(DevicesFile::read("/disk/devices", disk.vfs()), (Memory{.gpus = {{1, "a"}}, .world = "w"}));
  }
}

// For any last change to the disk, the file is never taken for another program's.
TEST(DevicesFile, AnInterruptedMakingIsUndone) {
  using testing::SimulatedDisk;
  SimulatedDisk whole(1);
  ASSERT_TRUE(DevicesFile::open("/disk/devices", whole.vfs()).has_value());
  ASSERT_GT(whole.change_count(), 3U);
  for (std::uint64_t changes = 0; changes < whole.change_count(); ++changes) {
    SimulatedDisk disk(1);
    disk.cut_power_after(changes);
    static_cast<void>(DevicesFile::open("/disk/devices", disk.vfs()));
    disk.restart_process();
    EXPECT_EQ(DevicesFile::read("/disk/devices", disk.vfs()), Memory()) << changes;
    EXPECT_TRUE(DevicesFile::open("/disk/devices", disk.vfs()).has_value()) << changes;
  }
}

TEST(DevicesFile, ReportsThatThereIsNoSpaceForASync) {
  using testing::SimulatedDisk;
  SimulatedDisk disk(1);
  const auto file = DevicesFile::open("/disk/devices", disk.vfs());
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE((*file)->write({.gpus = {{1, "a"}}, .world = "w"}).has_value());
  disk.arm({.call = SimulatedDisk::Call::kSync, .code = SQLITE_FULL});
  EXPECT_EQ((*file)->sync().error().fault, StoreFault::kFull);
  disk.arm({.call = SimulatedDisk::Call::kSync, .code = SQLITE_IOERR_FSYNC});
  EXPECT_EQ((*file)->sync().error().fault, StoreFault::kFailed);
  disk.heal();
  EXPECT_TRUE((*file)->sync().has_value());
}

}  // namespace
}  // namespace berth::edges
