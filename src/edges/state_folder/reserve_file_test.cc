#include "edges/state_folder/reserve_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace berth::edges {
namespace {

namespace fs = std::filesystem;

class ReserveFileTest : public ::testing::Test {
 protected:
  ReserveFileTest() : folder_(fs::temp_directory_path() / ("berth_reserve_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ReserveFileTest() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return (folder_ / "reserve").string(); }

  static constexpr std::uint64_t kBytes = 1U << 20U;
  fs::path folder_;
};

TEST_F(ReserveFileTest, IsWrittenReleasedAndFoundAgain) {
  ReserveFile reserve(path(), kBytes + 100);
  EXPECT_EQ(reserve.bytes(), kBytes) << "whole blocks";
  EXPECT_FALSE(reserve.is_kept());
  EXPECT_TRUE(reserve.keep());
  struct stat file{};
  ASSERT_EQ(::stat(path().c_str(), &file), 0);
  EXPECT_EQ(file.st_size, static_cast<off_t>(kBytes));
  EXPECT_GE(file.st_blocks * 512, static_cast<off_t>(kBytes)) << "not sparse";
  EXPECT_TRUE(ReserveFile(path(), kBytes).is_kept());
  reserve.release();
  EXPECT_FALSE(reserve.is_kept());
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(ReserveFileTest, OneThatIsSparseOrOfAnotherSizeIsWrittenAnew) {
  std::ofstream(path()) << "short";
  EXPECT_FALSE(ReserveFile(path(), kBytes).is_kept());
  fs::resize_file(path(), kBytes);
  ReserveFile reserve(path(), kBytes);
  EXPECT_FALSE(reserve.is_kept());
  EXPECT_TRUE(reserve.keep());
}

TEST_F(ReserveFileTest, IsAtMostAnEighthOfTheDisk) {
  const ReserveFile reserve(path(), UINT64_MAX);
  EXPECT_LE(reserve.bytes(), fs::space(folder_).capacity / 8);
}

TEST_F(ReserveFileTest, WithoutRoomItIsNotKeptAndLeavesNothing) {
  ReserveFile nowhere((folder_ / "missing" / "reserve").string(), kBytes);
  EXPECT_FALSE(nowhere.keep());
  EXPECT_FALSE(nowhere.is_kept());
}

}  // namespace
}  // namespace berth::edges
