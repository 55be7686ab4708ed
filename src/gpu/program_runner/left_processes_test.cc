#include "gpu/program_runner/left_processes.h"

#include <gtest/gtest.h>

namespace berth::edges {
namespace {

std::vector<std::int64_t> numbers_of(const std::vector<ProcessSight>& sights) {
  std::vector<std::int64_t> numbers;
  for (const ProcessSight& each : sights) numbers.push_back(each.pid);
  return numbers;
}

ProcessSight theirs(std::int64_t pid, std::int64_t parent, std::uint64_t started = 10) {
  return {.pid = pid, .started = started, .parent = parent, .uid = 7, .is_theirs = true};
}

TEST(WithoutKeeper, IsWhoseAncestorsHaveNone) {
  const std::vector<ProcessSight> all = {
      {.pid = 1, .started = 1, .parent = 0},
      {.pid = 2, .started = 2, .parent = 1, .is_keeper = true},
      theirs(3, 2),   // the program
      theirs(4, 3),   // its child
      theirs(5, 1),   // left behind
      theirs(6, 5),   // its child
      theirs(8, 7),   // its parent ended while the list was made
      theirs(9, 10),  // its parent's number is another process's by now
      {.pid = 10, .started = 11, .parent = 1},
      {.pid = 11, .started = 11, .parent = 5},  // of somebody else
  };
  EXPECT_EQ(numbers_of(without_keeper(all)), (std::vector<std::int64_t>{5, 6}));
}

TEST(WithoutKeeper, EndsWhereProcessesOfOtherNamespacesBegin) {
  EXPECT_EQ(numbers_of(without_keeper({theirs(3, 0)})), (std::vector<std::int64_t>{3}));
  EXPECT_TRUE(without_keeper({}).empty());
}

TEST(LeftProcesses, OfNobodyAreNone) {
  EXPECT_EQ(end_left_processes({.uids = programs::UidRange{.first = 4'000'000'001, .last = 4'000'000'002}}), 0U);
}

}  // namespace
}  // namespace berth::edges
