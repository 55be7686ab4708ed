#include "live/session/event_log.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::live {
namespace {

std::uint64_t append(EventLog& log, const std::string& message) {
  return log.append(Instant(7), EventKind::kGpuLost, {.kind = ObjectKind::kGpu, .tenant = "", .name = "gpu-3"},
                    message);
}

TEST(EventLog, NumbersEventsWithoutGaps) {
  EventLog log;
  EXPECT_EQ(log.last_sequence(), 0U);
  EXPECT_EQ(log.oldest_sequence(), 1U);
  EXPECT_TRUE(log.after(0, 10).empty());
  EXPECT_EQ(append(log, "a"), 1U);
  EXPECT_EQ(append(log, "b"), 2U);
  const auto events = log.after(1, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].sequence, 2U);
  EXPECT_EQ(events[0].message, "b");
  EXPECT_TRUE(log.after(2, 10).empty());
  EXPECT_EQ(log.after(0, 1).front().message, "a");
}

TEST(EventLog, ForgetsTheOldest) {
  EventLog log;
  for (std::size_t i = 0; i < EventLog::kCapacity + 5; ++i) append(log, std::to_string(i));
  EXPECT_EQ(log.last_sequence(), EventLog::kCapacity + 5);
  EXPECT_EQ(log.oldest_sequence(), 6U);
  const auto all = log.after(5, 1'000'000);
  ASSERT_EQ(all.size(), EventLog::kCapacity);
  EXPECT_EQ(all.front().sequence, 6U);
  EXPECT_EQ(all.back().message, std::to_string(EventLog::kCapacity + 4));
}

TEST(EventLog, WordsAreWrittenWhenTheyAreRead) {
  EventLog log;
  int written = 0;
  log.append(Instant(7), EventKind::kSliceGone, [&written] {
    ++written;
    return EventWords{.object = {.kind = ObjectKind::kGpuSlice, .tenant = "", .name = "s"}, .message = "later"};
  });
  EXPECT_EQ(written, 0);
  const auto events = log.after(0, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(written, 1);
  EXPECT_EQ(events[0].kind, EventKind::kSliceGone);
  EXPECT_EQ(events[0].object.name, "s");
  EXPECT_EQ(events[0].message, "later");
}

TEST(EventLog, FindsTheLatestMessageOfAKindAboutAnObject) {
  EventLog log;
  const ObjectName gpu{.kind = ObjectKind::kGpu, .tenant = "", .name = "gpu-0"};
  EXPECT_EQ(log.last_message(EventKind::kGpuDiffers, gpu), std::nullopt);
  log.append(Instant(1), EventKind::kGpuDiffers, gpu, "first");
  log.append(Instant(2), EventKind::kGpuDiffers, gpu, "second");
  log.append(Instant(3), EventKind::kGpuXid, gpu, "of another kind");
  log.append(Instant(4), EventKind::kGpuDiffers, {.kind = ObjectKind::kGpu, .tenant = "", .name = "gpu-1"},
             "elsewhere");
  EXPECT_EQ(log.last_message(EventKind::kGpuDiffers, gpu), "second");
}

TEST(EventLogDeathTest, WhatIsForgottenIsNotAskedFor) {
  EventLog log;
  for (std::size_t i = 0; i < EventLog::kCapacity + 5; ++i) append(log, "");
  EXPECT_DEATH(static_cast<void>(log.after(3, 1)), "broken invariant");
  EXPECT_DEATH(static_cast<void>(log.after(EventLog::kCapacity + 6, 1)), "broken invariant");
}

TEST(EventLog, KindsHaveTheWordsOfTheApi) {
  EXPECT_EQ(event_word(EventKind::kServiceSet), "ServiceSet");
  EXPECT_EQ(event_word(EventKind::kSliceMissing), "SliceMissing");
  EXPECT_EQ(event_word(EventKind::kFaultCleared), "FaultCleared");
  EXPECT_EQ(event_word(EventKind::kGpuXid), "GpuXid");
  EXPECT_EQ(event_word(EventKind::kGpuRecoveryAction), "GpuRecoveryAction");
  EXPECT_EQ(object_word(ObjectKind::kGpuService), "GpuService");
}

}  // namespace
}  // namespace berth::live
