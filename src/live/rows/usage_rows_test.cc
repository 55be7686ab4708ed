#include "live/rows/usage_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/world/testing/scenarios.h"

namespace berth::journal {
namespace {

using live::UsagePart;
using live::UsageState;
using sim::testing::slice_at;

live::UsageInterval interval_with(UsagePart part) {
  return {.gpu = {1}, .what = {.part = std::move(part), .from = Instant(5), .sequence = 49}, .to = Instant(7'000'000)};
}

std::vector<UsagePart> parts() {
  return {
      {.start = 0, .units = 8, .state = UsageState::kFree},
      {.start = 0, .units = 8, .state = UsageState::kLost},
      {.start = 2, .units = 1, .state = UsageState::kForeign, .slice = slice_at(1, "1g.10gb+me", 2)},
      // Of a tenant that is known to hold a foreign slice.
      {.start = 2,
       .units = 1,
       .state = UsageState::kHeld,
       .slice = slice_at(1, "1g.10gb", 2),
       .holders = {{.tenant = "t", .name = ""}}},
      {.start = 4, .units = 2, .state = UsageState::kFree, .slice = slice_at(1, "2g.20gb", 4), .generation = 3},
      // The rest of a slice that waits for the room of others.
      {.start = 5,
       .units = 1,
       .state = UsageState::kChanging,
       .slice = slice_at(1, "3g.40gb", 4),
       .generation = 9,
       .role = Role::kRetraining,
       .holders = {{.tenant = "t", .name = "a"}}},
      {.start = 0,
       .units = 8,
       .state = UsageState::kHeld,
       .slice = slice_at(1, "full", 0),
       .generation = UINT64_MAX,
       .holders = {{.tenant = "t", .name = "a"}, {.tenant = "\"u\" \xc3\xbc", .name = "b"}}},
  };
}

TEST(UsageRows, WhatIsWrittenIsReadBack) {
  const Scenario fleet = sim::testing::scenario_of({}, {}, 2);
  for (const UsagePart& part : parts()) {
    const live::UsageInterval interval = interval_with(part);
    const UsageRow row = row_of(interval, fleet);
    EXPECT_EQ(interval_of(row, fleet), interval) << row.body;
    live::UsageInterval unobserved = interval;
    unobserved.is_observed = false;
    const UsageRow marked = row_of(unobserved, fleet);
    EXPECT_EQ(interval_of(marked, fleet), unobserved) << marked.body;
    EXPECT_EQ(row.body.find("observed"), std::string::npos) << "as earlier versions wrote it";
  }
}

TEST(UsageRows, OtherRowsAreErrors) {
  const Scenario fleet = sim::testing::scenario_of({}, {}, 2);
  const UsageRow row = row_of(interval_with(parts().back()), fleet);
  const auto refused = [&](auto change) {
    UsageRow changed = row;
    change(changed);
    const auto read = interval_of(changed, fleet);
    return !read &&
           read.error() == Error{ErrorCode::kUnavailable, "usage 49 of gpu-" + std::to_string(changed.key.gpu) +
                                                              ": not what this version writes for this fleet"};
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    return refused([&](UsageRow& changed) { changed.body.replace(changed.body.find(from), from.size(), to); });
  };
  EXPECT_TRUE(refused([](UsageRow& changed) { changed.key.gpu = 2; }));
  EXPECT_TRUE(refused([](UsageRow& changed) { changed.to_us = 5; }));
  EXPECT_TRUE(refused([](UsageRow& changed) { changed.body = "{"; }));
  EXPECT_TRUE(refused([](UsageRow& changed) { changed.body.insert(1, R"("observed":1,)"); }));
  EXPECT_TRUE(refused([](UsageRow& changed) { changed.body = "[]"; }));
  EXPECT_TRUE(replaced("\"held\"", "\"kept\""));
  EXPECT_TRUE(replaced("\"profile\":\"full\"", "\"profile\":\"8g\""));
  EXPECT_TRUE(replaced("gpu-1-full-0", "gpu-0-full-0"));
  EXPECT_TRUE(replaced("gpu-1-full-0", "gpu-1-full-x"));
  EXPECT_TRUE(replaced("\"holders\"", "\"owners\""));
  EXPECT_TRUE(replaced("\"epoch\":", "\"epoch\":\"\",\"of\":"));
}

}  // namespace
}  // namespace berth::journal
