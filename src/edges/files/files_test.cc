#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "edges/files/disk_files.h"
#include "edges/files/file_sink.h"
#include "edges/files/gunzip.h"

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// A folder that is removed with the test.
class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "berth_files_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  [[nodiscard]] static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  [[nodiscard]] std::size_t file_count() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  std::filesystem::path folder_;
};

TEST_F(FilesTest, ReadsPlainAndPackedFiles) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(DiskFiles().read(write("plain", "a\nb\n")), "a\nb\n");
  EXPECT_EQ(DiskFiles().read(write("empty", "")), "");
  EXPECT_EQ(DiskFiles().read(write("one.gz", gzip(large))), large);
  EXPECT_EQ(DiskFiles().read(write("several.gz", gzip("1\n") + gzip("") + gzip("2\n"))), "1\n2\n");
}

/// The bytes that a file is opened with, or the error.
std::string opened(const std::string& path, const DiskFiles& files = DiskFiles()) {
  const auto file = files.open(path);
  return file ? std::string((*file)->bytes()) : "error: " + file.error().message;
}

TEST_F(FilesTest, OpensPlainAndPackedFiles) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(opened(write("plain", "a\nb\n")), "a\nb\n");
  EXPECT_EQ(opened(write("empty", "")), "");
  EXPECT_EQ(opened(write("one byte", "x")), "x");
  EXPECT_EQ(opened(write("zeros", std::string(10'000, '\0'))), std::string(10'000, '\0'));
  EXPECT_EQ(opened(write("page", std::string(4096, 'p'))), std::string(4096, 'p'));
  EXPECT_EQ(opened(write("one.gz", gzip(large))), large);
  EXPECT_EQ(opened(write("several.gz", gzip("1\n") + gzip("") + gzip("2\n"))), "1\n2\n");
  EXPECT_EQ(opened(write("nothing.gz", gzip(""))), "");
  EXPECT_EQ(opened(write("short", "\x1f")), "\x1f");
}

TEST_F(FilesTest, OpensFilesOfAnySize) {
  // Larger than what a reader takes, and than what it unpacks.
  const DiskFiles small(1000);
  std::string large;
  for (int i = 0; large.size() < 5'000'000; ++i) large += std::to_string(i) + "\n";
  EXPECT_FALSE(small.read(write("large", large)).has_value());
  const auto file = small.open(path("large"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ((*file)->bytes(), large);
  EXPECT_EQ(opened(write("bomb.gz", gzip(std::string(100'000, 'x'))), small),
            "error: " + path("bomb.gz") + ": wanted at most 1000 bytes unpacked, found more");
}

TEST_F(FilesTest, OpenedBytesStayWhereTheyAre) {
  auto file = DiskFiles().open(write("plain", "first"));
  ASSERT_TRUE(file.has_value());
  const std::string_view bytes = (*file)->bytes();
  std::filesystem::remove(path("plain"));
  const auto other = DiskFiles().open(write("plain", "other"));
  ASSERT_TRUE(other.has_value());
  const std::unique_ptr<FileBytes> moved = *std::move(file);
  EXPECT_EQ(bytes, "first");
  EXPECT_EQ(moved->bytes().data(), bytes.data());
  EXPECT_EQ((*other)->bytes(), "other");
}

TEST_F(FilesTest, OpensFilesThatStateNoSize) { EXPECT_EQ(opened("/proc/self/status").substr(0, 5), "Name:"); }

TEST_F(FilesTest, WhatCannotBeOpenedSaysWhy) {
  const auto missing = DiskFiles().open(path("none"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), (Error{ErrorCode::kNotFound, path("none") + ": cannot read: No such file or directory"}));
  EXPECT_EQ(opened(folder_.string()), "error: " + folder_.string() + ": wanted a file, found a directory");
  EXPECT_EQ(opened("/dev/zero"), "error: /dev/zero: wanted a regular file, found a device or pipe");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(opened(path("pipe")), "error: " + path("pipe") + ": wanted a regular file, found a device or pipe");
  EXPECT_EQ(opened(std::string("a\0b", 3)), "error: wanted a path, found one with a zero byte");
  EXPECT_FALSE(DiskFiles().open("").has_value());
  const std::string packed = gzip("some text that is packed");
  EXPECT_EQ(opened(write("bad.gz", packed.substr(0, packed.size() - 1))),
            "error: " + path("bad.gz") + ": the gzip data is truncated");
}

struct BadCase {
  std::string bytes;
  std::string message;
};

TEST_F(FilesTest, DamagedPackedFilesSayWhy) {
  const std::string good = gzip("some text that is packed");
  std::string bad_checksum = good;
  bad_checksum[good.size() - 5] ^= 1;
  const std::vector<BadCase> cases = {
      {good.substr(0, good.size() - 1), ": the gzip data is truncated"},
      {"\x1f\x8b", ": the gzip data is truncated"},
      {good + good.substr(0, 12), ": the gzip data is truncated"},
      {good + "garbage", ": wanted the end of the gzip data, found 7 more bytes"},
      {bad_checksum, ": the gzip data is corrupt: incorrect data check"},
      {"\x1f\x8b\x07 and no more of it", ": the gzip data is corrupt: unknown compression method"},
  };
  for (const BadCase& bad : cases) {
    const std::string file = write("bad.gz", bad.bytes);
    const auto text = DiskFiles().read(file);
    ASSERT_FALSE(text.has_value()) << bad.message;
    EXPECT_EQ(text.error().message, file + bad.message);
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidInput);
  }
}

TEST_F(FilesTest, LargeFilesAreRefused) {
  const DiskFiles small(1000);
  EXPECT_TRUE(small.read(write("fits", std::string(1000, 'x'))).has_value());
  EXPECT_EQ(small.read(write("large", std::string(1001, 'x'))).error().message,
            path("large") + ": wanted at most 1000 bytes, found 1001");
  EXPECT_EQ(small.read(write("bomb.gz", gzip(std::string(100'000, 'x')))).error().message,
            path("bomb.gz") + ": wanted at most 1000 bytes unpacked, found more");
}

TEST_F(FilesTest, WhatIsNoRegularFileIsRefusedAtOnce) {
  EXPECT_EQ(DiskFiles().read(folder_.string()).error().message,
            folder_.string() + ": wanted a file, found a directory");
  EXPECT_EQ(DiskFiles().read("/dev/zero").error().message, "/dev/zero: wanted a regular file, found a device or pipe");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(DiskFiles().read(path("pipe")).error().message, HasSubstr("found a device or pipe"));
}

TEST_F(FilesTest, ListsFoldersSorted) {
  const std::string file = write("b.csv", "");
  (void)write("a.csv", "");
  (void)write("B", "");
  ASSERT_EQ(::mkdir(path("c").c_str(), 0700), 0);
  using Names = std::optional<std::vector<std::string>>;
  EXPECT_EQ(DiskFiles().list(folder_.string()).value(), Names({"B", "a.csv", "b.csv", "c"}));
  EXPECT_EQ(DiskFiles().list(path("c")).value(), Names(std::vector<std::string>{}));
  EXPECT_EQ(DiskFiles().list(file).value(), Names(std::nullopt));
  EXPECT_EQ(DiskFiles().list(path("none")).error(),
            (Error{ErrorCode::kNotFound, path("none") + ": cannot read: No such file or directory"}));
  EXPECT_FALSE(DiskFiles().list(std::string("a\0b", 3)).has_value());
}

TEST_F(FilesTest, MissingFilesAreNotFound) {
  const auto missing = DiskFiles().read(path("none"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error(), (Error{ErrorCode::kNotFound, path("none") + ": cannot read: No such file or directory"}));
  EXPECT_EQ(DiskFiles().read(path("none") + "/below").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(DiskFiles().read("").has_value());
  EXPECT_FALSE(DiskFiles().read(std::string("a\0b", 3)).has_value());
}

TEST_F(FilesTest, AFileAppearsWholeOrNotAtAll) {
  const std::string target = write("out", "old");
  {
    auto sink = FileSink::open(target);
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(sink->append(std::string(1'000'000, 'x')).has_value());
    EXPECT_EQ(content(target), "old");
    EXPECT_EQ(file_count(), 2U);
  }
  EXPECT_EQ(content(target), "old");
  EXPECT_EQ(file_count(), 1U);
  ASSERT_TRUE(write_file_whole(target, "new").has_value());
  EXPECT_EQ(content(target), "new");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(FilesTest, TwoSinksAtOnePathDoNotMix) {
  auto first = FileSink::open(path("out"));
  auto second = FileSink::open(path("out"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->append("1") && second->append("2"));
  ASSERT_TRUE(first->commit() && second->commit());
  EXPECT_EQ(content(path("out")), "2");
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(FilesTest, LinksStayLinksAndDevicesStayDevices) {
  const std::string target = write("target", "old");
  std::filesystem::create_symlink(target, path("link"));
  ASSERT_TRUE(write_file_whole(path("link"), "new").has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(content(target), "new");
  ASSERT_TRUE(write_file_whole("/dev/null", "gone").has_value());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(FilesTest, ALinkToNothingIsFollowedAndALoopRefused) {
  std::filesystem::create_symlink("later", path("link"));
  ASSERT_TRUE(write_file_whole(path("link"), "new").has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(content(path("later")), "new");
  std::filesystem::create_symlink("b", path("a"));
  std::filesystem::create_symlink("a", path("b"));
  EXPECT_FALSE(write_file_whole(path("a"), "x").has_value());
}

TEST_F(FilesTest, WhatAnOpenDescriptorNamesIsWrittenWhereItStands) {
  const std::string target = write("target", "");
  const int number = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(number, 0);
  ASSERT_EQ(::write(number, "head ", 5), 5);
  const std::string name = "/proc/self/fd/" + std::to_string(number);
  std::filesystem::create_symlink(name, path("link"));
  ASSERT_TRUE(write_file_whole(name, "one ").has_value());
  ASSERT_TRUE(write_file_whole(path("link"), "two").has_value());
  ::close(number);
  EXPECT_EQ(content(target), "head one two");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(FilesTest, WhereNothingCanBeWrittenIsSaid) {
  EXPECT_EQ(write_file_whole(folder_.string(), "x").error().message,
            folder_.string() + ": wanted a file to write, found a directory");
  const auto missing = write_file_whole(path("no/folder"), "x");
  EXPECT_EQ(missing.error(),
            (Error{ErrorCode::kNotFound, path("no/folder") + ": cannot write: No such file or directory"}));
  auto full = FileSink::open("/dev/full");
  ASSERT_TRUE(full.has_value());
  ASSERT_TRUE(full->append("x").has_value());
  EXPECT_EQ(full->commit().error(),
            (Error{ErrorCode::kUnavailable, "/dev/full: cannot write: No space left on device"}));
}

}  // namespace
}  // namespace berth::edges
