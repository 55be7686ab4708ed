#include "edges/state_folder/state_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace berth::edges {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed afterwards.
struct Scratch {
  fs::path path;
  Scratch() {
    std::string made = (fs::temp_directory_path() / "berth-state-XXXXXX").string();
    path = ::mkdtemp(made.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(path); }
};

mode_t mode_of(const std::string& path) {
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777U : 0;
}

TEST(StateFolder, IsMadeWithItsKeyForItsOwnerAlone) {
  const Scratch scratch;
  const std::string path = (scratch.path / "a" / "b").string();
  const auto folder = StateFolder::open(path);
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(mode_of(path), 0700U);
  EXPECT_EQ(mode_of((*folder)->key_path()), 0600U);
  EXPECT_EQ((*folder)->key().size(), 64U);
  ASSERT_TRUE((*folder)->write_address("http://127.0.0.1:1/").has_value());
  std::ifstream address(path + "/address");
  std::string line;
  std::getline(address, line);
  EXPECT_EQ(line, "http://127.0.0.1:1/");
}

TEST(StateFolder, KeepsItsKey) {
  const Scratch scratch;
  std::string key;
  for (int round = 0; round < 2; ++round) {
    const auto folder = StateFolder::open(scratch.path.string());
    ASSERT_TRUE(folder.has_value());
    if (round == 1) {
      EXPECT_EQ((*folder)->key(), key);
    }
    key = (*folder)->key();
  }
}

TEST(StateFolder, AKeyThatOthersCanReadIsHidden) {
  const Scratch scratch;
  const std::string path = scratch.path.string();
  std::string key;
  {
    const auto folder = StateFolder::open(path);
    ASSERT_TRUE(folder.has_value());
    key = (*folder)->key();
    ASSERT_EQ(::chmod((*folder)->key_path().c_str(), 0644), 0);
  }
  const auto folder = StateFolder::open(path);
  ASSERT_TRUE(folder.has_value());
  EXPECT_EQ((*folder)->key(), key);
  EXPECT_EQ(mode_of((*folder)->key_path()), 0600U);
}

TEST(StateFolder, IsUsedByOneProcessAtATime) {
  const Scratch scratch;
  const auto first = StateFolder::open(scratch.path.string());
  ASSERT_TRUE(first.has_value());
  const auto second = StateFolder::open(scratch.path.string());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("in use by process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
}

TEST(StateFolder, AFolderThatIsThereIsClosedToOthersIfItHoldsOurFilesAlone) {
  const Scratch scratch;
  const std::string path = scratch.path.string();
  for (int round = 0; round < 2; ++round) {  // empty, then with our files
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    const auto folder = StateFolder::open(path);
    ASSERT_TRUE(folder.has_value());
    EXPECT_EQ(mode_of(path), 0700U);
    EXPECT_EQ((*folder)->warning(), "");
    ASSERT_TRUE((*folder)->write_address("http://127.0.0.1:1/").has_value());
  }
}

TEST(StateFolder, AFolderWithOtherFilesKeepsItsModeAndWarns) {
  const Scratch scratch;
  const std::string path = scratch.path.string();
  std::ofstream(path + "/mine") << "x";
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  const auto folder = StateFolder::open(path);
  ASSERT_TRUE(folder.has_value());
  EXPECT_EQ(mode_of(path), 0755U);
  EXPECT_NE((*folder)->warning().find("mode 0755"), std::string::npos) << (*folder)->warning();
  EXPECT_EQ(mode_of((*folder)->key_path()), 0600U);
}

TEST(StateFolder, WhereNoFolderCanBeMadeAnotherPathIsWanted) {
  for (const char* path : {"/proc/none", "/dev/null/none"}) {
    const auto folder = StateFolder::open(path);
    ASSERT_FALSE(folder.has_value());
    EXPECT_EQ(folder.error().code, ErrorCode::kInvalidInput) << path;
  }
}

TEST(StateFolder, OneThatIsDiscardedLeavesNothingThatItMade) {
  const Scratch scratch;
  const auto discard = [](const std::string& path) {
    auto folder = StateFolder::open(path);
    ASSERT_TRUE(folder.has_value());
    (*folder)->discard_if_new();
  };
  discard((scratch.path / "a/b/c/").string());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path));
  std::filesystem::create_directory(scratch.path / "a");
  discard((scratch.path / "a/b").string());
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path / "a"));
  discard((scratch.path / "a").string());  // it was there before
  EXPECT_TRUE(std::filesystem::exists(scratch.path / "a/admin.key"));
}

TEST(StateFolder, OneThatIsDiscardedKeepsWhatElseIsInIt) {
  const Scratch scratch;
  const std::filesystem::path path = scratch.path / "state";
  auto folder = StateFolder::open(path.string());
  ASSERT_TRUE(folder.has_value());
  std::ofstream(path / "mine") << "x";
  (*folder)->discard_if_new();
  EXPECT_TRUE(std::filesystem::exists(path / "mine"));
  EXPECT_TRUE(std::filesystem::exists(path / "admin.key"));
}

TEST(RandomHex, IsLongEnoughAndNeverTheSame) {
  const std::string first = random_hex(16);
  EXPECT_EQ(first.size(), 32U);
  EXPECT_EQ(first.find_first_not_of("0123456789abcdef"), std::string::npos) << first;
  EXPECT_NE(first, random_hex(16));
  EXPECT_EQ(random_hex(1).size(), 2U);
}

TEST(StateFolder, AFileIsNoFolder) {
  const Scratch scratch;
  const std::string path = (scratch.path / "file").string();
  std::ofstream(path) << "x";
  const auto folder = StateFolder::open(path);
  ASSERT_FALSE(folder.has_value());
  EXPECT_EQ(folder.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace berth::edges
