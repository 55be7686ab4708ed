#include "edges/files/disk_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace berth::edges {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A folder that is removed with the test.
class DiskTreeTest : public ::testing::Test {
 protected:
  DiskTreeTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "berth_tree_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~DiskTreeTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  [[nodiscard]] FolderEntry entry(const std::string& name) const {
    const auto entries = DiskTree().list(folder_.string());
    for (const FolderEntry& each : entries.value_or(std::vector<FolderEntry>{})) {
      if (each.name == name) return each;
    }
    return {};
  }

  std::filesystem::path folder_;
};

std::vector<std::pair<std::string, EntryKind>> names_and_kinds(const std::vector<FolderEntry>& entries) {
  std::vector<std::pair<std::string, EntryKind>> shown;
  for (const FolderEntry& entry : entries) shown.emplace_back(entry.name, entry.kind);
  return shown;
}

TEST_F(DiskTreeTest, ListsByNameAndFollowsLinks) {
  write("b", "12345");
  std::filesystem::create_directory(path("a"));
  std::filesystem::create_symlink("b", path("c"));
  std::filesystem::create_symlink("a", path("d"));
  std::filesystem::create_symlink("nothing", path("e"));
  std::filesystem::create_symlink("f", path("f"));
  ASSERT_EQ(::mkfifo(path("g").c_str(), 0600), 0);
  const auto entries = DiskTree().list(folder_.string());
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_THAT(names_and_kinds(*entries),
              ElementsAre(std::pair("a", EntryKind::kFolder), std::pair("b", EntryKind::kFile),
                          std::pair("c", EntryKind::kFile), std::pair("d", EntryKind::kFolder),
                          std::pair("e", EntryKind::kOther), std::pair("f", EntryKind::kOther),
                          std::pair("g", EntryKind::kOther)));
  EXPECT_EQ((*entries)[1].stamp.bytes, 5U);
  EXPECT_EQ((*entries)[1].stamp, (*entries)[2].stamp);
  EXPECT_GT((*entries)[1].changed, Micros::seconds(1'700'000'000));
}

TEST_F(DiskTreeTest, AStampChangesWithTheContentAndNotWithTheMode) {
  write("model", "12345");
  const FolderEntry first = entry("model");
  EXPECT_EQ(entry("model"), first);
  ASSERT_EQ(::chmod(path("model").c_str(), 0400), 0);
  EXPECT_EQ(entry("model").stamp, first.stamp);
  EXPECT_GE(entry("model").changed, first.changed);
  write("other", "54321");
  std::filesystem::last_write_time(path("other"), std::filesystem::last_write_time(path("model")));
  std::filesystem::rename(path("other"), path("model"));
  EXPECT_EQ(entry("model").stamp.modified, first.stamp.modified);
  EXPECT_NE(entry("model").stamp, first.stamp);
}

TEST_F(DiskTreeTest, TakesAnyTime) {
  write("old", "");
  const timespec times[2] = {{.tv_sec = -9'000'000'000'000'000, .tv_nsec = 0},
                             {.tv_sec = 9'000'000'000'000'000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path("old").c_str(), times, 0), 0);
  EXPECT_GT(entry("old").stamp.modified, Micros::seconds(1'700'000'000));
}

TEST_F(DiskTreeTest, SaysWhatIsNoFolder) {
  write("file", "");
  const auto missing = DiskTree().list(path("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, path("missing") + ": cannot list: No such file or directory");
  EXPECT_FALSE(DiskTree().list(path("file")));
  EXPECT_FALSE(DiskTree().list(std::string("a\0b", 3)));
}

TEST_F(DiskTreeTest, ReadsPiecesAndTheEnd) {
  write("file", "0123456789");
  const auto file = DiskTree().open(path("file"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->stamp(), entry("file").stamp);
  std::string piece(4, ' ');
  EXPECT_EQ((*file)->read(3, piece).value(), 4U);
  EXPECT_EQ(piece, "3456");
  EXPECT_EQ((*file)->read(8, piece).value(), 2U);
  EXPECT_EQ((*file)->read(100, piece).value(), 0U);
  EXPECT_EQ(read_whole(**file, 10).value(), "0123456789");
  EXPECT_EQ(read_whole(**file, 9).error().message, "wanted at most 9 bytes, found more");
}

TEST_F(DiskTreeTest, AFileThatShrinksOrVanishesIsNoCrash) {
  write("file", std::string(100'000, 'x'));
  const auto file = DiskTree().open(path("file"));
  ASSERT_TRUE(file);
  std::filesystem::resize_file(path("file"), 10);
  EXPECT_EQ(read_whole(**file, 1'000'000).value(), "xxxxxxxxxx");
  std::filesystem::remove(path("file"));
  EXPECT_EQ(read_whole(**file, 1'000'000).value().size(), 10U);
}

TEST_F(DiskTreeTest, OpensOnlyRegularFiles) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(DiskTree().open(path("pipe")).error().message, HasSubstr("wanted a regular file"));
  EXPECT_THAT(DiskTree().open(folder_.string()).error().message, HasSubstr("wanted a regular file"));
  EXPECT_THAT(DiskTree().open("/dev/zero").error().message, HasSubstr("wanted a regular file"));
  const auto missing = DiskTree().open(path("missing"));
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, StartsWith(path("missing") + ": cannot open"));
}

}  // namespace
}  // namespace berth::edges
