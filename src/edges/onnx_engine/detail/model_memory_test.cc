#include "edges/onnx_engine/detail/model_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace berth::edges::detail {
namespace {

constexpr std::size_t kLarge = 1'000'000;

void* taken(ModelMemory& memory, std::size_t bytes) {
  void* block = memory.take(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
  std::memset(block, 1, bytes);
  return block;
}

TEST(ModelMemory, RunsUseTheBlocksOfEarlierRuns) {
  ModelMemory memory(0);
  void* first = nullptr;
  {
    const ThreadUse use(ThreadUse::Kind::kRun);
    first = taken(memory, kLarge);
    EXPECT_GE(use.bytes(), static_cast<std::int64_t>(kLarge));
    EXPECT_LE(use.bytes(), static_cast<std::int64_t>(kLarge + kLarge / 8));
    memory.give(first);
    EXPECT_EQ(use.bytes(), 0);
    EXPECT_GE(use.bytes_peak(), static_cast<std::int64_t>(kLarge));
  }
  EXPECT_EQ(memory.bytes_taken(), 0);
  const ThreadUse use(ThreadUse::Kind::kRun);
  EXPECT_EQ(taken(memory, kLarge), first);
  memory.give(first);
  memory.give(nullptr);
}

TEST(ModelMemory, WeightsTakeWhatTheyNeed) {
  ModelMemory memory(1);  // of which loads know nothing
  const ThreadUse use(ThreadUse::Kind::kLoad);
  void* block = taken(memory, kLarge + 1);
  EXPECT_EQ(use.bytes(), static_cast<std::int64_t>(kLarge + 1));
  memory.give(block);
  EXPECT_EQ(memory.bytes_taken(), 0);
}

TEST(ModelMemory, ARunThatWantsTooMuchIsRefusedAndGivesBackNothingOfOthers) {
  ModelMemory memory(3 * static_cast<std::int64_t>(kLarge));
  void* weights = taken(memory, kLarge);
  {
    const ThreadUse use(ThreadUse::Kind::kRun);
    memory.give(taken(memory, kLarge / 2));  // kept, and in the way
    EXPECT_THROW((void)memory.take(5 * kLarge), std::bad_alloc);
    EXPECT_GE(use.bytes_refused(), static_cast<std::int64_t>(5 * kLarge));
    memory.give(taken(memory, kLarge + kLarge / 2));
  }
  EXPECT_EQ(memory.bytes_taken(), static_cast<std::int64_t>(kLarge));
  memory.give(weights);
}

TEST(ModelMemory, ManyThreadsTakeAndGive) {
  ModelMemory memory(0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      for (std::size_t i = 0; i < 2'000; ++i) {
        const ThreadUse use(ThreadUse::Kind::kRun);
        void* first = taken(memory, 100 + 977 * (i % 37));
        void* second = taken(memory, 1 + 131 * t);
        memory.give(first);
        if (i % 100 == 0) memory.trim();
        memory.give(second);
        EXPECT_EQ(use.bytes(), 0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_taken(), 0);
}

}  // namespace
}  // namespace berth::edges::detail
