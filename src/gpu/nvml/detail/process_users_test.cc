#include "gpu/nvml/detail/process_users.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace berth::edges::detail {
namespace {

TEST(ProcessUsersOfNvml, TheStatusOfAProcessNamesItsRealUser) {
  EXPECT_EQ(user_id_in("Name:\ttrain\nUid:\t1000\t0\t0\t0\nGid:\t5\n"), 1000U);
  EXPECT_EQ(user_id_in(""), std::nullopt);
  EXPECT_EQ(user_id_in("Name:\tUid:\t7\n"), std::nullopt) << "a name is not that line";
  EXPECT_EQ(user_id_in("Name:\tx\nUid:\tnobody\n"), std::nullopt);
}

TEST(ProcessUsersOfNvml, AProcessThatDoesNotExistHasNone) {
  ProcessUsers users;
  EXPECT_EQ(users.user_of(0xFFFFFFF0U), "");
  const std::string own = users.user_of(static_cast<std::uint32_t>(::getpid()));
  EXPECT_NE(own, "");
  if (::getuid() == 0) {
    EXPECT_EQ(own, "root");
  }
  EXPECT_EQ(users.user_of(static_cast<std::uint32_t>(::getpid())), own) << "remembered";
}

}  // namespace
}  // namespace berth::edges::detail
