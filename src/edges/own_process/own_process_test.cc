#include "edges/own_process/own_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

namespace berth::edges {
namespace {

TEST(OwnProcess, IsThisOne) {
  const auto before = read_own_process();
  ASSERT_TRUE(before);
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  const auto after = read_own_process();
  std::fclose(file);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->open_files, before->open_files + 1);
  EXPECT_GT(after->max_files.value_or(1e9), after->open_files);
  EXPECT_GE(after->cpu_seconds, before->cpu_seconds);
  EXPECT_GT(after->resident_bytes, 100'000);
  EXPECT_GT(after->virtual_bytes, after->resident_bytes);
}

TEST(OwnProcess, StartedNotLongAgo) {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const double age = now.count() - read_own_process()->start_seconds;
  EXPECT_GT(age, -2);  // the kernel says when the machine started in whole seconds
  EXPECT_LT(age, 3'600);
}

}  // namespace
}  // namespace berth::edges
