#include "live/traces/write_book.h"

#include <gtest/gtest.h>

namespace berth::live {
namespace {

ObjectName service(const std::string& name) { return {.kind = ObjectKind::kGpuService, .tenant = "t", .name = name}; }

TraceContext context(std::uint8_t number) { return {.trace = {.bytes = {number}}, .span = {.bytes = {number}}}; }

TEST(WriteBook, GivesTheWritesOfAnyObjectOnceTheOldestFirst) {
  WriteBook book;
  book.add(service("b"), context(1), Instant::at_second(1));
  book.add(service("a"), context(2), Instant::at_second(2));
  book.add(service("c"), context(3), Instant::at_second(2));
  const std::set<ObjectKey> touched = {ObjectKey(service("a")), ObjectKey(service("b")), ObjectKey(service("x"))};
  const auto taken = book.take(touched, book.last_number(), Instant::at_second(3));
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0], context(1));
  EXPECT_EQ(taken[1], context(2));
  EXPECT_TRUE(book.take(touched, book.last_number(), Instant::at_second(3)).empty());
  EXPECT_EQ(book.size(), 1U);
}

TEST(WriteBook, LeavesLaterWritesForLaterPlans) {
  WriteBook book;
  book.add(service("a"), context(1), Instant());
  const std::uint64_t asked = book.last_number();
  book.add(service("a"), context(2), Instant());
  const std::set<ObjectKey> touched = {ObjectKey(service("a"))};
  EXPECT_EQ(book.take(touched, asked, Instant()).size(), 1U);
  EXPECT_EQ(book.take(touched, book.last_number(), Instant()).size(), 1U);
}

TEST(WriteBook, ForgetsWhatIsTooOldAndWhatIsTooMuch) {
  WriteBook book;
  book.add(service("a"), context(1), Instant::at_second(0));
  const std::set<ObjectKey> touched = {ObjectKey(service("a"))};
  EXPECT_TRUE(book.take(touched, book.last_number(), Instant::at_second(601)).empty());
  EXPECT_EQ(book.size(), 0U);
  book.add(service("a"), context(2), Instant::at_second(601));
  EXPECT_EQ(book.take(touched, book.last_number(), Instant::at_second(1201)).size(), 1U);
  for (std::size_t i = 0; i <= WriteBook::kCapacity; ++i) {
    book.add(service("s" + std::to_string(i)), context(3), Instant::at_second(1201));
  }
  EXPECT_EQ(book.size(), WriteBook::kCapacity);
  EXPECT_TRUE(book.take({ObjectKey(service("s0"))}, book.last_number(), Instant::at_second(1201)).empty());
}

}  // namespace
}  // namespace berth::live
