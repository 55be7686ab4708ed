#include "surface/cli/shared/distinct_paths.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace berth::cli {
namespace {

TEST(DistinctPaths, AnOutputMayNotBeAnInputNorAnotherOutput) {
  EXPECT_TRUE(check_outputs_are_distinct({{"--in", "none/a"}}, {{"--out", "none/b"}, {"--log", "none/c"}}));
  const auto same = check_outputs_are_distinct({{"--in", "none/a"}}, {{"--out", "none/../none/a"}});
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().message, "--out: wanted another file than that of --in, found \"none/../none/a\"");
  EXPECT_FALSE(check_outputs_are_distinct({}, {{"--out", "x"}, {"--log", "./x"}}));
  EXPECT_TRUE(check_outputs_are_distinct({{"--in", std::nullopt}}, {{"--out", std::nullopt}}));
}

TEST(DistinctPaths, LinksAreFollowedAndDevicesMayBeShared) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "distinct_paths";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "file").string();
  const std::string link = (folder / "link").string();
  std::ofstream(file) << "x";
  std::filesystem::create_symlink("file", link);
  EXPECT_FALSE(check_outputs_are_distinct({{"--in", file}}, {{"--out", link}}));
  EXPECT_TRUE(check_outputs_are_distinct({}, {{"--out", "/dev/null"}, {"--log", "/dev/null"}}));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace berth::cli
