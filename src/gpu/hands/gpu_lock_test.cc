#include "gpu/hands/gpu_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/hands/test_folder.h"

namespace berth::edges {
namespace {

class GpuLockTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string content() const {
    std::ifstream file(folder_.path() + "/locks/GPU-1.lock");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] auto take(std::int64_t pid) const {
    return GpuLock::take(folder_.path() + "/locks", "GPU-1", {.pid = pid, .world = "6f"});
  }

  TestFolder folder_;
};

TEST_F(GpuLockTest, HasOneOwnerAtATime) {
  {
    const auto lock = take(12);
    ASSERT_TRUE(lock.has_value()) << lock.error().message;
    EXPECT_EQ(content(), "12\n6f\n");
    const auto second = take(13);  // another descriptor acts like another process
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().message, "another berth process (pid 12) owns it");
    EXPECT_EQ(second.error().owner_pid, 12);
    EXPECT_EQ(content(), "12\n6f\n");
    EXPECT_TRUE(GpuLock::take(folder_.path() + "/locks", "GPU-2", {.pid = 13, .world = "6f"}).has_value());
  }
  EXPECT_TRUE(take(1234567).has_value());
  EXPECT_TRUE(take(4).has_value());
  EXPECT_EQ(content(), "4\n6f\n");
}

TEST_F(GpuLockTest, EndsWithItsProcess) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = take(::getpid());
    [[maybe_unused]] const ssize_t written = ::write(pipe[1], "x", 1);
    ::pause();
    ::_exit(lock.has_value() ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  const auto refused = take(1);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().owner_pid, child);
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(take(1).has_value());
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(GpuLockTest, IsAFileOfItsFolder) {
  for (const char* uuid : {"", "..", "../x", "a/b"}) {
    const auto lock = GpuLock::take(folder_.path(), uuid, {});
    ASSERT_FALSE(lock.has_value()) << uuid;
    EXPECT_FALSE(lock.error().owner_pid.has_value());
  }
  std::filesystem::create_symlink(folder_.path() + "/elsewhere", folder_.path() + "/GPU-3.lock");
  EXPECT_FALSE(GpuLock::take(folder_.path(), "GPU-3", {}).has_value());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/elsewhere"));
  const auto lock = GpuLock::take(folder_.path() + "/no/parent", "GPU-1", {});
  ASSERT_FALSE(lock.has_value());
  EXPECT_EQ(lock.error().message, folder_.path() + "/no/parent: cannot be locked: No such file or directory");
}

TEST(GpuLockFolder, IsNamedByTheEnvironment) {
  ::setenv("BERTH_GPU_LOCKS", "/x", 1);
  EXPECT_EQ(gpu_lock_folder(), "/x");
  ::unsetenv("BERTH_GPU_LOCKS");
  EXPECT_EQ(gpu_lock_folder(), "/run/lock/berth");
}

}  // namespace
}  // namespace berth::edges
