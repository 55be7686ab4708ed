#include "edges/files/folder_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace berth::edges {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder that is removed with the test.
class FolderSinkTest : public ::testing::Test {
 protected:
  FolderSinkTest() {
    std::string pattern = (fs::temp_directory_path() / "berth_folder_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FolderSinkTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::ptrdiff_t entry_count() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(FolderSinkTest, AppearsWhole) {
  auto sink = FolderSink::open(path("out/"));
  ASSERT_TRUE(sink) << sink.error().message;
  ASSERT_TRUE(sink->add("a.txt", "A"));
  ASSERT_TRUE(sink->add("inner/deep/b.txt", "B"));
  EXPECT_FALSE(fs::exists(path("out")));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(content("out/a.txt"), "A");
  EXPECT_EQ(content("out/inner/deep/b.txt"), "B");
  EXPECT_EQ(entry_count(), 1);
}

TEST_F(FolderSinkTest, LeavesNothingWithoutCommit) {
  {
    auto sink = FolderSink::open(path("out"));
    ASSERT_TRUE(sink);
    ASSERT_TRUE(sink->add("inner/a.txt", "A"));
    EXPECT_EQ(entry_count(), 1);
  }
  EXPECT_EQ(entry_count(), 0);
}

TEST_F(FolderSinkTest, ReplacesAnEmptyFolderAlone) {
  fs::create_directory(path("out"));
  auto sink = FolderSink::open(path("out"));
  ASSERT_TRUE(sink);
  ASSERT_TRUE(sink->add("a.txt", "A"));
  std::ofstream(path("out/mine")) << "mine";
  const auto committed = sink->commit();
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(content("out/mine"), "mine");
  fs::remove(path("out/mine"));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(content("out/a.txt"), "A");
}

TEST_F(FolderSinkTest, SaysWhatIsInTheWay) {
  std::ofstream(path("file")) << "x";
  fs::create_directory(path("full"));
  std::ofstream(path("full/mine")) << "x";
  for (const auto& [name, message] : {std::pair("file", "found a file"), std::pair("full", "found one with files"),
                                      std::pair("none/out", "wanted a folder in one that exists")}) {
    const auto checked = check_new_folder(path(name));
    ASSERT_FALSE(checked) << name;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidInput);
    EXPECT_THAT(checked.error().message, HasSubstr(message));
  }
  EXPECT_FALSE(check_new_folder(""));
  EXPECT_TRUE(check_new_folder(path("new")));
}

}  // namespace
}  // namespace berth::edges
