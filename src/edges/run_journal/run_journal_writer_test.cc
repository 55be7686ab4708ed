#include "edges/run_journal/run_journal_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace berth::edges {
namespace {

/// One GPU with the profile 2g.20gb, two services; the name of the second needs escaping.
Scenario sample_scenario() {
  GpuModel model;
  model.name = "A100-80GB";
  model.units = 8;
  MigProfile profile;
  profile.name = "2g.20gb";
  profile.length = 2;
  model.profiles.push_back(profile);
  Scenario scenario;
  scenario.fleet.push_back({.model = model, .count = 1, .usd_per_gpu_hour = {}});
  scenario.services.resize(2);
  scenario.services[0].name = "resnet";
  scenario.services[1].name = "caf\xc3\xa9 \"x\"\n</script>";
  return scenario;
}

constexpr Slice kSlice{.gpu = GpuId{0}, .start = 2, .profile = ProfileId{0}};

world::SliceRecord slice_record(world::SliceEvent event, Role role, std::vector<ServiceId> services) {
  return {.at = Instant(1'500'000), .event = event, .slice = kSlice, .role = role, .services = std::move(services)};
}

std::string written(const std::vector<sim::JournalRecord>& records) {
  const Scenario scenario = sample_scenario();
  std::string text;
  RunJournalWriter writer(scenario, [&text](std::string_view bytes) -> Result<void> {
    text += bytes;
    return {};
  });
  for (const sim::JournalRecord& record : records) writer.write("fixed", record);
  EXPECT_TRUE(writer.finish());
  return text;
}

sim::SecondRecord second_at(Instant at) {
  sim::SecondRecord record;
  record.at = at;
  return record;
}

TEST(RunJournalWriter, WritesEachKindOfSliceRecord) {
  using world::SliceEvent;
  const std::string begin = R"({"t_us":1500000,"policy":"fixed","type":")";
  const std::string place = R"(","gpu":0,"profile":"2g.20gb","start":2)";
  const std::string mine = place + R"(,"service":"resnet","role":"inference"})" + "\n";
  const std::string trains = place + R"(,"service":"resnet","role":"retraining"})" + "\n";
  const std::vector<ServiceId> one = {ServiceId{0}};
  EXPECT_EQ(written({slice_record(SliceEvent::kCreated, Role::kInference, one),
                     slice_record(SliceEvent::kServing, Role::kInference, one),
                     slice_record(SliceEvent::kDraining, Role::kInference, one),
                     slice_record(SliceEvent::kDestroyed, Role::kInference, one),
                     slice_record(SliceEvent::kRetrainingStarted, Role::kRetraining, one),
                     slice_record(SliceEvent::kRetrainingDone, Role::kRetraining, one)}),
            begin + "slice_created" + mine + begin + "serving" + mine + begin + "draining" + mine + begin +
                "slice_destroyed" + mine + begin + "retraining_started" + trains + begin + "retraining_done" + trains);
}

TEST(RunJournalWriter, NamesNobodyWhereASliceIsSharedOrNobodys) {
  const std::string expected = R"({"t_us":1500000,"policy":"fixed","type":"slice_created","gpu":0,"profile":"2g.20gb",)"
                               R"("start":2,"role":"inference"})"
                               "\n";
  EXPECT_EQ(written({slice_record(world::SliceEvent::kCreated, Role::kInference, {})}), expected);
  EXPECT_EQ(written({slice_record(world::SliceEvent::kCreated, Role::kInference, {ServiceId{0}, ServiceId{1}})}),
            expected);
}

TEST(RunJournalWriter, CallsTheWholeGpuFull) {
  world::SliceRecord record = slice_record(world::SliceEvent::kCreated, Role::kInference, {ServiceId{0}});
  record.slice = {.gpu = GpuId{0}, .start = 0, .profile = ProfileId::full()};
  EXPECT_NE(written({record}).find(R"("profile":"full","start":0,)"), std::string::npos);
}

TEST(RunJournalWriter, WritesSecondsAndEscapesNamesOnce) {
  sim::SecondRecord record = second_at(Instant(3'000'001));
  record.RequestCounts::operator=({.requests = 10, .in_time = 4, .late = 3, .dropped = 2, .unfinished = 1});
  record.service = ServiceId{1};
  record.second = 2;
  record.accuracy_sum_micro = 3'640'000;
  EXPECT_EQ(
      written({record}),
      "{\"t_us\":3000001,\"policy\":\"fixed\",\"type\":\"second\",\"service\":\"caf\xc3\xa9 \\\"x\\\"\\n</script>\","
      "\"second\":2,\"requests\":10,\"in_time\":4,\"late\":3,\"dropped\":2,\"unfinished\":1,"
      "\"accuracy_sum_micro\":3640000}\n");
}

TEST(RunJournalWriter, HandsOnLargePiecesInOrderAndChangesPolicy) {
  const Scenario scenario = sample_scenario();
  std::vector<std::size_t> pieces;
  std::string text;
  RunJournalWriter writer(scenario, [&](std::string_view bytes) -> Result<void> {
    pieces.push_back(bytes.size());
    text += bytes;
    return {};
  });
  constexpr int kRecordCount = 10'000;
  for (const std::string_view policy : {"fixed", "shared"}) {
    for (int i = 0; i < kRecordCount; ++i) writer.write(policy, second_at(Instant(i)));
  }
  ASSERT_TRUE(writer.finish());
  EXPECT_LT(pieces.size(), 20U);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 * kRecordCount);
  EXPECT_EQ(text.substr(text.rfind("{\"t_us\"")).substr(0, 32), "{\"t_us\":9999,\"policy\":\"shared\",\"");
}

TEST(RunJournalWriter, KeepsTheErrorOfTheSinkAndWritesNoMore) {
  const Scenario scenario = sample_scenario();
  int calls = 0;
  RunJournalWriter writer(scenario, [&](std::string_view) -> Result<void> {
    ++calls;
    return fail(ErrorCode::kUnavailable, "disk full");
  });
  for (int i = 0; i < 100'000; ++i) writer.write("fixed", second_at(Instant(i)));
  EXPECT_TRUE(writer.has_failed());
  EXPECT_EQ(writer.finish().error().message, "disk full");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace berth::edges
