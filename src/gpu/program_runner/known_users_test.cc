#include "gpu/program_runner/known_users.h"

#include <gtest/gtest.h>

namespace berth::edges {
namespace {

constexpr programs::UidRange kRange{.first = 600'000, .last = 600'999};

TEST(KnownUsers, AreFoundInEachFileAtBothEndsOfTheRange) {
  const std::string root = "root:x:0:0:root:/root:/bin/bash\n";
  EXPECT_EQ(known_user_in(kRange, {}), std::nullopt);
  EXPECT_EQ(known_user_in(kRange, {.users = root + "a:x:599999:0::/:\nb:x:601000:0::/:\n"}), std::nullopt);
  EXPECT_EQ(known_user_in(kRange, {.users = root + "a:x:600999:600000::/:\n"}), "user a (600999) of /etc/passwd");
  EXPECT_EQ(known_user_in(kRange, {.users = root, .groups = "g:x:600000:"}), "group g (600000) of /etc/group");
}

TEST(KnownUsers, HaveSubordinateRanges) {
  const auto found = [](const std::string& lines) { return known_user_in(kRange, {.subordinates = lines}); };
  EXPECT_EQ(found("a:100000:65536\nb:558752:65536\n"), "user b, to whom /etc/subuid gives 558752-624287");
  EXPECT_EQ(found("a:534464:65536\nb:601000:65536\n"), std::nullopt);
  EXPECT_EQ(found("a:600999:1"), "user a, to whom /etc/subuid gives 600999-600999");
  EXPECT_EQ(found("a:599999:1\nb:600001:0\n"), std::nullopt);
}

TEST(KnownUsers, AreNotMadeOfLinesThatCannotBeRead) {
  const UserFiles files{
      .users = "\n#\nx:600001\n::\nx:x:-600001:0\nx:x: 600001:\nx:x:99999999999999999999:0\nx:x:600001x:",
      .groups = "g:x:",
      .subordinates = "a:600000\na::\na:600000:x\n"};
  EXPECT_EQ(known_user_in(kRange, files), std::nullopt);
}

}  // namespace
}  // namespace berth::edges
