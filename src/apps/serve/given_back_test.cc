#include "apps/serve/given_back.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "base/core/test_cases.h"

namespace berth::serve {
namespace {

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all_pages = 0;
  std::int64_t pages = 0;
  file >> all_pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Blocks that are written to.
void take(std::vector<void*>& blocks, std::size_t bytes) {
  for (void*& block : blocks) {
    block = std::malloc(bytes);
    std::fill_n(static_cast<volatile char*>(block), bytes, 'x');
  }
}

void free_all(const std::vector<void*>& blocks) {
  for (void* block : blocks) std::free(block);
}

TEST(GivenBack, WhatEndsWithSmallBlocks) {
  if (testing::kIsSlowBuild) GTEST_SKIP() << "sanitizers have an allocator of their own";
  let_memory_be_given_back();
  constexpr std::size_t kSmallBytes = 64;
  constexpr std::size_t kLargeBytes = 256 * 1024;
  constexpr int kLargeCount = 128;
  std::int64_t growth = 0;
  std::thread([&] {  // in an arena that is not the first
    const std::int64_t before = resident_bytes();
    std::vector<void*> kept_by_the_thread(16);
    std::vector<void*> large(kLargeCount);
    std::vector<void*> last(16);
    take(kept_by_the_thread, kSmallBytes);
    take(large, kLargeBytes);
    take(last, kSmallBytes);
    free_all(large);
    free_all(kept_by_the_thread);
    free_all(last);
    malloc_trim(0);
    growth = resident_bytes() - before;
  })
      .join();
  EXPECT_LT(growth, static_cast<std::int64_t>(kLargeCount * kLargeBytes / 10));
}

}  // namespace
}  // namespace berth::serve
