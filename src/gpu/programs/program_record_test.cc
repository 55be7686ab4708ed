#include "gpu/programs/program_record.h"

#include <gtest/gtest.h>

#include <string>

#include "gpu/programs/tenant_uids.h"

namespace berth::programs {
namespace {

TEST(ProgramRecord, ComesBackFromItsText) {
  const ProgramRecord record{.order = {.template_name = "t",
                                       .parameters = {{"a", "b\"c"}},
                                       .tenant = "vision",
                                       .slice = "gpu-1",
                                       .generation = 7,
                                       .device_uuid = "MIG-1"},
                             .is_wanted = false,
                             .starts = 4,
                             .port = 8000,
                             .key = "00ff",
                             .ready = "/ready",
                             .start_time = Micros(5),
                             .ready_seconds = 10,
                             .drain_seconds = 20,
                             .in_flight_max = 3,
                             .start = {.words = {"/x", ""},
                                       .environment = {"A=b"},
                                       .is_serve = true,
                                       .uid = 600'000,
                                       .memory_mib = 5,
                                       .file_mib = 6,
                                       .files_max = 64},
                             .failures_us = {1, 20},
                             .pause_us = 2'000'000,
                             .failed_start = 4};
  EXPECT_EQ(read_program_record(text_of(record), "p").value(), record);
  EXPECT_EQ(read_program_record(text_of(ProgramRecord()), "p").value(), ProgramRecord());
  // Of a version that did not keep failures.
  std::string earlier = text_of(ProgramRecord());
  earlier.replace(earlier.find(R"(,"failures_us")"), std::string::npos, "}\n");
  EXPECT_EQ(read_program_record(earlier, "p").value(), ProgramRecord());
  const RunRecord run{.start_number = 4, .keeper = {.pid = 5, .started = 6}, .program = {.pid = 7, .started = 8}};
  EXPECT_EQ(read_run_record(text_of(run), "p").value(), run);
  const EndRecord end{.start_number = 4, .how = "ended with status 1"};
  EXPECT_EQ(read_end_record(text_of(end), "p").value(), end);
  for (const std::string& text : {std::string("{"), text_of(run), text_of(record).substr(0, 50)}) {
    EXPECT_FALSE(read_program_record(text, "p").has_value()) << text;
  }
}

TEST(StartTimeInStat, NamesMayContainAnything) {
  const std::string rest = "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 200";
  EXPECT_EQ(start_time_in_stat("12 (a) " + rest), 123'456U);
  EXPECT_EQ(start_time_in_stat("12 (a) S 9) " + rest), 123'456U);
  EXPECT_FALSE(start_time_in_stat("12 (a) S 1 1").has_value());
  EXPECT_FALSE(start_time_in_stat("").has_value());
}

TEST(LastLines, AreWholeAndPrintable) {
  EXPECT_EQ(last_lines("one\ntwo\n", 100), "one\ntwo");
  EXPECT_EQ(last_lines("one\ntwo\nthree\n", 10), "three");
  EXPECT_EQ(last_lines("0123456789", 4), "6789");
  EXPECT_EQ(last_lines("a\x1b[31mb\x7f", 100), "a?[31mb?");
}

TEST(TenantUids, ATenantKeepsItsUid) {
  TenantUids uids;
  const UidRange range{.first = 600'000, .last = 600'001};
  EXPECT_EQ(uids.uid_of("vision", range).value(), 600'000);
  EXPECT_EQ(uids.uid_of("sound", range).value(), 600'001);
  EXPECT_EQ(uids.uid_of("vision", range).value(), 600'000);
  const auto none = uids.uid_of("third", range);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message,
            R"(uids: wanted a free uid of 600000-600001 for tenant "third", found none: 2 tenants have them)");
  EXPECT_EQ(TenantUids::read(uids.text(), "uids").value(), uids);
  EXPECT_FALSE(uids.uid_of("sound", {.first = 700'000, .last = 700'001}).has_value());
  EXPECT_FALSE(TenantUids::read(R"({"uids":{"a":5000,"b":5000}})", "uids").has_value());
}

}  // namespace
}  // namespace berth::programs
