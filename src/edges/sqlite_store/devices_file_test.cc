#include "edges/sqlite_store/devices_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "edges/sqlite_store/test_scratch.h"

namespace berth::edges {
namespace {

using Memory = DevicesFile::Memory;

void execute(const std::string& path, const char* sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(DevicesFile, KeepsTheLastOfEach) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  {
    auto file = DevicesFile::open(path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ((*file)->read(), Memory());
    EXPECT_TRUE((*file)->write({.gpus = {{7, "a"}, {2, "b"}}, .world = "w"}).has_value());
    EXPECT_TRUE((*file)->write({.gpus = {{7, "c"}}, .clock = "5"}).has_value());
    EXPECT_TRUE((*file)->sync().has_value());
    EXPECT_EQ((*file)->read(), (Memory{.gpus = {{2, "b"}, {7, "c"}}, .world = "w", .clock = "5"}));
  }
  auto again = DevicesFile::open(path);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ((*again)->read(), (Memory{.gpus = {{2, "b"}, {7, "c"}}, .world = "w", .clock = "5"}));
}

TEST(DevicesFile, RefusesWhatIsNotItsOwn) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  execute(path, "CREATE TABLE t(a)");
  EXPECT_EQ(DevicesFile::open(path).error().fault, StoreFault::kForeign);
  const std::string later = (scratch.path / "later").string();
  EXPECT_TRUE(DevicesFile::open(later).has_value());
  execute(later, "PRAGMA user_version = 99");
  EXPECT_EQ(DevicesFile::open(later).error().fault, StoreFault::kNewer);
}

TEST(DevicesFile, FindsWhatIsNotWhatWasWritten) {
  const testing::Scratch scratch;
  const std::string path = (scratch.path / "devices").string();
  EXPECT_TRUE((*DevicesFile::open(path))->write({.gpus = {{3, "abc"}}, .world = "w"}).has_value());
  execute(path, "UPDATE devices SET body = 'abd' WHERE gpu = 3");
  const auto read = (*DevicesFile::open(path))->read();
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().fault, StoreFault::kDamaged);
  EXPECT_NE(read.error().message.find("the row of GPU 3"), std::string::npos) << read.error().message;
}

}  // namespace
}  // namespace berth::edges
